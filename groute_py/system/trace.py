"""What this process did when: spans of phases and values of counters, if they are recorded.

Code marks its phases by `span` and its counters by `recorder`. Both cost next to nothing where
nothing is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

MOST_EVENTS = 200_000
"""Spans and values of counters that are kept of each process; later ones are only counted."""


@dataclass
class Recorder:
    """The record of a process; seconds are those of `time.perf_counter`.

    Attributes:
        spans: phase, begin and end.
        counts: counter, time and value.
        dropped: how many of both are missing.
    """

    spans: list[tuple[str, float, float]] = field(default_factory=list)
    counts: list[tuple[str, float, float]] = field(default_factory=list)
    dropped: int = 0

    def span(self, phase: str, begin: float, end: float) -> None:
        """Add the time of a phase."""
        self._add(self.spans, (phase, begin, end))

    def count(self, counter: str, at: float, value: float) -> None:
        """Add what a counter stood at."""
        self._add(self.counts, (counter, at, value))

    def _add(self, to: list[tuple[str, float, float]], event: tuple[str, float, float]) -> None:
        if len(self.spans) + len(self.counts) < MOST_EVENTS:
            to.append(event)
        else:
            self.dropped += 1


_RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def recorder() -> Recorder | None:
    """Where events go; None if nothing is recorded."""
    return _RECORDER.get()


@contextmanager
def recording(into: Recorder) -> Iterator[None]:
    """Record what this thread does in the block.

    >>> found = Recorder()
    >>> with recording(found), span("read"):
    ...     pass
    >>> [phase for phase, _, _ in found.spans]
    ['read']
    """
    token = _RECORDER.set(into)
    try:
        yield
    finally:
        _RECORDER.reset(token)


@contextmanager
def span(phase: str) -> Iterator[None]:
    """Record the time of the block, also of one that raises."""
    found, begin = _RECORDER.get(), time.perf_counter()
    try:
        yield
    finally:
        if found is not None:
            found.span(phase, begin, time.perf_counter())
