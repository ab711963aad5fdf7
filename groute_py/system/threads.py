"""Number of threads that a process may use, and work that they share."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from groute_py.system.environment import GROUPS, MEMBERSHIP, named_threads

T = TypeVar("T")

MOST_THREADS = 16
"""More do not help: memory is shared."""


def thread_count() -> int:
    """Return the threads that read, make and check graphs: `core_count`, at most `MOST_THREADS`."""
    return min(MOST_THREADS, core_count())


@contextmanager
def lent(free: SimpleQueue[T]) -> Iterator[T]:
    """Lend one of some workspaces to the block; meanwhile no other thread has it."""
    workspace = free.get()
    try:
        yield workspace
    finally:
        free.put(workspace)


_this_thread = threading.local()


@contextmanager
def limited_to(count: int | None) -> Iterator[None]:
    """Let what this thread does in the block use so many threads; None for as many as before."""
    before = getattr(_this_thread, "limit", None)
    _this_thread.limit = before if count is None else count
    try:
        yield
    finally:
        _this_thread.limit = before


def named_count() -> int | None:
    """Return how many threads `limited_to` or the environment names; None if neither does."""
    return getattr(_this_thread, "limit", None) or named_threads()


def core_count() -> int:
    """Return how many threads this process may use, at least 1.

    One for each core at most: threads that wait for one whose core others use lose far more time
    than they save.
    """
    cores = available_cores()
    return min(named_count() or cores, cores)


def available_cores() -> int:
    """Return the cores of this process's affinity, as far as control groups give it their time."""
    return max(math.ceil(min(len(os.sched_getaffinity(0)), _quota())), 1)


@cache
def _quota() -> float:
    """Return the cores whose time the control groups of this process have; infinite if any."""
    least = math.inf
    with suppress(OSError, UnicodeDecodeError):
        for line in MEMBERSHIP.read_text("ascii").splitlines():
            _, controllers, path = line.split(":", 2)
            root = GROUPS / "cpu" if "cpu" in controllers.split(",") else GROUPS
            group = root / path.lstrip("/")
            for folder in (group, *group.parents):
                if folder.is_relative_to(root):
                    least = min(least, _quota_of(folder))
    return least


def _quota_of(group: Path) -> float:
    """Return the cores of one group, by version 2 or 1 of control groups."""
    for names in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]):
        with suppress(OSError, ValueError):  # also of "max"
            words = [word for name in names for word in (group / name).read_text("ascii").split()]
            quota, period = map(int, words)
            if quota > 0 and period > 0:
                return quota / period
    return math.inf


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
