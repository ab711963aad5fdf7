"""Several paths of each of many pairs, by all cores, from a tree for each target or source.

They are the k shortest simple ones, the k shortest walks, or alternatives that differ more. The
trees are rows of distances to the targets, or from the sources of walks, by whichever method has
them first, also on a GPU. The ranks share them; `groute_py.kernels.cpu.several_paths` has the
searches on one core.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.device.base import bound_within, unreached
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.rows import RowBlock
from groute_py.engine.memory.host import bytes_of, refuse_beyond
from groute_py.errors import InputError, quoted, too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Facts, Size
from groute_py.graph.hierarchy.prepared import hierarchy_of
from groute_py.jobs.pairs import WHY_NO_FLOYD, count_distinct
from groute_py.jobs.routes import Routes
from groute_py.jobs.searches import Group, groups_of
from groute_py.many.choose import choose
from groute_py.many.johnson import out_of_range
from groute_py.many.opened import Opened, Work
from groute_py.results.answer import about
from groute_py.system.environment import local_size
from groute_py.system.memory_limits import room_for
from groute_py.system.threads import core_count, lent

PAIRS_AT_ONCE = 16  # pairs of one target that a thread takes in one go
ROUNDING = 1e-3  # share of a cutoff by which float sums in another order may differ, by far


VERTEX_BYTES = 12
"""Bytes of each vertex of a path: as it is found, and as it is given."""

LABEL_BYTES = 100
"""Bytes of each label of walks, also in the queue, while the list that has it grows."""


class PathsWanted(NamedTuple):
    """The paths that are wanted of each pair: the shortest, or the shortest and alternatives."""

    most: int
    loops: bool = False
    bounds: tuple[float, float] | None = None  # of alternatives: shares of length, see `route`

    @property
    def name(self) -> str:
        """Their name in the table of memory."""
        return "k routes" if self.bounds is None else "alternatives"

    @property
    def algorithm(self) -> str:
        """The name of the method."""
        if self.bounds is not None:
            return "plateaus"
        return "fox" if self.loops else "yen"

    @property
    def spaces(self) -> int:
        """The number of spaces that a search takes."""
        return 1 if self.bounds is None else 2


class PathsOfPairs(NamedTuple):
    """The paths of some pairs, one after the other; those of a pair by length."""

    numbers: NDArray[np.int64]  # of the pairs
    counts: NDArray[np.int64]  # of the paths of each pair
    lengths: NDArray[Any]  # of each path
    sizes: NDArray[np.int64]  # vertices of each path
    vertices: NDArray[np.uint32]  # of all paths


def k_routes(
    opened: Opened, pairs: NDArray[np.int64], graph: Graph | None, wanted: PathsWanted, work: Work
) -> Routes | None:
    """Answer pairs, shape (p, 2), of ``graph``, which rank 0 has; None elsewhere. Collective."""
    channel, start_s, deadline = opened.channel, time.monotonic(), opened.deadline()
    roots, starts = pairs.T if wanted.loops else pairs.T[::-1]
    direction = opened.direction if wanted.loops else opened.direction.other
    row_graph = opened.row_graph(direction)
    cutoff = None if opened.options.bound is None else opened.options.bound * (1 + ROUNDING)
    options = replace(opened.options, algorithm="auto", predecessors=False, cutoff=cutoff)
    facts, groups = row_graph.facts, groups_of(roots, starts)
    results = list[PathsOfPairs]()
    with collective(channel):
        _refuse(facts, len(pairs) * wanted.most, wanted.name)
        choice = choose(
            *(options, facts, len(groups), channel.size, WHY_NO_FLOYD),
            prepared=hierarchy_of(row_graph.graph) is not None,
            resident=row_graph.resident(options),
        )
        solving = row_graph.solving(None, options, choice, channel)
        kind = facts.weight_type if facts.weight_type.kind == "f" else np.dtype(np.int64)
        arcs = opened.memo(
            f"arcs into {direction}", lambda: CpuGraph(row_graph.graph, kind).incoming
        )
        searches = _PathSearches(arcs, wanted, opened.options.bound, facts)
        own, done, vertices = groups[channel.rank :: channel.size], 0, 0
        roots = np.array([group.source for group in own], np.int64)
        with closing(searches), closing(solving.blocks(roots)) as blocks:
            for block in blocks:
                results += (some := searches.of_block(block, own[block.first :], deadline))
                done = block.first + block.count
                vertices += sum(len(part.vertices) for part in some)
                _refuse_vertices(vertices * len(own) // done, vertices)
                if work.progress is not None:
                    work.progress(min(done * channel.size, len(groups)), len(groups))
                if done < len(own) and time.monotonic() > deadline:
                    raise too_late()
    every = [part for parts in channel.gather(results) for part in parts]
    if graph is None:
        return None
    ends = "from the sources" if wanted.loops else "to the targets"
    statistics = {
        "algorithm": wanted.algorithm,
        "reason": f"{choice.algorithm} for rows {ends}; {choice.reason}",
        "device": solving.label,
        "sources": count_distinct(pairs[:, 0], facts.vertex_count),
        "seconds": time.monotonic() - start_s,
    }
    return _routes(pairs, wanted.most, every, graph, opened.direction, kind, statistics)


def _refuse(facts: Facts, entries: int, name: str) -> None:
    """Refuse what no path is simple in, and what does not fit in memory."""
    if facts.has_negative:
        raise InputError(
            f"{quoted(facts.name)} has a negative weight ({facts.least}), with which one path of a "
            "pair is found, not several; leave out k and alternatives"
        )
    size, threads = Size(facts.vertex_count, facts.arc_count), core_count()
    needed = bytes_of(name, size, entries, threads=threads)
    refuse_beyond(needed, f"{entries:,} paths, by {threads:,} threads,", "ask for fewer paths")


def _refuse_vertices(expected: int, found: int) -> None:
    """Refuse paths whose vertices will not fit, if the others are as long as those found."""
    needed = VERTEX_BYTES * expected - 4 * found
    refuse_beyond(needed, f"paths of {expected:,} vertices in all", "ask for fewer paths")


class _PathSearches:
    """Searches for the paths of pairs on all cores, in arcs along the paths."""

    def __init__(
        self, arcs: tuple[Any, ...], wanted: PathsWanted, cutoff: float | None, facts: Facts
    ) -> None:
        from groute_py.kernels.cpu.k_paths import space_for
        from groute_py.kernels.cpu.several_paths import several_paths  # which compiles

        is_float, threads = facts.weight_type.kind == "f", core_count()
        self._arcs, self._facts, self._find = arcs, facts, several_paths
        self._kind: np.dtype[Any] = np.dtype(np.float64 if is_float else np.int64)
        self._limits = _limits(wanted, cutoff, facts.weight_type, threads)
        self._spaces, self._clocks = SimpleQueue[Any](), list[NDArray[np.int64]]()
        for _ in range(threads):
            some = tuple(space_for(facts.vertex_count, self._kind) for _ in range(wanted.spaces))
            self._spaces.put(some)
            self._clocks += [space.clock for space in some]
        self._pool = ThreadPoolExecutor(threads)

    def close(self) -> None:
        """End the threads, also at work."""
        from groute_py.kernels.cpu.k_paths import STOP

        for clock in self._clocks:
            clock[STOP] = 1
        self._pool.shutdown(cancel_futures=True)

    def of_block(self, block: RowBlock, groups: list[Group], deadline: float) -> list[PathsOfPairs]:
        """Return the paths of the rows of a block, which begin the groups."""
        parts = [
            (row, group.source, *(of[first : first + PAIRS_AT_ONCE] for of in group[1:]))
            for row, group in zip(block.distances, groups, strict=False)
            for first in range(0, len(group.numbers), PAIRS_AT_ONCE)
        ]
        left_s = None if deadline == np.inf else deadline - time.monotonic()
        try:
            return list(self._pool.map(self._of_part, *zip(*parts, strict=True), timeout=left_s))
        except TimeoutError:
            raise too_late() from None

    def _of_part(
        self, row: NDArray[Any], root: int, numbers: NDArray[Any], starts: NDArray[Any]
    ) -> PathsOfPairs:
        from groute_py.kernels.cpu.k_paths import FULL, LOST

        nothing = unreached(row.dtype)
        with lent(self._spaces) as spaces:
            results = self._find(self._arcs, row, nothing, root, starts, self._limits, spaces)
            if spaces[0].clock[LOST]:
                raise out_of_range(self._facts.name, self._kind)
            if spaces[0].clock[FULL]:
                count = self._limits.most
                raise InputError(f"{count:,} walks of a pair do not fit in memory; ask for fewer")
        return PathsOfPairs(numbers, *results)


def _limits(
    wanted: PathsWanted, cutoff: float | None, weight_type: np.dtype[Any], threads: int
) -> Any:
    """Return the limits of searches, whose type says by which method."""
    from groute_py.kernels.cpu import several_paths as kernels  # which compile

    is_float = weight_type.kind == "f"
    kind: Any = np.float64 if is_float else np.int64
    most: Any = float(np.finfo(weight_type).max) if is_float else np.iinfo(np.int64).max - 1
    bound = most if cutoff is None else min(bound_within(cutoff, np.dtype(kind)).item(), most)
    greatest = min(bound * (1 + ROUNDING), most) if is_float else bound
    limits = wanted.most, kind(bound), kind(greatest), bool(greatest == most)
    if wanted.bounds is not None:
        return kernels.AlternativeLimits(*limits, *wanted.bounds, ROUNDING if is_float else 0.0)
    if not wanted.loops:
        return kernels.PathLimits(*limits)
    free = room_for(0)
    searches = threads * local_size()
    labels = np.iinfo(np.int64).max if free is None else free // (searches * LABEL_BYTES)
    return kernels.WalkLimits(*limits, labels)


def _routes(
    pairs: NDArray[np.int64],
    k: int,
    every: list[PathsOfPairs],
    graph: Graph,
    direction: Direction,
    kind: np.dtype[Any],
    statistics: dict[str, Any],
) -> Routes:
    """Return the routes of all pairs in their order, from the results of all ranks."""
    distances = np.full((len(pairs), k), unreached(kind))
    paths: list[list[NDArray[np.int64]]] = [[] for _ in pairs]
    step = -1 if direction is Direction.BACKWARD else 1
    for some in every:
        numbers = np.repeat(some.numbers, some.counts)
        ranks = np.concatenate([np.empty(0, np.int64), *map(np.arange, some.counts.tolist())])
        distances[numbers, ranks] = some.lengths
        ways = np.split(some.vertices.astype(np.int64), np.cumsum(some.sizes)[:-1])
        for number, way in zip(numbers.tolist(), ways):  # noqa: B905 (no path is one empty way)
            paths[number].append(way[::step])
    answer = pairs, distances, paths, graph, step < 0
    return Routes(*answer, statistics=statistics, **about(graph))
