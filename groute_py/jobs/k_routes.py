"""Several paths of each of many pairs, by all cores, from a reverse tree for each target.

They are the k shortest simple ones, or alternatives that differ more. The trees are rows of
distances to the targets, by whichever method has them first, also on a GPU. The ranks share the
targets; `groute_py.kernels.cpu.k_paths` and `alternatives` have the searches on one core.
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
from groute_py.system.threads import core_count, lent

PAIRS_AT_ONCE = 16  # pairs of one target that a thread takes in one go
ROUNDING = 1e-3  # share of a cutoff by which float sums in another order may differ, by far


VERTEX_BYTES = 12
"""Bytes of each vertex of a path: as it is found, and as it is given."""


class PathsWanted(NamedTuple):
    """The paths that are wanted of each pair: the shortest, or the shortest and alternatives."""

    most: int
    bounds: tuple[float, float] | None = None  # of alternatives: shares of length, see `route`

    @property
    def name(self) -> str:
        """Their name in messages and in the table of memory."""
        return "k routes" if self.bounds is None else "alternatives"


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
    row_graph = opened.row_graph(opened.direction.other)
    cutoff = None if opened.options.bound is None else opened.options.bound * (1 + ROUNDING)
    options = replace(opened.options, algorithm="auto", predecessors=False, cutoff=cutoff)
    facts, groups = row_graph.facts, groups_of(pairs[:, 1], pairs[:, 0])
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
            f"arcs {opened.direction}", lambda: CpuGraph(row_graph.graph, kind).incoming
        )
        searches = _PathSearches(arcs, wanted, opened.options.bound, facts)
        own, done, vertices = groups[channel.rank :: channel.size], 0, 0
        targets = np.array([group.source for group in own], np.int64)
        with closing(searches), closing(solving.blocks(targets)) as blocks:
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
    statistics = {
        "algorithm": "yen" if wanted.bounds is None else "plateaus",
        "reason": f"{choice.algorithm} for rows to the targets; {choice.reason}",
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
        from groute_py.kernels.cpu.alternatives import alternatives  # which compiles
        from groute_py.kernels.cpu.k_paths import k_paths, space_for

        self._arcs, self._facts = arcs, facts
        is_float = facts.weight_type.kind == "f"
        self._kind: np.dtype[Any] = np.dtype(np.float64 if is_float else np.int64)
        most: Any = np.iinfo(np.int64).max - 1
        most = float(np.finfo(facts.weight_type).max) if is_float else most
        bound: Any = most if cutoff is None else bound_within(cutoff, self._kind).item()
        greatest = min(bound * (1 + ROUNDING), most) if is_float else min(bound, most)
        of_kind = self._kind.type
        limits = of_kind(min(bound, most)), of_kind(greatest), bool(greatest == most)
        self._find, self._limits, spaces = k_paths, tuple[Any, ...]((wanted.most, *limits)), 1
        if wanted.bounds is not None:
            self._find, spaces = alternatives, 2
            self._limits += *wanted.bounds, ROUNDING if is_float else 0.0
        threads = core_count()
        self._spaces, self._clocks = SimpleQueue[Any](), list[NDArray[np.int64]]()
        for _ in range(threads):
            some = [space_for(facts.vertex_count, self._kind) for _ in range(spaces)]
            self._spaces.put(some)
            self._clocks.append(some[0].clock)
        self._pool = ThreadPoolExecutor(threads)

    def close(self) -> None:
        """End the threads, also at work."""
        from groute_py.kernels.cpu.k_paths import STOP

        for clock in self._clocks:
            clock[STOP] = 1
        self._pool.shutdown(cancel_futures=True)

    def of_block(self, block: RowBlock, groups: list[Group], deadline: float) -> list[PathsOfPairs]:
        """Return the paths to the targets of the rows of a block, which begin the groups."""
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
        self, row: NDArray[Any], target: int, numbers: NDArray[Any], sources: NDArray[Any]
    ) -> PathsOfPairs:
        from groute_py.kernels.cpu.k_paths import LOST

        nothing = unreached(row.dtype)
        with lent(self._spaces) as spaces:
            results = self._find(self._arcs, row, nothing, target, sources, self._limits, *spaces)
            if spaces[0].clock[LOST]:
                raise out_of_range(self._facts.name, self._kind)
        return PathsOfPairs(numbers, *results)


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
