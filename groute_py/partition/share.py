"""A cut into vertex ranges, and a rank's share of the graph: rows in local numbers, and its halo.

Local vertex numbers are 32-bit: first the owned vertices in their order, then the *halo*, the
remote heads of the share's arcs, ascending by global number. Owners are vertex ranges, so the halo
of one owner is one run of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_choice
from groute_py.graph.arrays import host_array
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.io.formats.graph_arrays import Contents
from groute_py.system.threads import in_slices


@dataclass(frozen=True, eq=False)
class Partition:
    """Part ``p`` owns the vertices ``bounds[p]:bounds[p + 1]``; a part may be empty."""

    bounds: NDArray[np.int64]  # int64, (parts + 1,), from 0 to n, never decreasing

    @property
    def part_count(self) -> int:
        """The number of parts."""
        return len(self.bounds) - 1

    def owner(self, vertices: Any) -> NDArray[np.int64]:
        """The part that owns each of the vertices."""
        return np.asarray(np.searchsorted(self.bounds, vertices, side="right") - 1)


Partitioner = Callable[[NDArray[np.int64], int], Partition]
"""From a graph's offsets and a number of parts to a partition."""


def by_arcs(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Cut by running arc counts, since the time of a rank grows with its arcs."""
    arcs, count = int(offsets[-1]), len(offsets) - 1
    shares = [arcs * part // parts for part in range(1, parts)]
    rows, begin = range(count + 1), lambda row: int(offsets[row])  # which may be on a GPU
    inner = [bisect_left(rows, share, key=begin) for share in shares]
    return Partition(np.array([0, *inner, count], np.int64))


def by_vertices(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Cut so that the parts' vertex counts differ by at most one."""
    return Partition(np.arange(parts + 1, dtype=np.int64) * (len(offsets) - 1) // parts)


def all_in_first(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Leave every part but the first empty, for methods that run on one rank."""
    bounds = np.full(parts + 1, len(offsets) - 1, dtype=np.int64)
    bounds[0] = 0
    return Partition(bounds)


def partitioners() -> dict[str, Partitioner]:
    """Every way to cut, by the name the command line uses."""
    return {"arcs": by_arcs, "vertices": by_vertices, "first": all_in_first}


def partition(offsets: NDArray[np.int64], parts: int, how: str = "arcs") -> Partition:
    """Cut the graph that has these offsets into ``parts`` vertex ranges."""
    ways = partitioners()
    check_choice("partition", how, ways)
    if parts < 1:
        raise InputError(f"a graph cannot be cut into {parts} parts; the least is 1")
    if parts == 1:
        return Partition(np.array([0, len(offsets) - 1]))
    return ways[how](offsets, parts)


MOST_LOCAL = 2**31 - 1
"""Vertices that 32-bit local numbers reach."""

AT_ONCE = 1 << 18
"""Arcs that a thread takes together: what NumPy makes of them on the way stays in its cache."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Consecutive rows of a graph, heads still in global numbers: what travels to a rank."""

    offsets: NDArray[np.int64]  # int64, (rows + 1,), from 0
    heads: NDArray[Any]  # int32 or int64, global vertex numbers
    weights: NDArray[Any]

    def to_host(self) -> Rows:
        """The rows with their arrays in host memory."""
        return Rows(host_array(self.offsets), host_array(self.heads), host_array(self.weights))


@dataclass(frozen=True, eq=False)
class Share:
    """The part of a graph that one rank holds, of m arcs.

    The halo owned by part ``p`` is ``halo[halo_starts[p]:halo_starts[p + 1]]``.
    """

    first: int
    own_count: int
    offsets: NDArray[np.int64]  # int64, (own_count + 1,)
    heads: NDArray[np.int32]  # int32, (m,), local numbers
    weights: NDArray[Any]  # (m,)
    halo: NDArray[np.int64]  # int64, ascending global numbers; where the heads are
    halo_starts: NDArray[np.int64]  # int64, (parts + 1,)
    # int32, like ``halo``: the number that the owner gives to the vertex
    halo_home: NDArray[np.int32]
    # if the graph was contracted and this rank has all of it
    hierarchy: Hierarchy | None = None

    @property
    def local_count(self) -> int:
        """Owned vertices and halo together."""
        return self.own_count + len(self.halo)


def rows_of(graph: Graph | Contents | Rows, partition: Partition, part: int) -> Rows:
    """The rows that ``part`` owns; views of the graph's arrays where possible."""
    if partition.part_count == 1:
        return Rows(graph.offsets, graph.heads, graph.weights)
    low, high = partition.bounds[part], partition.bounds[part + 1]
    start, stop = graph.offsets[low], graph.offsets[high]
    offsets = _from_zero(graph.offsets[low : high + 1])
    return Rows(offsets, graph.heads[start:stop], graph.weights[start:stop])


def _from_zero(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same offsets, counted from the first one, by several threads."""
    shifted = np.empty_like(offsets)

    def shift(some: slice) -> None:  # most of the time goes into new pages
        np.subtract(offsets[some], offsets[0], out=shifted[some])

    in_slices(len(offsets), AT_ONCE, shift)
    return shifted


def share_of(rows: Rows, partition: Partition, part: int) -> Share:
    """Convert rows to a share: local numbers and the halo."""
    low, high = int(partition.bounds[part]), int(partition.bounds[part + 1])
    own_count = high - low
    if partition.part_count == 1:
        return _whole(rows, own_count)
    first, stop = _span_of(rows.heads, low, high)
    is_head = np.zeros(stop - first, dtype=bool)

    def mark(some: slice) -> None:
        is_head[rows.heads[some] - first] = True  # whichever thread comes first

    in_slices(len(rows.heads), AT_ONCE, mark)
    is_head[low - first : high - first] = False
    halo = np.flatnonzero(is_head) + first
    refuse_beyond_32_bits(part, partition.part_count, own_count, len(halo))
    local = np.empty(stop - first, np.int32)  # only that of heads is looked up
    local[halo - first] = np.arange(own_count, own_count + len(halo), dtype=np.int32)
    own = local[low - first : high - first]

    def count(some: slice) -> None:
        own[some] = np.arange(some.start, some.stop, dtype=np.int32)

    in_slices(own_count, AT_ONCE, count)
    heads = np.empty(len(rows.heads), np.int32)

    def number(some: slice) -> None:  # clip: straight into out
        local.take(rows.heads[some] - first, out=heads[some], mode="clip")

    in_slices(len(heads), AT_ONCE, number)
    owners = partition.owner(halo)
    return Share(
        first=low,
        own_count=own_count,
        offsets=rows.offsets,
        heads=heads,
        weights=rows.weights,
        halo=halo,
        halo_starts=np.searchsorted(halo, partition.bounds).astype(np.int64),
        halo_home=(halo - partition.bounds[owners]).astype(np.int32),
    )


def _span_of(heads: NDArray[Any], low: int, high: int) -> tuple[int, int]:
    """The vertices from the first to the last of some heads and a range: often far from all."""

    def ends(some: slice) -> tuple[int, int]:
        return int(heads[some].min()), int(heads[some].max()) + 1

    spans = [(low, high), *in_slices(len(heads), AT_ONCE, ends)]
    return min(first for first, _ in spans), max(stop for _, stop in spans)


def _whole(rows: Rows, count: int) -> Share:
    """The share of a single rank: all rows unchanged, also if they are on a GPU."""
    refuse_beyond_32_bits(0, 1, count, 0)
    nobody = np.zeros(0, np.int64)
    return Share(
        first=0,
        own_count=count,
        offsets=rows.offsets,
        heads=rows.heads.astype(np.int32, copy=False),
        weights=rows.weights,
        halo=nobody,
        halo_starts=np.zeros(2, np.int64),
        halo_home=nobody.astype(np.int32),
    )


def refuse_beyond_32_bits(part: int, parts: int, own: int, halo: int) -> None:
    """Raise `InputError` for more local vertices than a rank can number."""
    if own + halo > MOST_LOCAL:
        raise InputError(
            f"part {part} of {parts} has {own:,} vertices and a halo of {halo:,}; a rank can hold "
            "2³¹ − 1 in all, so use more ranks"
        )


@dataclass(frozen=True)
class Quality:
    """The quality of a cut."""

    cut: int  # arcs whose tail and head have different owners
    border: int  # vertices that are tails of such arcs
    imbalance: float  # the largest part's arcs over the mean, 1.0 at best


def quality(graph: Graph, partition: Partition) -> Quality:
    """Measure a partition; one pass over the arcs."""
    parts = range(partition.part_count)
    return quality_of([cost_of(rows_of(graph, partition, p), partition, p) for p in parts])


def cost_of(rows: Rows, partition: Partition, part: int) -> tuple[int, int, int]:
    """A part's numbers of arcs, of arcs to other parts, and of tails of the latter."""
    if partition.part_count == 1:
        return len(rows.heads), 0, 0
    low, high = (int(bound) for bound in partition.bounds[part : part + 2])

    def look(some: slice) -> tuple[int, NDArray[np.intp]]:
        """The number of arcs to other parts, and the rows of their tails."""
        heads = rows.heads[some]
        arcs = np.flatnonzero((heads < low) | (heads >= high)) + some.start
        tails = np.searchsorted(rows.offsets, arcs, side="right")
        return len(arcs), tails[np.diff(tails, prepend=0) > 0]

    parts_of_cut = in_slices(len(rows.heads), AT_ONCE, look)
    border = [tails for _, tails in parts_of_cut if len(tails)]
    shared = sum(bool(a[-1] == b[0]) for a, b in pairwise(border))
    cut = sum(count for count, _ in parts_of_cut)
    return len(rows.heads), cut, sum(map(len, border)) - shared


def quality_of(costs: list[tuple[int, int, int]]) -> Quality:
    """The quality from the costs of all parts."""
    arcs, cuts, borders = zip(*costs, strict=True)
    return Quality(sum(cuts), sum(borders), imbalance_of(arcs))


def imbalance_of(arcs: Sequence[int]) -> float:
    """The largest part's arcs over the mean."""
    return max(arcs) * len(arcs) / sum(arcs) if any(arcs) else 1.0
