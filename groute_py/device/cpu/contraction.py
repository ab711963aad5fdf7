"""Contraction of a graph on this machine's cores; see `groute_py.graph.hierarchy.hierarchy`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.buffers import read_only
from groute_py.device.cpu.team import SPINS, Threads
from groute_py.graph.hierarchy.hierarchy import Hierarchy, first_places
from groute_py.graph.hierarchy.problems import DenseError, NarrowError
from groute_py.graph.tails import offsets_of, ranges, transposed
from groute_py.kernels.cpu.contraction import (
    ARCS,
    LEAVING,
    ROOM,
    STAYING,
    Left,
    SkeletonRows,
    Space,
    choose,
)
from groute_py.kernels.cpu.contraction_rows import (
    ENTRIES,
    UNFIT,
    WORDS,
    Gone,
    count_neighbours,
    join_directions,
    take_round,
)
from groute_py.kernels.cpu.phases import STOP, ThreadTeam
from groute_py.system.threads import thread_count

CORE, CORE_LIMIT = 256, 1 << 14
"""Vertices of the core, and how many it may have where contraction ends sooner."""

MOST_DEGREE = 40.0
"""Neighbours of a vertex on the mean beyond which contraction ends."""

FEWEST = 256
"""It ends, too, where no more than one in so many vertices would leave."""

ENTRIES_A_THREAD = 4096
"""Entries of rows that are worth a thread in a round."""

LEAST_PART, MOST_PART, PARTS = 16, 512, 256
"""Vertices of a part of a phase, and the parts there are where neither bound holds."""

Arcs = tuple[NDArray[Any], ...]
"""Offsets, heads and weights."""


def contract(
    offsets: NDArray[np.int64],
    heads: NDArray[Any],
    weights: NDArray[Any],
    distance_type: np.dtype[Any],
    core: int = CORE,
) -> Hierarchy:
    """Contract a graph in rounds, by the cores of a solve, into weights of ``distance_type``.

    That is int32 or int64. No weight is negative, and each is below the greatest number of the
    type. `DenseError` if what is left became too dense, `NarrowError` if a shortcut does not fit.
    The number of threads does not change the hierarchy.

    >>> offsets, heads, weights = np.array([0, 1, 2, 2]), np.int32([1, 2]), np.int32([4, 5])
    >>> path = contract(offsets, heads, weights, np.dtype(np.int32), core=1)
    >>> path.levels, path.vertices.tolist(), path.up.tolist()
    ((0, 1, 3), [1, 0, 2], [4, 2147483647])
    """
    return _Contraction((offsets, heads, weights), distance_type).run(core)


class _Contraction:
    """The vertices that are left, round by round."""

    def __init__(self, arcs: Arcs, distance_type: np.dtype[Any]) -> None:
        self._type, self._nothing = distance_type, unreached(distance_type)
        self._size = thread_count()
        self._threads = Threads(self._size + 1)  # the caller only waits, so signals interrupt it
        self._left = self._skeleton(arcs)
        self._entries = len(self._left.rows.neighbours)
        self._spaces = [self._space() for _ in range(self._size)]

    def run(self, core: int) -> Hierarchy:
        """Rounds until few are left."""
        rounds: list[Gone] = []
        while (count := len(self._left.vertices)) > core:
            degree = self._entries / count
            if degree <= MOST_DEGREE:
                if not rounds:
                    self._run(choose, self._left)
                totals = self._left.sums.sum(axis=0)
                if totals[LEAVING] * FEWEST > count:
                    rounds.append(self._take_round(totals))
                    continue
            if count > CORE_LIMIT:
                raise DenseError(count, degree)
            break
        return self._hierarchy(rounds)

    def _run(self, kernel: Callable[..., Any], *state: Any) -> NDArray[np.int64]:
        """Let as many threads run a kernel as its work is worth; return the words of the team."""
        size = max(1, min(self._size, self._entries // ENTRIES_A_THREAD))
        spins = SPINS if size <= len(os.sched_getaffinity(0)) else SPINS // 100
        words = np.zeros(WORDS, np.int64)
        team = ThreadTeam(words, size, spins)

        def stop() -> None:
            words[STOP] = 1

        def work(number: int) -> None:
            if 0 < number <= size:
                kernel(team, *state, self._spaces[number - 1])

        self._threads.run(work, stop)
        return words

    def _space(self) -> tuple[Space, Space]:
        """Arrays of a thread for both directions."""
        rows, count = self._left.rows, len(self._left.vertices)

        def space() -> Space:
            reach, best = (np.zeros(count, self._type) for _ in range(2))
            return Space(reach, best, np.zeros(count, np.uint32), np.empty(count, np.uint32))

        away = space()
        return away, space() if rows.both else away

    def _skeleton(self, arcs: Arcs) -> Left:
        offsets, heads, weights = arcs
        narrow = offsets, heads.astype(np.int32, copy=False), weights.astype(self._type, copy=False)
        incoming = _turned(narrow)
        ends = _turned(incoming), incoming
        count = len(offsets) - 1
        counts = np.empty(count, np.int64)
        self._share(count, lambda part: count_neighbours(*ends, part, counts))
        places = offsets_of(counts)
        rows = self._empty_rows(places[:-1], places[1:], int(places[-1]), both=True)
        self._share(count, lambda part: join_directions(*ends, part, rows))
        if np.array_equal(rows.out, rows.into):
            rows = rows._replace(into=rows.out, both=False)
        return self._empty(rows)._replace(
            vertices=np.arange(count, dtype=np.int32), depths=np.zeros(count, np.int32)
        )

    def _share(self, count: int, work: Callable[[tuple[int, int]], Any]) -> None:
        """Call ``work`` for a range of vertices by each thread."""
        cuts = [count * number // self._size for number in range(self._size + 1)]
        self._threads.run(lambda number: number and work((cuts[number - 1], cuts[number])))

    def _empty_rows(
        self, begins: NDArray[np.int64], ends: NDArray[np.int64], room: int, *, both: bool
    ) -> SkeletonRows:
        out = np.empty(room, self._type)
        into = np.empty_like(out) if both else out
        return SkeletonRows(begins, ends, np.empty(room, np.uint32), out, into, both, self._nothing)

    def _empty(self, rows: SkeletonRows) -> Left:
        count = len(rows.begins)
        vertices, depths = np.empty((2, count), np.int32)
        step = min(max(count // PARTS, LEAST_PART), MOST_PART)
        sums = np.empty((-(-count // step), 4), np.int64)
        needed, keys, leaves = (
            np.zeros(count, np.int32),
            np.empty(count, np.uint64),
            np.empty(count, np.uint8),
        )
        return Left(rows, vertices, depths, needed, keys, leaves, sums, step)

    def _take_round(self, totals: NDArray[np.int64]) -> Gone:
        """Replace what leaves by shortcuts; `NarrowError` if one does not fit."""
        left, both = self._left, self._left.rows.both
        out = np.empty(totals[ARCS], self._type)
        gone = Gone(
            np.empty(totals[LEAVING], np.int32),
            np.empty(totals[LEAVING], np.int64),
            np.empty(totals[ARCS], np.int32),
            out,
            np.empty_like(out) if both else out,
        )
        begins, ends = np.empty((2, totals[STAYING]), np.int64)
        after = self._empty(self._empty_rows(begins, ends, totals[ROOM], both=both))
        firsts = np.cumsum(left.sums, axis=0) - left.sums
        new, marks = np.empty(len(left.vertices), np.uint32), np.empty(totals[ROOM], np.uint8)
        words = self._run(take_round, left, firsts, gone, new, after, marks)
        if words[UNFIT]:
            raise NarrowError
        self._left, self._entries = after, int(words[ENTRIES])
        return gone

    def _hierarchy(self, rounds: list[Gone]) -> Hierarchy:
        """Number the vertices by places: the core, then the rounds from the last to the first."""
        levels, (rows, core) = rounds[::-1], self._left[:2]
        vertices = np.concatenate([core, *(one.vertices for one in levels)])
        place = np.empty(len(vertices), np.int32)
        place[vertices] = np.arange(len(vertices), dtype=np.int32)
        none = np.zeros(0, self._type)
        counts = [np.zeros(len(core), np.int64), *(one.counts for one in levels)]
        heads = np.concatenate([np.zeros(0, np.int32), *(one.heads for one in levels)])
        down = np.concatenate([none, *(one.into for one in levels)])
        up = np.concatenate([none, *(one.out for one in levels)]) if rows.both else down
        tails, entries = ranges(rows.begins, rows.ends - rows.begins)
        there = entries[rows.out[entries] != self._nothing]
        core_counts = np.bincount(tails[rows.out[entries] != self._nothing], minlength=len(core))
        return Hierarchy(
            levels=first_places(len(core), [len(one.vertices) for one in rounds]),
            vertices=vertices,
            offsets=offsets_of(np.concatenate(counts)),
            heads=place[heads],
            down=down,
            up=up,
            core_offsets=offsets_of(core_counts),
            core_heads=rows.neighbours[there].astype(np.int32),
            core_weights=rows.out[there],
        )


def _turned(arcs: Arcs) -> Arcs:
    """Transposed rows; kernels always take arrays that are read only, as a graph's are."""
    return tuple(map(read_only, transposed(*map(read_only, arcs))))
