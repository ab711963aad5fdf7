"""The time of a process by phases: from its start on, each moment belongs to one.

A command opens a `Clock`; all code beneath names what it does by `phase`. Without a clock, as where
the package is used from Python, `phase` does nothing. `span`, `count` and `recorder` add to the
clock's record, and cost next to nothing where nothing is recorded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STAT = Path("/proc/self/stat")
"""The kernel's report on this process; absent where it is no Linux, or in some sandboxes."""

START_FIELD = 22
"""Number of the field with the ticks from the boot of the machine to the process's start."""

SCHEDSTAT = Path("/proc/self/schedstat")
"""Nanoseconds for which its first thread has run, and has waited for a core; some kernels say 0."""

MOST_EVENTS = 200_000
"""Spans and values of counters that a record keeps; later ones are only counted."""


@dataclass
class Record:
    """A record of this process by phase; seconds are those of `time.monotonic`.

    Attributes:
        spans, counts: phase, begin and end; counter, time and value.
        dropped: how many of both are missing.
        clocks: how those of all ranks stand to each other.
    """

    spans: list[tuple[str, float, float]] = field(default_factory=list)
    counts: list[tuple[str, float, float]] = field(default_factory=list)
    dropped: int = 0
    clocks: Sequence[Any] = ()

    def span(self, phase: str, begin: float, end: float) -> None:
        """Add the time of a phase."""
        self._add(self.spans, (phase, begin, end))

    def count(self, counter: str, at: float, value: float) -> None:
        """Add the value of a counter."""
        self._add(self.counts, (counter, at, value))

    def _add(self, to: list[tuple[str, float, float]], event: tuple[str, float, float]) -> None:
        if len(self.spans) + len(self.counts) < MOST_EVENTS:
            to.append(event)
        else:
            self.dropped += 1


class Clock:
    """Sums wall time by phase; phases within a phase do not count to it.

    Attributes:
        record: where each span of a phase goes; None for nowhere.

    >>> clock = Clock("start")
    >>> with clock.phase("read"):
    ...     with clock.phase("compile"):
    ...         pass
    >>> list(clock.seconds())
    ['start', 'read', 'compile', 'total']
    """

    def __init__(self, first: str, age_s: float = 0.0) -> None:
        self._phase, self._since = first, time.monotonic() - age_s
        self._sums = {first: 0.0}
        self.record: Record | None = None

    def enter(self, name: str) -> str:
        """Be in phase ``name`` from now on; return the phase before."""
        before, now = self._phase, time.monotonic()
        self._sums[before] += now - self._since
        if self.record is not None:
            self.record.span(before, self._since, now)
        self._phase, self._since = name, now
        self._sums.setdefault(name, 0.0)
        return before

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Be in phase ``name`` during the block."""
        before = self.enter(name)
        try:
            yield
        finally:
            self.enter(before)

    def now(self) -> tuple[str, float]:
        """Return the phase that it is in, and the seconds since the last begin or end of one."""
        return self._phase, time.monotonic() - self._since

    def seconds(self) -> dict[str, float]:
        """Return seconds by phase in the order of their begin, and their sum as ``total``."""
        self.enter(self._phase)
        return {**self._sums, "total": sum(self._sums.values())}


_current = ContextVar[Clock | None]("clock", default=None)


@contextmanager
def running(clock: Clock) -> Iterator[None]:
    """Let `phase` use a clock during the block, in this thread."""
    token = _current.set(clock)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Clock | None:
    """Return the clock that runs in this thread."""
    return _current.get()


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Be in phase ``name`` during the block, if a clock runs."""
    if (clock := _current.get()) is None:
        yield
        return
    with clock.phase(name):
        yield


def process_age_s() -> float:
    """Return seconds since this process was started, never too many; without ``/proc`` CPU time.

    The kernel counts the start in ticks of 10 ms, rounded down, so the process may be a tick
    younger. But it is not younger than the time for which it has run and waited for a core: all of
    it, if no file had to come from a disk.
    """
    try:
        fields = STAT.read_text().rpartition(")")[2].split()  # a name may contain blanks
        ticks = int(fields[START_FIELD - 3])  # the first two fields are cut off
        start_s = (ticks + 1) / os.sysconf("SC_CLK_TCK")
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - start_s, _scheduled_s())
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()


def _scheduled_s() -> float:
    """Return seconds for which this process's first thread has run or waited for a core."""
    try:
        ran, waited = SCHEDSTAT.read_text().split()[:2]
        return (int(ran) + int(waited)) / 1e9
    except (OSError, ValueError):
        return 0.0


def recorder() -> Record | None:
    """Return the record of events; None if nothing is recorded."""
    return None if (clock := current()) is None else clock.record


def count(counter: str, value: float) -> None:
    """Record the value of a counter now."""
    if (record := recorder()) is not None:
        record.count(counter, time.monotonic(), value)


@contextmanager
def span(phase: str) -> Iterator[None]:
    """Record the time of the block, also of one that raises."""
    record, begin = recorder(), time.monotonic()
    try:
        yield
    finally:
        if record is not None:
            record.span(phase, begin, time.monotonic())
