"""Near–far relaxation and predecessors by a team of threads: `groute_py.kernels.cpu.team`."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

import numpy as np

from groute_py.device.base import Buckets, Counters, Terms, within
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import CpuMethod, NearFar, Predecessors
from groute_py.errors import SetupError
from groute_py.kernels.cpu import near_far, team, team_claim, team_pool
from groute_py.partition.share import Share
from groute_py.system.clock import recorder
from groute_py.system.environment import place
from groute_py.system.threads import available_cores, core_count, named_count

ARCS_A_THREAD = 60_000
"""Fewer arcs take no longer on fewer threads; New York's roads are fastest on 12."""

LEAST_ARCS = 240_000
"""On fewer a second thread saves 0.4 ms at most, and with a tree nothing."""

SPINS = 200_000
"""Looks of a thread that waits, about 0.3 ms, before it lets others have its core; where threads
share cores, far fewer."""

FEWEST = 64
"""Entries of near from which a thread gives half away: fewer cost more than they save."""

LEAST_WORK = 512
"""Arcs of a bucket for each thread, which take as long as to wait for all; below, it is widened."""

FEW = 1024
"""Entries of far up to which an idle thread opens the next bucket; longer lists are read twice."""

TOGETHER_ARCS = 1 << 22
"""From here on a solve waits for all threads: its first buckets are large, for the caller alone."""

FIRST_ROOM = 1 << 15
"""Places of a list at first."""


