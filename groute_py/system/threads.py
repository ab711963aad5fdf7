"""Threads for reading, making and checking graphs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")

MOST_THREADS = 16
"""More do not help: memory is shared."""


def thread_count() -> int:
    """Return the cores that this process may use, at most `MOST_THREADS`."""
    return min(MOST_THREADS, len(os.sched_getaffinity(0)))


@contextmanager
def lent(free: SimpleQueue[T]) -> Iterator[T]:
    """Lend one of some workspaces to the block; meanwhile no other thread has it."""
    workspace = free.get()
    try:
        yield workspace
    finally:
        free.put(workspace)


def in_slices(count: int, length: int, work: Callable[[slice], T]) -> list[T]:
    """Call ``work`` for slices that cover so many items, by several threads; results in order.

    >>> in_slices(5, 2, lambda part: part.stop - part.start)
    [2, 2, 1]
    """
    if 0 < count <= length:
        return [work(slice(0, count))]
    parts = [slice(first, min(first + length, count)) for first in range(0, count, length)]
    if not parts:
        return []
    with ThreadPoolExecutor(min(thread_count(), len(parts))) as pool:
        return list(pool.map(work, parts))
