"""Distances and paths of many pairs of vertices: one query object, and the choice of its method.

Pairs of one source are solved together, and the ranks share the sources. Cores search from each
source (`groute_py.jobs.searches`); a GPU solves for rows from hundreds of sources at once. Labels
(`groute_py.many.labels`) give each distance by itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.registry import gpu_problem
from groute_py.device.rows import RowBlock
from groute_py.engine.option_values import SHORTEST
from groute_py.engine.options import Options
from groute_py.errors import too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Facts
from groute_py.graph.hierarchy.prepared import hierarchy_of
from groute_py.jobs.routes import Routes
from groute_py.jobs.searches import Group, PairResults, Searches, groups_of, searches_both_ends
from groute_py.many.choose import READY_S, Choice, choose
from groute_py.many.customized import Customized
from groute_py.many.delivery import Progress
from groute_py.many.estimates import CPU_CLIMB_S, estimates
from groute_py.many.labels import LABELS
from groute_py.many.opened import Work
from groute_py.many.row_graph import RowGraph
from groute_py.many.solve import Solving
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.store import SavedUnits, Store
from groute_py.results.answer import about
from groute_py.results.distances import public_distances, public_type
from groute_py.system.clock import span
from groute_py.system.threads import core_count

WHY_NO_FLOYD = "routes are found row by row"
"""Why the matrix of all pairs is not among the methods."""

SEARCH_SHARE = {"search": 0.5, "two-sided search": 0.3}
"""Share of a whole solve that a search takes, on the mean of random pairs of roads."""

SOURCES_AT_ONCE = 1 << 14
"""Sources that a GPU solves in one call at most; the columns of their targets stay small."""

AT_ONCE = {False: 1 << 20, True: 1 << 12}
"""Pairs that are looked up in one call, without and with paths."""

MARKS_A_VERTEX = 1 << 8
"""Vertices for each pair up to which marking all of them beats sorting the pairs."""

FIRST_COUNT, ROUND_S = 16, 1.0
"""Sources of each rank in the first round that is kept, and about the seconds of later ones."""


class PairQuery:
    """Queries for pairs on a graph that every rank has; what one has made serves the next."""

    def __init__(self, channel: Channel, row_graph: RowGraph, options: Options) -> None:
        self._channel, self._row_graph = channel, row_graph
        self._options = replace(options, algorithm="auto", predecessors=False, cutoff=None)
        self._searches: Searches | None = None

    def run(
        self,
        pairs: NDArray[np.int64],
        graph: Graph | None,
        *,
        paths: bool,
        deadline: float,
        work: Work,
    ) -> Routes | None:
        """Answer pairs, shape (k, 2), of ``graph``, which rank 0 has; None elsewhere. Collective.

        Routes that an earlier run saved in ``work.keep`` are loaded, not solved again.
        """
        start_s, keep, layout = time.monotonic(), work.keep, self._row_graph.layout
        ends = layout.begins(pairs[:, 0]), layout.ends(pairs[:, 1])
        counts = Counts(count_distinct(ends[0], self._row_graph.facts.vertex_count), len(pairs))
        with span("method"):
            choice = self._choice(counts, paths=paths)
        are_whole = choice.algorithm == LABELS and keep is None
        length = math.ceil(len(pairs) / self._channel.size) if are_whole else 0
        remaining = groups = groups_of(*ends, min(length, AT_ONCE[paths]))
        potentials = self._potentials(groups)
        if keep is not None:
            record = partial(self._record, pairs, paths=paths)
            remaining = [groups[unit] for unit in keep.begin(self._channel, record, len(groups))]
        with collective(self._channel):
            find, label = self._method(choice, potentials, paths=paths)
            own = remaining[self._channel.rank :: self._channel.size]
            results = find(own, paths=paths, deadline=deadline)
        with closing(results), span("pairs"):
            take = None if keep is None else partial(_keep, keep, groups)
            every = self._gather(results, len(remaining), len(groups), take, work.progress)
        if every is None or graph is None:
            return None
        if keep is not None:
            every += [_restored(part, paths=paths) for part in keep.parts]
        statistics = {
            "algorithm": choice.algorithm,
            "reason": choice.reason,
            "device": label(),
            "sources": counts.sources,
            "seconds": time.monotonic() - start_s,
        }
        return self._routes(pairs, every, graph, statistics)

    def _record(self, pairs: NDArray[np.int64], *, paths: bool) -> dict[str, Any]:
        """Return the record that identifies saved routes."""
        ends = {"sources": pairs[:, 0], "targets": pairs[:, 1]}
        choices: dict[str, Any] = {"job": "route", "paths": paths, "reverse": self._reverse}
        if self._options.objective != SHORTEST:
            choices["objective"] = self._options.objective
        return run_of(self._row_graph.digest, ends, choices)

    @property
    def _reverse(self) -> bool:
        return self._row_graph.direction is Direction.BACKWARD

    def _potentials(self, groups: list[Group]) -> NDArray[Any] | None:
        """Return potentials for the sources where weights may be negative."""
        if not self._row_graph.facts.has_negative:
            return None
        sources = np.array([group.source for group in groups])
        return on_root(self._channel, lambda: self._row_graph.heights(self._options, sources))

    def _choice(self, counts: Counts, *, paths: bool) -> Choice:
        """Choose the method of this rank; collective."""
        whole, options = self._row_graph, replace(self._options, predecessors=paths)
        with collective(self._channel):
            choice = choose_method(
                options,
                whole.facts,
                counts,
                self._channel.size,
                prepared=hierarchy_of(whole.graph) is not None,
                resident=whole.resident(options),
            )
        request = "paths" if paths else "pairs", counts.pairs
        return whole.labels.prefer(
            self._channel, whole.graph, whole.facts, options, choice, request
        )

    def _method(
        self, choice: Choice, potentials: NDArray[Any] | None, *, paths: bool
    ) -> tuple[Callable[..., Generator[PairResults, None, None]], Callable[[], str]]:
        """Return the function that finds groups' routes, and one for what it has run on."""
        if choice.algorithm == LABELS:
            graph = self._row_graph.labels.customized
            return partial(by_labels, graph), lambda: graph.label
        if choice.device == "cuda":
            options = replace(self._options, predecessors=paths)
            solving = self._row_graph.solving(potentials, options, choice, self._channel)
            return partial(by_rows, solving), lambda: solving.label
        searches = self._searches or Searches(
            self._row_graph.graph, self._row_graph.facts, potentials
        )
        if potentials is None:  # else it suits these sources alone
            self._searches = searches
        return searches.find, lambda: searches.label

    def _gather(
        self,
        own_results: Iterator[PairResults],
        remaining: int,
        total: int,
        take: Callable[[list[PairResults]], None] | None,
        progress: Progress | None,
    ) -> list[PairResults] | None:
        """Return the results of all ranks for the remaining sources, on rank 0. Collective.

        Ranks work in rounds, after each of which rank 0 saves the results by ``take``; without
        it in one round.
        """
        channel, results = self._channel, list[PairResults]()
        done, count = total - remaining, remaining if take is None else FIRST_COUNT
        if progress is not None and done:
            progress(done, total)  # the displayed rate leaves out what an earlier run did
        while done < total:
            start_s, own = time.monotonic(), []
            with collective(channel):
                for result in islice(own_results, count):
                    own.append(result)
                    if progress is not None:
                        progress(min(done + len(own) * channel.size, total), total)
            some = [result for of_rank in channel.gather(own) for result in of_rank]
            done += len(some)
            results += some if channel.rank == 0 else []
            if take is not None:
                count = on_root(channel, partial(_save_round, take, some, count, start_s))
        return results if channel.rank == 0 else None

    def _routes(
        self,
        pairs: NDArray[np.int64],
        every: Iterable[PairResults],
        graph: Graph,
        statistics: dict[str, Any],
    ) -> Routes:
        """Return the routes of all pairs in their order, from the results of all ranks."""
        kind = public_type(self._row_graph.facts.weight_type)
        distances: NDArray[Any] = np.empty(len(pairs), kind)
        paths: dict[int, NDArray[np.int64]] = {}
        for some in every:
            distances[some.numbers] = some.distances
            if some.paths is None:
                continue
            numbers = np.arange(len(pairs))[some.numbers].tolist()
            for number, path in zip(numbers, some.paths, strict=True):
                path = self._row_graph.layout.path(path)
                paths[number] = path[::-1] if self._reverse else path
        return Routes(
            pairs,
            distances,
            [paths[number] for number in range(len(pairs))] if paths else None,
            graph,
            self._reverse,
            statistics=statistics,
            **about(graph),
        )


