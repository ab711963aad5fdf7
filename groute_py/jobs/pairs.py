"""Routes between pairs of vertices, grouped by source; the ranks share the sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.registry import gpu_problem
from groute_py.device.rows import RowBlock
from groute_py.engine.options import Options
from groute_py.errors import NegativeCycleError, too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.jobs.routes import Routes
from groute_py.jobs.searches import Finder, Group, Searches, SourcePairs, grouped
from groute_py.many.apsp import Progress
from groute_py.many.choose import choose
from groute_py.many.row_graph import KeptRowGraph
from groute_py.many.solve import Solving, heights
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.parts import Part
from groute_py.many.storage.store import Store
from groute_py.results.result import public_distances

BY_ROWS = "routes are found row by row"
"""Why no matrix of all pairs is made for them."""


class Router:
    """A graph on every rank, for the routes of any number of calls.

    Args:
        channel: connects the ranks.
        kept: the graph, and what rows have left on the devices.
        options: of which the device and the memory limit count.
    """

    def __init__(self, channel: Channel, kept: KeptRowGraph, options: Options) -> None:
        assert kept.graph is not None
        self._channel, self._kept, self._whole = channel, kept, kept.graph
        self._options = replace(options, algorithm="auto", predecessors=False)
        self._layout, self._facts = self._whole.layout, self._whole.facts
        self._can_use_gpu = options.device != "cpu" and gpu_problem() is None
        self._searches: Searches | None = None

    def solve(
        self,
        pairs: NDArray[np.int64],
        graph: Graph | None,
        *,
        paths: bool,
        deadline: float,
        progress: Progress | None = None,
        keep: Store | None = None,
    ) -> Routes | None:
        """The routes of some pairs on rank 0, None elsewhere. Collective.

        Args:
            pairs: of vertices, shape (k, 2), at least one; the same on every rank.
            graph: that the answer is of, on rank 0.
            paths: whether to find them too.
            deadline: `time.monotonic` at which to give up.
            progress: is given the sources that are done, and how many there are.
            keep: keeps routes as they are found; the pairs of sources that it has are not solved.

        Raises:
            InputError: what is kept is of other pairs, or of another graph.
            NegativeCycleError: a source reaches one.
            RunError: a distance does not fit in 64 bits; or the disk is full, or fails.
            TimeLimitError: the deadline has passed.
        """
        begun, groups = time.monotonic(), grouped(self._in_places(pairs))
        height = self._height(groups)
        left = groups if keep is None else self._left(keep, pairs, groups, paths=paths)
        with collective(self._channel):
            finder = self._finder(len(groups), height, paths=paths)
            own = left[self._channel.rank :: self._channel.size]
            parts = finder.find(own, height, paths=paths, deadline=deadline)
        with closing(parts):
            counts = len(left), len(groups)
            take = None if keep is None else partial(_keep, keep, groups)
            found = in_rounds(self._channel, parts, *counts, take, progress)
        if found is None or graph is None:
            return None
        if keep is not None:
            found += [_found_in(part, paths=paths) for part in keep.parts]
        statistics = {
            "device": finder.label,
            "sources": len(groups),
            "seconds": time.monotonic() - begun,
        }
        return self._joined(pairs, found, graph, statistics)

    def _left(
        self, keep: Store, pairs: NDArray[np.int64], groups: list[Group], *, paths: bool
    ) -> list[Group]:
        """The groups whose routes are not kept yet."""
        run = partial(self._run, pairs, paths=paths)
        return [groups[unit] for unit in keep.begin(self._channel, run, len(groups))]

    def _run(self, pairs: NDArray[np.int64], *, paths: bool) -> dict[str, Any]:
        """What kept routes belong to."""
        ends = {"sources": pairs[:, 0], "targets": pairs[:, 1]}
        choices = {"job": "route", "paths": paths, "reverse": self._reverse}
        return run_of(self._whole.digest, ends, choices)

    @property
    def _reverse(self) -> bool:
        return self._whole.direction is Direction.BACKWARD

    def _finder(self, sources: int, height: NDArray[Any] | None, *, paths: bool) -> Finder:
        """A GPU where there is one, but what the cores have done before it is ready stays there."""
        graph = self._whole.graph
        if self._can_use_gpu:
            options = replace(self._options, predecessors=paths)
            known, ready = hierarchy_of(graph) is not None, self._kept.in_place(options)
            how: dict[str, Any] = {"prepared": known, "in_place": ready}
            choice = choose(options, self._facts, sources, self._channel.size, BY_ROWS, **how)
            if choice.device == "cuda":
                return RowFinder(self._kept.solving(graph, height, options, choice, self._channel))
        if self._searches is None:
            self._searches = Searches(graph, self._facts)
        return self._searches

    def _height(self, groups: list[Group]) -> NDArray[Any] | None:
        """Potentials for the sources where weights may be negative."""
        if not self._facts.has_negative:
            return None
        sources = np.array([group.source for group in groups])

        def found() -> NDArray[Any] | None:
            try:
                return heights(self._whole.graph, self._whole.given, self._options, sources)
            except NegativeCycleError as error:
                raise self._whole.direction.of_cycle(self._layout.cycle(error)) from None

        return on_root(self._channel, found)

    def _in_places(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        layout = self._layout
        return np.stack([layout.begins(pairs[:, 0]), layout.ends(pairs[:, 1])], axis=1)

    def _joined(
        self,
        pairs: NDArray[np.int64],
        every: Iterable[SourcePairs],
        graph: Graph,
        statistics: dict[str, Any],
    ) -> Routes:
        """What all ranks have found, in the order of the pairs."""
        weight_type = self._facts.weight_type
        kind = weight_type if weight_type.kind == "f" else np.int64
        distances: NDArray[Any] = np.empty(len(pairs), kind)
        paths: list[Any] = [None] * len(pairs)
        for part in every:
            distances[part.places] = part.distances
            for place, path in zip(part.places.tolist(), part.paths or (), strict=False):
                path = self._layout.path(path)
                paths[place] = path[::-1] if self._reverse else path
        asked = paths if paths[0] is not None else None
        about = graph.numbering, graph, self._reverse
        return Routes(pairs, distances, asked, statistics, *about)


def _keep(keep: Store, groups: list[Group], found: list[SourcePairs]) -> None:
    """Keep the routes of some groups, at least one; a group is known by its first pair."""
    units = {int(group.places[0]): unit for unit, group in enumerate(groups)}
    paths = [path for some in found for path in some.paths or ()]
    keep.add(
        np.array([units[int(some.places[0])] for some in found]),
        places=np.concatenate([some.places for some in found]),
        distances=np.concatenate([some.distances for some in found]),
        lengths=np.array([len(path) for path in paths], np.int64),
        vertices=np.concatenate([np.empty(0, np.int64), *paths]),
    )


def _found_in(part: Part, *, paths: bool) -> SourcePairs:
    """The routes of a part."""
    ends = np.cumsum(part["lengths"])[:-1]
    return SourcePairs(
        part["places"], part["distances"], np.split(part["vertices"], ends) if paths else None
    )


FIRST_COUNT = 16
"""Sources of each rank in the first round."""

ROUND_S = 1.0
"""About how long later rounds take."""


def in_rounds(
    channel: Channel,
    parts: Iterator[SourcePairs],
    left: int,
    total: int,
    take: Callable[[list[SourcePairs]], None] | None,
    progress: Progress | None,
) -> list[SourcePairs] | None:
    """What all ranks find, on rank 0; None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        parts: gives what this rank finds of each of its sources.
        left: sources of all ranks, which differ by one at most.
        total: sources with those that are known already.
        take: is given what a round has found, on rank 0. None for one round in which all is found.
        progress: is given the sources that are done, and how many there are.
    """
    found: list[SourcePairs] = []
    done, count = total - left, left if take is None else FIRST_COUNT
    if progress is not None and done:
        progress(done, total)  # else they would count as fast ones
    while done < total:
        begun, own = time.monotonic(), []
        with collective(channel):
            for part in islice(parts, count):
                own.append(part)
                if progress is not None:
                    progress(min(done + len(own) * channel.size, total), total)
        some = [part for parts_of_rank in channel.gather(own) for part in parts_of_rank]
        done += len(some)
        if channel.rank == 0:
            found += some
        if take is not None:
            count = on_root(channel, partial(_next_count, take, some, count, begun))
    return found if channel.rank == 0 else None


def _next_count(
    take: Callable[[list[SourcePairs]], None], some: list[SourcePairs], count: int, begun: float
) -> int:
    """Keep what a round has found; how many sources of each rank the next one has."""
    take(some)
    return max(int(count * min(2, ROUND_S / max(time.monotonic() - begun, 1e-9))), 1)


SOURCES_AT_ONCE = 1 << 14
"""Their targets are so few that the columns of all of them are little beside the rows."""


class RowFinder:
    """See `groute_py.jobs.searches.Finder`; with paths whole rows come to the host.

    Args:
        solving: solves row by row.
    """

    def __init__(self, solving: Solving) -> None:
        self._solving, self.label = solving, solving.label

    def find(
        self, groups: list[Group], height: NDArray[Any] | None, *, paths: bool, deadline: float
    ) -> Generator[SourcePairs, None, None]:
        """As `groute_py.jobs.searches.Finder.find`; the solver has the potentials already."""
        for start in range(0, len(groups), SOURCES_AT_ONCE):
            some = groups[start : start + SOURCES_AT_ONCE]
            sources = np.array([group.source for group in some])
            columns = None if paths else np.unique(np.concatenate([g.targets for g in some]))
            with closing(self._solving.blocks(sources, columns)) as blocks:
                for block in blocks:
                    yield from _picked(block, some, columns)
                    done = start + block.first + block.count
                    if done < len(groups) and time.monotonic() > deadline:
                        raise too_late()
            self.label = self._solving.label


def _picked(
    block: RowBlock, groups: list[Group], columns: NDArray[np.int64] | None
) -> Iterator[SourcePairs]:
    """What the rows of a block say of their groups."""
    for row, group in enumerate(groups[block.first : block.first + block.count]):
        targets = group.targets
        where = targets if columns is None else np.searchsorted(columns, targets)
        paths = None
        if columns is None and block.predecessors is not None:
            parents = block.predecessors[row]
            paths = [_walked(parents, group.source, target) for target in targets.tolist()]
        yield SourcePairs(group.places, public_distances(block.distances[row, where]), paths)


def _walked(parents: NDArray[np.int32], source: int, target: int) -> NDArray[np.int64]:
    """The vertices of a path; none if none leads there."""
    if target != source and parents[target] < 0:
        return np.empty(0, np.int64)
    vertices = [target]
    while vertices[-1] != source:
        vertices.append(int(parents[vertices[-1]]))
    return np.array(vertices[::-1], np.int64)
