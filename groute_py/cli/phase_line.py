"""A line on the terminal that names the phase of the clock, once it takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TextIO

from groute_py.system.clock import Clock
from groute_py.system.environment import place

SOON_S, EVERY_S = 1.0, 0.5
"""Seconds that a phase lasts before its line appears, and how often that is written."""

ERASE = "\r\x1b[K"  # goes to the begin of the line, and erases it

NAMES = {
    "import": "loading modules",
    "mpi": "connecting the ranks",
    "read": "reading",
    "generate": "generating",
    "plan": "choosing the method",
    "device": "opening the device",
    "check": "checking the graph",
    "contract": "contracting the graph",
    "spread": "spreading the graph over the ranks",
    "compile": "compiling kernels",
    "upload": "copying the graph to the device",
    "solve": "solving",
    "predecessors": "finding predecessors",
    "download": "copying the answer from the device",
    "verify": "verifying",
    "write": "writing",
    "answer": "summing up",
}
"""For people; phases without one, as the start and what waits for a user, get no line."""


class PhaseLine:
    """Writes the line on a terminal, from a thread of its own."""

    def __init__(self, clock: Clock, stream: TextIO) -> None:
        self._clock, self._stream = clock, stream
        self._lock, self._end = threading.Lock(), threading.Event()
        self._holders, self._is_shown = 0, False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Write from now on."""
        self._thread.start()

    def end(self) -> None:
        """Write no more."""
        self._end.set()
        self._thread.join()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Leave the terminal to others during the block."""
        with self._lock:
            self._holders += 1
            self._erase()
        try:
            yield
        finally:
            self._holders -= 1

    def write(self) -> None:
        """Write the line if the phase has lasted long, else erase that of the phase before."""
        name, lasted_s = self._clock.now()
        with self._lock:
            if self._holders:
                return
            self._erase()
            if lasted_s >= SOON_S and name in NAMES:
                self._put(f"{NAMES[name]} … {lasted_s:.0f} s", is_shown=True)

    def _erase(self) -> None:
        if self._is_shown:
            self._put(ERASE, is_shown=False)

    def _put(self, text: str, *, is_shown: bool) -> None:
        self._stream.write(text)
        self._stream.flush()
        self._is_shown = is_shown

    def _run(self) -> None:
        with suppress(OSError):  # the terminal may be gone
            while not self._end.wait(EVERY_S):
                self.write()
            with self._lock:
                self._erase()


_line: PhaseLine | None = None


@contextmanager
def phase_line(clock: Clock) -> Iterator[None]:
    """Name long phases of the clock during the block, on rank 0's terminal if stderr is one."""
    global _line
    if place().rank > 0 or not sys.stderr.isatty():
        yield
        return
    _line = PhaseLine(clock, sys.stderr)
    _line.begin()
    try:
        yield
    finally:
        _line.end()
        _line = None


def free_terminal() -> AbstractContextManager[None]:
    """Let a block write to the terminal: no phase is named meanwhile."""
    return nullcontext() if _line is None else _line.held()
