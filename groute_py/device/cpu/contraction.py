"""Contraction of a graph on this machine's cores; see `groute_py.graph.hierarchy.hierarchy`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.buffers import read_only
from groute_py.graph.hierarchy.hierarchy import Hierarchy, first_places
from groute_py.graph.hierarchy.problems import DenseError, NarrowError
from groute_py.graph.tails import offsets_of, transposed
from groute_py.kernels.cpu import contraction, contraction_rows
from groute_py.kernels.cpu.contraction_rows import SkeletonRows
from groute_py.system.threads import lent, thread_count

CORE, CORE_LIMIT = 256, 1 << 14
"""Vertices of the core, and how many it may have where contraction ends sooner."""

MOST_DEGREE = 40.0
"""Neighbours of a vertex on the mean beyond which contraction ends."""

FEWEST = 256
"""It ends, too, where no more than one in so many vertices would leave."""

PRUNED_DEGREE = 4.0
"""Neighbours of a vertex on the mean above which rows are pruned."""

SMALL = 8
"""Vertices of the graph on which kernels are compiled."""

LEAST_PART = 512
"""Vertices that are worth a thread."""


Arcs = tuple[NDArray[Any], ...]
"""Offsets, heads and weights."""

Part = tuple[int, int]
"""A range of vertices or shortcuts."""


def contract(
    offsets: NDArray[np.int64],
    heads: NDArray[Any],
    weights: NDArray[Any],
    distance_type: np.dtype[Any],
    core: int = CORE,
) -> Hierarchy:
    """Contract a graph in rounds, by all cores, into weights of ``distance_type``, int32 or int64.

    No weight is negative, and each is below the greatest number of the type. `DenseError` if what
    is left became too dense, `NarrowError` if a shortcut does not fit.

    >>> offsets, heads, weights = np.array([0, 1, 2, 2]), np.int32([1, 2]), np.int32([4, 5])
    >>> path = contract(offsets, heads, weights, np.dtype(np.int32), core=1)
    >>> path.levels, path.vertices.tolist(), path.up.tolist()
    ((0, 1, 3), [1, 0, 2], [4, 2147483647])
    """
    with ThreadPoolExecutor(thread_count()) as pool:
        return _Contraction(_Threads(pool), (offsets, heads, weights), distance_type).run(core)


def warm_up(distance_type: np.dtype[Any]) -> None:
    """Compile what `contract` needs: a complete graph, of which a round leaves enough to prune."""
    ends = np.arange(SMALL)
    heads = np.concatenate([ends[ends != end] for end in ends]).astype(np.int32)
    offsets = np.arange(SMALL + 1) * (SMALL - 1)
    contract(offsets, heads, np.ones(len(heads), distance_type), distance_type, core=1)


class _Threads:
    """Runs a kernel on ranges of vertices by several threads."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool, self._count = pool, thread_count()
        self._scratch: SimpleQueue[NDArray[np.uint64]] = SimpleQueue()

    def allocate(self, vertex_count: int) -> None:
        """Give each thread an array to look weights up in."""
        for _ in range(self._count):
            self._scratch.put(np.full((2, vertex_count), contraction.FAR))

    def each(self, count: int, work: Callable[[Part], Any]) -> list[Any]:
        """Call ``work`` for consecutive ranges of ``count`` vertices, by all threads."""
        return list(self._pool.map(work, ranges(count, self._count)))

    def each_with_scratch(
        self, count: int, work: Callable[[Part, NDArray[np.uint64]], Any]
    ) -> list[Any]:
        """The same; ``work`` has an array of its own."""

        def with_scratch(part: Part) -> Any:
            with lent(self._scratch) as reach:
                return work(part, reach)

        return self.each(count, with_scratch)


