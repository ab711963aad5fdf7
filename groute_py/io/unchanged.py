"""The native file that was read last: who reads it again, unchanged, need not check it again.

A file is unchanged while its device, inode, size and both times are what they were. A program that
changes it through a mapping of its own shows in the times only when it first changes a page that
the kernel has written back, which takes half a minute. So a file counts only once its last change,
its times set back included, is `SETTLED_S` old, and on a file system that keeps this promise.

Its graph stays mapped, and so on the disk even if it is deleted, until another one is read.
"""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import BinaryIO, NamedTuple, Self

from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, facts_of
from groute_py.system.mounts import file_system

SETTLED_S = 60.0
"""Twice as long as the kernel leaves changed pages unwritten."""

NOTING = ("ext4", "xfs")
"""File systems that note changes through mappings; those in memory do not."""


class State(NamedTuple):
    """What tells whether a file is unchanged; times in nanoseconds."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, file: BinaryIO) -> Self:
        """That of an open file as it is now."""
        status = os.fstat(file.fileno())
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(status.st_dev, status.st_ino, status.st_size, *times)

    def is_settled(self) -> bool:
        """Whether a later change will show."""
        changed_ns = max(self.mtime_ns, self.ctime_ns)  # the first one alone can be set back
        if time.time_ns() - changed_ns < SETTLED_S * 1e9:
            return False
        try:
            return file_system(self.device) in NOTING
        except OSError:
            return False


class CheckedGraph:
    """The graph of a file, which has been checked, and its facts."""

    def __init__(self, state: State, graph: Graph) -> None:
        self.state, self.graph = state, graph

    @cached_property
    def facts(self) -> Facts:
        """Of the graph, found once."""
        return facts_of(self.graph)


_last: CheckedGraph | None = None


def known(state: State) -> Graph | None:
    """The graph of a file in this state, if it is kept."""
    last = _last
    return last.graph if last is not None and last.state == state else None


def keep(state: State, graph: Graph) -> None:
    """Keep the graph of a file, which has been checked, and forget the one before."""
    global _last
    _last = CheckedGraph(state, graph)


def known_facts(graph: Graph) -> Facts:
    """The facts of a graph; those of one that is kept are found once."""
    last = _last
    return last.facts if last is not None and last.graph is graph else facts_of(graph)
