"""How many threads graphs are read, made and looked at with."""

from __future__ import annotations

import os

MOST_THREADS = 16
"""More do not help: memory is shared."""


def thread_count() -> int:
    """The cores that this process may use, at most `MOST_THREADS`."""
    return min(MOST_THREADS, len(os.sched_getaffinity(0)))