def ranges(count: int, threads: int) -> Iterable[Part]:
    """Ranges of vertices, some for each thread; the last ones may take longer than others.

    >>> list(ranges(1000, 2)), list(ranges(0, 2))
    ([(0, 512), (512, 1000)], [])
    """
    step = max(LEAST_PART, -(-count // (8 * threads)))
    return ((first, min(first + step, count)) for first in range(0, count, step))


@dataclass(frozen=True)
class _Round:
    """Vertices that left: their arcs upward, heads by original number."""

    vertices: NDArray[np.int32]
    counts: NDArray[np.int64]
    heads: NDArray[np.int32]
    out: NDArray[Any]
    into: NDArray[Any]


class _Contraction:
    """The rows of what is left, round by round."""

    def __init__(self, threads: _Threads, arcs: Arcs, distance_type: np.dtype[Any]) -> None:
        self._threads, self._nothing = threads, unreached(distance_type)
        self._type = distance_type
        self._rows = self._skeleton(arcs)
        count = len(arcs[0]) - 1
        self._vertices = np.arange(count, dtype=np.int32)
        self._depths = np.zeros(count, np.int32)
        threads.allocate(count)

    def run(self, core: int) -> Hierarchy:
        """Rounds until few are left."""
        rounds: list[_Round] = []
        while self._left > core:
            degree = len(self._rows.neighbours) / self._left
            leaves = None if degree > MOST_DEGREE else self._choose()
            if leaves is not None:
                rounds.append(self._take_out(leaves))
            elif self._left > CORE_LIMIT:
                raise DenseError(self._left, degree)
            else:
                break
        return self._hierarchy(rounds)

    @property
    def _left(self) -> int:
        return len(self._vertices)

    def _each(self, work: Callable[[Part], Any]) -> list[Any]:
        return self._threads.each(self._left, work)

    def _skeleton(self, arcs: Arcs) -> SkeletonRows:
        offsets, heads, weights = arcs
        narrow = offsets, heads.astype(np.int32, copy=False), weights.astype(self._type, copy=False)
        incoming = _turned(narrow)
        ends = _turned(incoming), incoming
        count = len(offsets) - 1
        counts = np.empty(count, np.int64)
        self._threads.each(
            count, lambda part: contraction_rows.count_neighbours(*ends, part, counts)
        )
        rows = self._empty_rows(counts, both=True)
        self._threads.each(count, lambda part: contraction_rows.join_directions(*ends, part, rows))
        both = not np.array_equal(rows.out, rows.into)
        return rows if both else rows._replace(into=rows.out, both=False)

    def _empty_rows(self, counts: NDArray[np.int64], *, both: bool) -> SkeletonRows:
        offsets = offsets_of(counts)
        out = np.empty(int(offsets[-1]), self._type)
        into = np.empty_like(out) if both else out
        neighbours = np.empty(len(out), np.uint32)
        return SkeletonRows(offsets, neighbours, out, into, both, self._nothing)

    def _choose(self) -> NDArray[np.uint8] | None:
        """Choose the vertices that leave; None if they are few."""
        keys, leaves = np.empty(self._left, np.uint64), np.empty(self._left, np.uint8)
        state = self._rows, self._depths, self._vertices
        self._threads.each_with_scratch(
            self._left, lambda part, reach: contraction.keys_of(*state, part, reach, keys)
        )
        counts = self._each(lambda part: contraction.choose_leaving(self._rows, keys, part, leaves))
        return leaves if sum(counts) * FEWEST > self._left else None

    def _take_out(self, leaves: NDArray[np.uint8]) -> _Round:
        """Replace what leaves by shortcuts; `NarrowError` if one does not fit."""
        staying_rows = self._kept(leaves)
        shortcuts = self._shortcuts(np.flatnonzero(leaves), staying_rows)
        gone = self._round(leaves)
        self._deepen(leaves)
        staying = np.flatnonzero(leaves == 0)
        self._rows = self._merged(staying_rows, *shortcuts, staying)
        self._vertices, self._depths = self._vertices[staying], self._depths[staying]
        if len(self._rows.neighbours) > PRUNED_DEGREE * self._left:
            self._prune()
        return gone

    def _kept(self, leaves: NDArray[np.uint8]) -> SkeletonRows:
        """Rows without what leaves."""
        counts, rows = np.empty(self._left, np.int64), self._rows
        self._each(lambda part: contraction_rows.count_kept(rows, leaves, part, counts))
        rest = self._empty_rows(counts, both=rows.both)
        self._each(lambda part: contraction_rows.keep_rows(rows, leaves, part, rest))
        return rest

    def _shortcuts(
        self, leaving: NDArray[np.int64], staying_rows: SkeletonRows
    ) -> tuple[tuple[NDArray[Any], ...], list[Part]]:
        """Tails, heads, out and into; and the ranges of them that are filled."""
        offsets = self._rows.offsets
        degrees = offsets[leaving + 1] - offsets[leaving]
        room = offsets_of(degrees * (degrees - 1))
        tails, heads = np.empty((2, int(room[-1])), np.uint32)
        out = np.empty(int(room[-1]), self._type)
        shortcuts = (tails, heads, out, np.empty_like(out) if self._rows.both else out)

        def make(part: Part, reach: NDArray[np.uint64]) -> Part:
            begin = int(room[part[0]])
            state = self._rows, staying_rows, leaving, part, reach
            return begin, contraction.make_shortcuts(*state, begin, shortcuts)

        filled = self._threads.each_with_scratch(len(leaving), make)
        if any(end < 0 for _, end in filled):
            raise NarrowError
        return shortcuts, filled

    def _round(self, leaves: NDArray[np.uint8]) -> _Round:
        rows, is_leaving = self._rows, leaves != 0
        degrees = np.diff(rows.offsets)
        places = np.repeat(is_leaving, degrees)
        up = rows.out[places]
        into = rows.into[places] if rows.both else up
        heads = self._vertices[rows.neighbours[places]]
        return _Round(self._vertices[is_leaving], degrees[is_leaving], heads, up, into)

    def _deepen(self, leaves: NDArray[np.uint8]) -> None:
        deeper, state = np.empty_like(self._depths), (self._rows, leaves, self._depths)
        self._each(lambda part: contraction.deepen(*state, part, deeper))
        self._depths = deeper

    def _merged(
        self,
        rest: SkeletonRows,
        shortcuts: tuple[NDArray[Any], ...],
        filled: list[Part],
        staying: NDArray[np.int64],
    ) -> SkeletonRows:
        """The rows of what stays with the shortcuts, in new numbers."""
        numbers = np.zeros(self._left, np.int64)
        for part in filled:
            contraction_rows.count_tails(shortcuts[0], part, numbers)
        starts = offsets_of(numbers)
        out = np.empty(int(starts[-1]), self._type)
        placed = (np.empty(len(out), np.uint32), out, np.empty_like(out) if rest.both else out)
        cursors = starts[:-1].copy()
        for part in filled:
            contraction_rows.place_shortcuts(shortcuts, part, cursors, placed)
        counts, new = np.empty(self._left, np.int64), np.empty(self._left, np.uint32)
        state = rest, starts, placed
        self._each(lambda part: contraction_rows.merge_shortcuts(*state, part, numbers, counts))
        new[staying] = np.arange(len(staying), dtype=np.uint32)
        rows = self._empty_rows(counts[staying], both=rest.both)
        more = numbers, staying, new
        self._threads.each(
            len(staying), lambda part: contraction_rows.fill_rows(*state, *more, part, rows)
        )
        return rows

    def _prune(self) -> None:
        rows = self._rows
        out = np.empty_like(rows.out)
        into = np.empty_like(out) if rows.both else out
        counts = np.empty(self._left, np.int64)
        self._threads.each_with_scratch(
            self._left,
            lambda part, reach: contraction_rows.prune(rows, part, reach, out, into, counts),
        )
        pruned = self._empty_rows(counts, both=rows.both)
        self._each(lambda part: contraction_rows.compact(rows, out, into, part, pruned))
        self._rows = pruned

    def _hierarchy(self, rounds: list[_Round]) -> Hierarchy:
        """Number the vertices by places: the core, then the rounds from the last to the first."""
        levels = rounds[::-1]
        vertices = np.concatenate([self._vertices, *(one.vertices for one in levels)])
        place = np.empty(len(vertices), np.int32)
        place[vertices] = np.arange(len(vertices), dtype=np.int32)
        none = np.zeros(0, self._type)
        counts = [np.zeros(self._left, np.int64), *(one.counts for one in levels)]
        heads = np.concatenate([np.zeros(0, np.int32), *(one.heads for one in levels)])
        down = np.concatenate([none, *(one.into for one in levels)])
        rows, both = self._rows, self._rows.both
        up = np.concatenate([none, *(one.out for one in levels)]) if both else down
        there = rows.out != self._nothing
        return Hierarchy(
            levels=first_places(self._left, [len(one.vertices) for one in rounds]),
            vertices=vertices,
            offsets=offsets_of(np.concatenate(counts)),
            heads=place[heads],
            down=down,
            up=up,
            core_offsets=offsets_of(there)[rows.offsets],
            core_heads=rows.neighbours[there].astype(np.int32),
            core_weights=rows.out[there],
        )


def _turned(arcs: Arcs) -> Arcs:
    """Transposed rows; kernels always take arrays that are read only, as a graph's are."""
    return tuple(map(read_only, transposed(*map(read_only, arcs))))