class Counts(NamedTuple):
    """Counts of pairs that are wanted, and of their sources."""

    sources: int
    pairs: int


def count_distinct(vertices: NDArray[np.int64], vertex_count: int) -> int:
    """Count the different ones of some vertices."""
    if vertex_count > MARKS_A_VERTEX * len(vertices):
        return len(np.unique(vertices))
    marks = np.zeros(vertex_count, np.bool_)
    marks[vertices] = True
    return int(np.count_nonzero(marks))


def choose_method(
    options: Options,
    facts: Facts,
    counts: Counts,
    ranks: int,
    *,
    prepared: bool,
    resident: Choice | None,
) -> Choice:
    """Return searches on cores, or rows on a GPU, whichever has the shorter estimate.

    ``prepared`` says that the graph has a hierarchy; ``resident`` is the method of an earlier job
    whose graph the device still holds.
    """
    search = _search_choice(facts, counts, ranks, paths=options.predecessors, prepared=prepared)
    if options.device == "cpu" or gpu_problem() is not None:
        return search
    how: dict[str, Any] = {"prepared": prepared, "resident": resident}
    on_gpu = replace(options, device="cuda")
    rows = choose(on_gpu, facts, counts.sources, ranks, WHY_NO_FLOYD, **how)
    if options.device == "cuda":
        return rows
    ready = resident is not None and resident.device == "cuda"
    seconds = rows.seconds + (0 if ready else READY_S)
    reason = f"{search.reason} on cores, {rows.algorithm} {seconds:.2g} s on a GPU"
    return replace(search if search.seconds < seconds else rows, reason=reason)


