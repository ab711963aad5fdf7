"""Threads for reading, making and checking graphs, and the cores of a solve."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from groute_py.system.environment import named_threads, place
from groute_py.system.memory_limits import GROUPS, MEMBERSHIP

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


MOST_NAMED = 256
"""More threads than anybody means."""

_this_thread = threading.local()


@contextmanager
def one_core() -> Iterator[None]:
    """Let this thread solve on one core, because others solve beside it."""
    _this_thread.has_one_core = True
    try:
        yield
    finally:
        _this_thread.has_one_core = False


def core_count() -> int:
    """Return the cores for one solve, at least 1.

    These are as many as ``OMP_NUM_THREADS`` says; else one for each rank of a job, and for a rank
    alone those of its affinity, and no more than its control groups give it time for.
    """
    if getattr(_this_thread, "has_one_core", False):
        return 1
    if named := named_threads():
        return min(named, MOST_NAMED)
    if place().size > 1:
        return 1
    return max(math.ceil(min(len(os.sched_getaffinity(0)), _quota())), 1)


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
