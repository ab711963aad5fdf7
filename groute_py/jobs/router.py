"""Routes between pairs of vertices, grouped by source; the ranks share the sources."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.registry import gpu_problem
from groute_py.errors import NegativeCycleError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import facts_of
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.jobs.by_rows import Rows
from groute_py.jobs.by_search import Searches
from groute_py.jobs.groups import Finder, Found, Group, grouped
from groute_py.jobs.rounds import in_rounds
from groute_py.jobs.routes import Routes
from groute_py.many.apsp import Progress
from groute_py.many.choose import choose
from groute_py.many.precision import one_precision
from groute_py.many.request import Request
from groute_py.many.solve import heights
from groute_py.many.storage.parts import Part
from groute_py.many.storage.record import run_of
from groute_py.many.storage.store import Store
from groute_py.turns.expanded import layout_of, solved_form

BY_ROWS = "routes are found row by row"
"""Why no matrix of all pairs is made for them."""


class Router:
    """A graph on every rank, for the routes of any number of calls.

    Args:
        channel: connects the ranks.
        graph: the same on every rank; with ``request.reverse`` its arcs are turned round.
        request: of which the device, the memory limit and the direction count.
    """

    def __init__(self, channel: Channel, graph: Graph, request: Request) -> None:
        self._channel, self._request = channel, request
        self._whole, self._layout = graph, layout_of(graph)
        self._given = graph.weights.dtype
        self._graph = one_precision(solved_form(graph).to_host())
        self._facts = facts_of(self._graph)
        self._can_use_gpu = request.device != "cpu" and gpu_problem() is None
        self._searches: Searches | None = None

    def solve(
        self,
        pairs: NDArray[np.int64],
        *,
        paths: bool,
        deadline: float = math.inf,
        progress: Progress | None = None,
        keep: Store | None = None,
    ) -> Routes | None:
        """The routes of some pairs on rank 0, None elsewhere. Collective.

        Args:
            pairs: of vertices, shape (k, 2), at least one; the same on every rank.
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
            finder = self._finder(len(groups), paths=paths)
            own = left[self._channel.rank :: self._channel.size]
            parts = finder.find(own, height, paths=paths, deadline=deadline)
        with closing(parts):
            counts = len(left), len(groups)
            take = None if keep is None else partial(_keep, keep, groups)
            found = in_rounds(self._channel, parts, *counts, take, progress)
        if found is None:
            return None
        if keep is not None:
            found += [_found_in(part, paths=paths) for part in keep.parts]
        statistics = {
            "device": finder.label,
            "sources": len(groups),
            "seconds": time.monotonic() - begun,
        }
        return self._joined(pairs, found, statistics)

    def _left(
        self, keep: Store, pairs: NDArray[np.int64], groups: list[Group], *, paths: bool
    ) -> list[Group]:
        """The groups whose routes are not kept yet."""
        run = partial(self._run, pairs, paths=paths)
        return [groups[unit] for unit in keep.begin(self._channel, run, len(groups))]

    def _run(self, pairs: NDArray[np.int64], *, paths: bool) -> dict[str, Any]:
        """What kept routes belong to."""
        ends = {"sources": pairs[:, 0], "targets": pairs[:, 1]}
        choices = {"job": "route", "paths": paths, "reverse": self._request.reverse}
        return run_of(self._graph, ends, choices)

    def _finder(self, sources: int, *, paths: bool) -> Finder:
        """A GPU where there is one, but what the cores have done before it is ready stays there."""
        if self._can_use_gpu:
            request = replace(self._request, predecessors=paths)
            known = hierarchy_of(self._graph) is not None
            ranks = self._channel.size
            choice = choose(request, self._facts, sources, ranks, BY_ROWS, prepared=known)
            if choice.device == "cuda":
                return Rows(self._graph, request, choice, self._channel)
        if self._searches is None:
            self._searches = Searches(self._graph, self._facts)
        return self._searches

    def _height(self, groups: list[Group]) -> NDArray[Any] | None:
        """Potentials for the sources where weights may be negative."""
        if not self._facts.has_negative:
            return None
        sources = np.array([group.source for group in groups])

        def found() -> NDArray[Any] | None:
            try:
                return heights(self._graph, self._given, self._request, sources)
            except NegativeCycleError as error:
                found = self._layout.cycle(error)
                raise (found.reversed() if self._request.reverse else found) from None

        return on_root(self._channel, found)

    def _in_places(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        layout = self._layout
        return np.stack([layout.begins(pairs[:, 0]), layout.ends(pairs[:, 1])], axis=1)

    def _joined(
        self, pairs: NDArray[np.int64], every: Iterable[Found], statistics: dict[str, Any]
    ) -> Routes:
        """What all ranks have found, in the order of the pairs."""
        kind = self._graph.weights.dtype if self._graph.weights.dtype.kind == "f" else np.int64
        distances: NDArray[Any] = np.empty(len(pairs), kind)
        paths: list[Any] = [None] * len(pairs)
        for part in every:
            distances[part.places] = part.distances
            for place, path in zip(part.places.tolist(), part.paths or (), strict=False):
                path = self._layout.path(path)
                paths[place] = path[::-1] if self._request.reverse else path
        asked, graph = paths if paths[0] is not None else None, self._whole
        about = graph.numbering, graph, self._request.reverse
        return Routes(pairs, distances, asked, statistics, *about)


def _keep(keep: Store, groups: list[Group], found: list[Found]) -> None:
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


def _found_in(part: Part, *, paths: bool) -> Found:
    """The routes of a part."""
    ends = np.cumsum(part["lengths"])[:-1]
    return Found(
        part["places"], part["distances"], np.split(part["vertices"], ends) if paths else None
    )