def _search_choice(
    facts: Facts, counts: Counts, ranks: int, *, paths: bool, prepared: bool
) -> Choice:
    """Return the search that cores take, with its estimate."""
    cores, both_ends = core_count(), searches_both_ends(facts)
    if prepared and both_ends and not paths:
        name, seconds = "upward search", sum(counts) * CPU_CLIMB_S / cores / ranks
    else:
        name = "two-sided search" if both_ends and counts.sources == counts.pairs else "search"
        share = math.ceil(counts.sources / ranks)
        seconds = SEARCH_SHARE[name] * estimates(facts, share, None)["heap"]
    return Choice(name, "cpu", f"estimates: {name} {seconds:.2g} s", seconds)


def by_labels(
    graph: Customized, groups: list[Group], *, paths: bool, deadline: float
) -> Generator[PairResults, None, None]:
    """Yield the routes of some groups, in their order."""
    stops, first = np.cumsum([len(group.targets) for group in groups]), 0
    while first < len(groups):
        done = stops[first - 1] if first else 0
        stop = max(int(np.searchsorted(stops, done + AT_ONCE[paths], "right")), first + 1)
        some, first = groups[first:stop], stop
        sizes = [len(group.targets) for group in some]
        if len(some) == 1:
            sources, targets = np.broadcast_to(some[0].source, sizes[0]), some[0].targets
        else:
            sources = np.repeat([group.source for group in some], sizes)
            targets = np.concatenate([group.targets for group in some])
        if paths:
            distances, ways = graph.routes(sources, targets)
        else:
            distances, ways = graph.distances(sources, targets), None
        end = 0
        for group, size in zip(some, sizes, strict=True):
            part, end = slice(end, end + size), end + size
            own = None if ways is None else ways[part]
            yield PairResults(group.numbers, distances[part], own)
        if first < len(groups) and time.monotonic() > deadline:
            raise too_late()


def by_rows(
    solving: Solving, groups: list[Group], *, paths: bool, deadline: float
) -> Generator[PairResults, None, None]:
    """Yield the routes of some groups, in their order; with paths whole rows come to the host."""
    for start in range(0, len(groups), SOURCES_AT_ONCE):
        some = groups[start : start + SOURCES_AT_ONCE]
        sources = np.array([group.source for group in some])
        columns = None if paths else np.unique(np.concatenate([g.targets for g in some]))
        with closing(solving.blocks(sources, columns)) as blocks:
            for block in blocks:
                yield from _pairs_in(block, some, columns)
                done = start + block.first + block.count
                if done < len(groups) and time.monotonic() > deadline:
                    raise too_late()


def _pairs_in(
    block: RowBlock, groups: list[Group], columns: NDArray[np.int64] | None
) -> Iterator[PairResults]:
    """Yield the routes of the groups whose rows a block has."""
    for row, group in enumerate(groups[block.first : block.first + block.count]):
        targets = group.targets
        where = targets if columns is None else np.searchsorted(columns, targets)
        paths = None
        if columns is None and block.predecessors is not None:
            predecessors = block.predecessors[row]
            paths = [_path_to(predecessors, group.source, target) for target in targets.tolist()]
        yield PairResults(group.numbers, public_distances(block.distances[row, where]), paths)


def _path_to(predecessors: NDArray[np.int32], source: int, target: int) -> NDArray[np.int64]:
    """Return the vertices of a path; none if none leads there."""
    if target != source and predecessors[target] < 0:
        return np.empty(0, np.int64)
    vertices = [target]
    while vertices[-1] != source:
        vertices.append(int(predecessors[vertices[-1]]))
    return np.array(vertices[::-1], np.int64)


def _save_round(
    take: Callable[[list[PairResults]], None], some: list[PairResults], count: int, start_s: float
) -> int:
    """Save the results of a round, and return how many sources of each rank the next one has."""
    take(some)
    return max(int(count * min(2, ROUND_S / max(time.monotonic() - start_s, 1e-9))), 1)


def _keep(keep: Store, groups: list[Group], results: list[PairResults]) -> None:
    """Save the routes of some groups, at least one; its first pair identifies a group."""
    units = {int(group.numbers[0]): unit for unit, group in enumerate(groups)}
    paths = [path for some in results for path in some.paths or ()]
    keep.add(
        np.array([units[int(some.numbers[0])] for some in results]),
        numbers=np.concatenate([some.numbers for some in results]),
        distances=np.concatenate([some.distances for some in results]),
        lengths=np.array([len(path) for path in paths], np.int64),
        vertices=np.concatenate([np.empty(0, np.int64), *paths]),
    )


def _restored(part: SavedUnits, *, paths: bool) -> PairResults:
    """Return the routes of a part that an earlier run saved."""
    splits = np.cumsum(part["lengths"])[:-1]
    routes = np.split(part["vertices"], splits) if paths else None
    return PairResults(part["numbers"], part["distances"], routes)