def team_size(terms: Terms) -> int:
    """Return how many threads are to relax a share; one of a rank with peers, or that is traced.

    Ranks of one job share the cores of a host: each has one, unless somebody names more.
    """
    if terms.ranks > 1 or recorder() is not None or (place().size > 1 and named_count() is None):
        return 1
    size = min(core_count(), terms.arcs // ARCS_A_THREAD)
    return size if terms.arcs >= LEAST_ARCS else 1


class Threads:
    """The threads of a team, of which the caller is the first."""

    def __init__(self, size: int) -> None:
        self.size, self._process = size, 0
        self._others: list[Future[Any]] = []

    def run(self, work: Callable[[int], Any], stop: Callable[[], None] = lambda: None) -> list[Any]:
        """Let each do ``work`` of its number; return the results.

        At the end, or if one fails or the caller is interrupted, ``stop`` ends the others' work.
        """
        try:
            return [self.lead(work, stop), *(other.result() for other in self._others)]
        finally:
            stop()
            wait(self._others)
            self._others = []

    def lead(self, work: Callable[[int], Any], stop: Callable[[], None]) -> Any:
        """Do the same, and return the caller's result, while others may not have begun."""

        def stopping(number: int) -> Any:
            try:
                return work(number)
            except BaseException:
                stop()  # others wait for this thread
                raise

        self.wait()
        try:
            for number in range(1, self.size):
                self._others.append(self._pool.submit(stopping, number))
            return work(0)
        except BaseException:
            stop()
            wait(self._others)
            self._others = []
            raise

    def wait(self) -> None:
        """Wait for those who are at work; a child process, to which none came along, has others.

        Raises:
            BaseException: of one whose work has failed.
        """
        if self._process != os.getpid():
            self._pool = self._started()
            self._process, self._others = os.getpid(), []
        wait(self._others)
        others, self._others = self._others, []
        for other in others:
            other.result()

    def _started(self) -> ThreadPoolExecutor:
        """Return a pool whose threads all run.

        A pool starts a thread when it counts none as idle, and may count a busy one (CPython 3.12);
        those of a team would wait for one that was never started.
        """
        pool, held = ThreadPoolExecutor(max(self.size - 1, 1), "groute-py-team"), Lock()

        def begin() -> None:
            with held:
                pass

        try:
            with held:  # no Event, which no thread would set if a signal came just before
                for _ in range(1, self.size):
                    pool.submit(begin)
        except RuntimeError as problem:
            pool.shutdown(wait=False, cancel_futures=True)
            threads = f"{self.size} threads cannot be started ({problem})"
            raise SetupError(f"{threads}; allow fewer, by --threads or threads=") from None
        return pool


class TeamNearFar(NearFar):
    """Relaxes like `NearFar`, by several threads; for a rank alone."""

    def __init__(self, buffers: SolveBuffers, threads: Threads) -> None:
        super().__init__(buffers)
        self._threads, dtype = threads, buffers.type
        self._lists = [_lists(FIRST_ROOM, dtype) for _ in range(threads.size)]
        size = threads.size * team_pool.LINE * team_pool.TURNS
        words = np.zeros(team_pool.WORDS, np.int64)
        each = np.empty(size, dtype), np.empty(size, np.int64)
        pool = np.empty(team_pool.POOL, np.uint32), np.empty(team_pool.POOL, dtype)
        spins = SPINS if threads.size <= available_cores() else SPINS // 100
        arrays = words, *each, *pool, np.empty(2, dtype)
        self._pool = team_pool.Pool(*arrays, spins, FEWEST, LEAST_WORK, FEW)

    def start(self, source: int | None, buckets: Buckets) -> None:
        super().start(None, buckets)
        fits = within(buckets.widest, self._buffers.type) != self._buffers.unreached
        self._growth, self._most = 1, int(buckets.widest // buckets.first) if fits else 1
        few = len(self._buffers.share.heads) < TOGETHER_ARCS
        self._members = 1 if few else self._threads.size
        self._pool.words.fill(0)
        for lists in self._lists:
            lists.at.fill(0)
            lists.least.fill(self._buffers.unreached)
        if source is not None:
            self._buffers.distances[source] = 0
            first = self._lists[0]
            first.near[0], first.near_values[0], first.at[team.TAIL] = source, 0, 1

    def relax(self, counters: Counters, limit: float) -> float:
        self._threads.wait()
        b, before = self._buffers, self._buffers.relaxations
        words, bucket = self._pool.words, (*self._threshold, self._growth)
        widths = self._delta, self._most
        waiting = self._waiting  # which stays
        words.fill(0)
        words[team_pool.STATES], words[team_pool.OPENING] = waiting, self._members
        self._members = self._threads.size  # whose lists have entries from now on
        self._pool.floors.fill(b.unreached)
        self._pool.works.fill(0)
        state, bounds = (self._pool, bucket, widths), b.bounds(limit)
        relax = b.variant(team.relax)

        def work(number: int) -> Any:
            return relax(b.arcs, b.distances, self._lists[number], *state, number, bounds)

        def stop() -> None:
            words[team_pool.STOPPED] = 1  # no kernel: it might have to be compiled

        floor, *ends, self._growth = self._threads.lead(work, stop)
        self._threshold[:] = ends
        self._lists = [_with_room(lists) for lists in self._lists]
        self._sum_up()
        if floor != b.unreached:
            self._narrow_slow_bucket()
        b.count(counters, relaxed_before=before)
        return np.inf if floor == b.unreached else float(floor)

    @property
    def _waiting(self) -> Any:
        """Entries in the pool."""
        states = self._pool.words[team_pool.STATES : team_pool.SIZES : team_pool.LINE]
        return (states & (team_pool.IDLE - 1)).sum()

    def _sum_up(self) -> None:
        """Store the counts of all threads where those of a core are."""
        at, each = self._buffers.at, np.stack([lists.at for lists in self._lists])
        at[near_far.RELAXATIONS] = each[:, near_far.RELAXATIONS].sum()
        at[near_far.BUCKETS] = each[0, near_far.BUCKETS]
        at[near_far.OVERFLOWED] = each[:, near_far.OVERFLOWED].any()
        near = (each[:, team.TAIL] - each[:, team.HEAD]).sum()
        at[near_far.NEAR_COUNT] = near + self._waiting
        at[near_far.FAR_COUNT] = each[:, team.FAR_COUNT].sum()

    def _narrow_near(self) -> None:
        """Leave it to the threads, who look where an entry belongs when they take it."""
        self._growth = self._most = 1


class TeamPredecessors(Predecessors):
    """Finds predecessors after a solve by several threads; those of level vertices by one."""

    def __init__(self, buffers: SolveBuffers, threads: Threads) -> None:
        super().__init__(buffers)
        self._threads = threads

    def _claim_rising(self) -> bool:
        b, size, offsets = self._buffers, self._threads.size, self._buffers.share.offsets
        arcs = np.arange(1, size) * int(offsets[-1]) // size
        cuts = [0, *np.searchsorted(offsets, arcs).tolist(), b.share.own_count]
        state = b.arcs, b.distances, b.parents.view(np.uint64)
        claim_rising = b.variant(team_claim.claim_rising)

        def work(number: int) -> Any:
            part = cuts[number], cuts[number + 1], b.unreached
            return claim_rising(*state, *part)

        return any(self._threads.run(work))


class TeamMethod(CpuMethod):
    """A rank alone; improvements do not note their tails, since two threads would race."""

    def __init__(self, share: Share, terms: Terms, size: int | None = None) -> None:
        super().__init__(share, terms)
        self._threads = Threads(team_size(terms) if size is None else size)
        self.near_far = TeamNearFar(self.buffers, self._threads)
        self.predecessors = TeamPredecessors(self.buffers, self._threads)

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        self._threads.wait()  # before their distances are others
        super().start(source, buckets, cutoff, record=False)


def _lists(room: int, dtype: np.dtype[Any]) -> team.Lists:
    """Make empty lists."""
    near, far = np.empty((2, room), np.uint32)
    near_values, far_values = np.empty((2, room), dtype)
    least, at = np.empty(team_pool.LINE, dtype), np.zeros(2 * team_pool.LINE, np.int64)
    return team.Lists(near, near_values, far, far_values, least, at)


def _with_room(lists: team.Lists) -> team.Lists:
    """Return the lists with as much room as they need to go on."""
    needed = int(lists.at[team.NEEDED])
    if needed == 0:
        return lists
    longer = _lists(max(needed, 2 * len(lists.near)), lists.near_values.dtype)
    lists.at[team.NEEDED] = 0
    for array, old in zip(longer, lists, strict=True):
        array[: len(old)] = old
    return longer
