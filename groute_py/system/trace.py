"""A recording of this process: spans of phases and values of counters.

The clock of a command (`groute_py.system.clock`) has the record. All code beneath adds to it by
`span`, `count` and `recorder`, which cost next to nothing where nothing is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from groute_py.system.clock import Record, current


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
