"""Contraction of a graph on the cores of this machine; see `groute_py.hierarchy.hierarchy`."""

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
from groute_py.graph.tails import transposed
from groute_py.hierarchy.hierarchy import Hierarchy, first_places
from groute_py.hierarchy.problems import DenseError, NarrowError
from groute_py.kernels.cpu import contraction, contraction_rows, skeleton
from groute_py.system.threads import thread_count

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
        work = _Contraction(_Threads(pool), offsets, heads, weights, distance_type)
        return work.run(core)


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

    def each(self, count: int, work: Callable[[tuple[int, int]], Any]) -> list[Any]:
        """Call ``work`` for consecutive ranges of ``count`` vertices, by all threads."""
        return list(self._pool.map(work, ranges(count, self._count)))

    def each_with_scratch(
        self, count: int, work: Callable[[tuple[int, int], NDArray[np.uint64]], Any]
    ) -> list[Any]:
        """The same; ``work`` has an array of its own."""

        def with_scratch(part: tuple[int, int]) -> Any:
            reach = self._scratch.get()
            try:
                return work(part, reach)
            finally:
                self._scratch.put(reach)

        return self.each(count, with_scratch)


def ranges(count: int, threads: int) -> Iterable[tuple[int, int]]:
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

    def __init__(
        self,
        threads: _Threads,
        offsets: NDArray[np.int64],
        heads: NDArray[Any],
        weights: NDArray[Any],
        distance_type: np.dtype[Any],
    ) -> None:
        self._threads, self._nothing = threads, unreached(distance_type)
        self._type = distance_type
        self._rows = self._skeleton(offsets, heads, weights.astype(distance_type, copy=False))
        self._both = self._rows[2] is not self._rows[3]
        count = len(offsets) - 1
        self._vertices = np.arange(count, dtype=np.int32)
        self._depths = np.zeros(count, np.int32)
        threads.allocate(count)

    def run(self, core: int) -> Hierarchy:
        """Rounds until few are left."""
        rounds: list[_Round] = []
        while self._left > core:
            degree = len(self._rows[1]) / self._left
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

    def _skeleton(self, offsets: Any, heads: Any, weights: Any) -> tuple[Any, ...]:
        arcs = offsets, heads.astype(np.int32, copy=False), weights
        incoming = _turned(arcs)
        outgoing = _turned(incoming)
        count = len(offsets) - 1
        counts = np.empty(count, np.int64)
        self._threads.each(
            count,
            lambda part: skeleton.count_neighbours(*outgoing[:2], *incoming[:2], *part, counts),
        )
        rows = self._empty_rows(counts, both=True)
        arcs = (*outgoing, *incoming)
        self._threads.each(
            count, lambda part: skeleton.join_directions(*arcs, *part, self._nothing, *rows)
        )
        offsets, neighbours, out, into = rows
        return (offsets, neighbours, out, out if np.array_equal(out, into) else into)

    def _empty_rows(self, counts: NDArray[np.int64], *, both: bool) -> tuple[Any, ...]:
        offsets = _offsets(counts)
        out = np.empty(int(offsets[-1]), self._type)
        into = np.empty_like(out) if both else out
        return offsets, np.empty(int(offsets[-1]), np.uint32), out, into

    def _choose(self) -> NDArray[np.uint8] | None:
        """Choose the vertices that leave; None if they are few."""
        keys, leaves = np.empty(self._left, np.uint64), np.empty(self._left, np.uint8)
        state = (self._rows, self._both, self._nothing, self._depths, self._vertices)
        self._threads.each_with_scratch(
            self._left, lambda part, reach: contraction.keys_of(*state, part, reach, keys)
        )
        rows = self._rows[:2]
        counts = self._threads.each(
            self._left, lambda part: contraction.choose_leaving(*rows, keys, part, leaves)
        )
        return leaves if sum(counts) * FEWEST > self._left else None

    def _take_out(self, leaves: NDArray[np.uint8]) -> _Round:
        """Replace what leaves by shortcuts; `NarrowError` if one does not fit."""
        staying_rows = self._kept(leaves)
        shortcuts = self._shortcuts(np.flatnonzero(leaves), staying_rows)
        gone = self._round(leaves)
        self._deepen(leaves)
        staying = np.flatnonzero(leaves == 0)
        self._rows = self._merged(staying_rows, shortcuts, staying)
        self._vertices, self._depths = self._vertices[staying], self._depths[staying]
        if len(self._rows[1]) > PRUNED_DEGREE * self._left:
            self._prune()
        return gone

    def _kept(self, leaves: NDArray[np.uint8]) -> tuple[Any, ...]:
        """Rows without what leaves."""
        counts = np.empty(self._left, np.int64)
        rows = self._rows
        self._threads.each(
            self._left, lambda part: contraction_rows.count_kept(*rows[:2], leaves, part, counts)
        )
        staying_rows = self._empty_rows(counts, both=self._both)
        self._threads.each(
            self._left, lambda part: contraction_rows.keep_rows(rows, leaves, part, staying_rows)
        )
        return staying_rows

    def _shortcuts(
        self, leaving: NDArray[np.int64], staying_rows: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], list[tuple[int, int]]]:
        """Tails, heads, out and into; and the ranges of them that are filled."""
        offsets = self._rows[0]
        degrees = offsets[leaving + 1] - offsets[leaving]
        room = _offsets(degrees * (degrees - 1))
        tails, heads = np.empty((2, int(room[-1])), np.uint32)
        out = np.empty(int(room[-1]), self._type)
        shortcuts = (tails, heads, out, np.empty_like(out) if self._both else out)
        state = (self._rows, staying_rows, self._both, self._nothing, leaving)

        def make(part: tuple[int, int], reach: NDArray[np.uint64]) -> tuple[int, int]:
            begin = int(room[part[0]])
            return begin, contraction.make_shortcuts(*state, part, reach, begin, shortcuts)

        filled = self._threads.each_with_scratch(len(leaving), make)
        if any(end < 0 for _, end in filled):
            raise NarrowError
        return shortcuts, filled

    def _round(self, leaves: NDArray[np.uint8]) -> _Round:
        offsets, neighbours, out, into = self._rows
        degrees = np.diff(offsets)
        of_leaving = np.repeat(leaves != 0, degrees)
        up = out[of_leaving]
        return _Round(
            self._vertices[leaves != 0],
            degrees[leaves != 0],
            self._vertices[neighbours[of_leaving]],
            up,
            into[of_leaving] if self._both else up,
        )

    def _deepen(self, leaves: NDArray[np.uint8]) -> None:
        deeper, rows, depths = np.empty_like(self._depths), self._rows[:2], self._depths
        self._threads.each(
            self._left, lambda part: contraction.deepen(*rows, leaves, depths, part, deeper)
        )
        self._depths = deeper

    def _merged(
        self,
        staying_rows: tuple[Any, ...],
        entries: tuple[tuple[Any, ...], list[tuple[int, int]]],
        staying: NDArray[np.int64],
    ) -> tuple[Any, ...]:
        """The rows of what stays with the shortcuts, in new numbers."""
        shortcuts, filled = entries
        numbers = np.zeros(self._left, np.int64)
        for part in filled:
            contraction_rows.count_tails(shortcuts[0], part, numbers)
        starts = _offsets(numbers)
        out = np.empty(int(starts[-1]), self._type)
        into = np.empty_like(out) if self._both else out
        placed = (np.empty(len(out), np.uint32), out, into)
        cursors = starts[:-1].copy()
        for part in filled:
            contraction_rows.place_shortcuts(shortcuts, part, cursors, placed)
        counts = np.empty(self._left, np.int64)
        self._threads.each(
            self._left,
            lambda part: contraction_rows.merge_shortcuts(
                staying_rows, starts, placed, part, numbers, counts
            ),
        )
        new = np.empty(self._left, np.uint32)
        new[staying] = np.arange(len(staying), dtype=np.uint32)
        rows = self._empty_rows(counts[staying], both=self._both)
        state = (staying_rows, starts, placed, numbers, staying, new)
        self._threads.each(
            len(staying), lambda part: contraction_rows.fill_rows(*state, part, rows)
        )
        return rows

    def _prune(self) -> None:
        rows, both, nothing = self._rows, self._both, self._nothing
        out = np.empty_like(rows[2])
        into = np.empty_like(out) if both else out
        counts = np.empty(self._left, np.int64)
        self._threads.each_with_scratch(
            self._left,
            lambda part, reach: contraction_rows.prune(
                rows, both, nothing, part, reach, out, into, counts
            ),
        )
        pruned = self._empty_rows(counts, both=both)
        self._threads.each(
            self._left,
            lambda part: contraction_rows.compact(rows, out, into, nothing, part, pruned),
        )
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
        up = np.concatenate([none, *(one.out for one in levels)]) if self._both else down
        offsets, neighbours, out, _ = self._rows
        there = out != self._nothing
        return Hierarchy(
            levels=first_places(self._left, [len(one.vertices) for one in rounds]),
            vertices=vertices,
            offsets=_offsets(np.concatenate(counts)),
            heads=place[heads],
            down=down,
            up=up,
            core_offsets=_offsets(there)[offsets],
            core_heads=neighbours[there].astype(np.int32),
            core_weights=out[there],
        )


def _turned(arcs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Transposed rows; kernels always take arrays that are read only, as a graph's are."""
    return tuple(map(read_only, transposed(*map(read_only, arcs))))


def _offsets(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return where rows of so many entries begin, and where the last one ends."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
