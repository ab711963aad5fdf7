"""A graph that stays loaded, and all that it answers."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.engine.agree import collective, on_root, refuse_difference
from groute_py.engine.option import options_of
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.engine.supply.base import Supply
from groute_py.errors import InputError, TimeLimitError, everywhere
from groute_py.graph.csr import Graph
from groute_py.jobs.facilities import NearestFacilities
from groute_py.jobs.isochrone import Given, as_limits, solve_isochrone
from groute_py.jobs.isochrones import Isochrones
from groute_py.jobs.matrix import Matrix, solve_matrix
from groute_py.jobs.nearest import solve_from_facilities
from groute_py.jobs.places import has_places, places_of
from groute_py.jobs.route import Pairs, as_pairs
from groute_py.jobs.router import Router
from groute_py.jobs.routes import Routes
from groute_py.many.apsp import Progress, collect, prepare
from groute_py.many.request import Request
from groute_py.many.rows import SourceRows
from groute_py.many.sources import as_vertices


class Solver(SourceSolver):
    """A graph that stays loaded on all ranks, as `groute_py.open` returns it.

    With several ranks all of them open it, call its methods and close it together: it and they are
    collective, and the calls must come in the same order. With one rank several threads may share
    it; they solve one after another. As a context manager it is closed at the end of the block.

    Vertices are counted from 0. The device, the direction (``reverse``), ``turns``, ``hops`` and
    ``time_limit_s`` hold for all methods. Other options are for `sssp`; ``cutoff`` is for `sssp`
    and `nearest`, and an error of the others. Methods other than `sssp` take the whole graph to all
    ranks when one of them is first called.

    Args:
        supply: the graph, wherever it lies; with ``options.reverse`` its arcs are turned round, and
            with ``options.turns`` it is expanded.
        channel: connects the ranks.
        options: the same on every rank.

    Raises:
        InputError, SetupError: the same one on every rank.
    """

    def __init__(self, supply: Supply, channel: Channel, options: Options) -> None:
        super().__init__(supply, channel, options)
        self._supply, self._options = supply, options
        self._whole: Graph | None = None
        self._router: Router | None = None

    def apsp(
        self,
        sources: Sequence[int] | NDArray[Any] | None = None,
        *,
        predecessors: bool = False,
    ) -> SourceRows | None:
        """Rows of distances from many sources, or from all vertices; see `groute_py.apsp`.

        Raises:
            InputError: a source is not a vertex, or the rows do not fit in memory.
            NegativeCycleError: one can be reached from a source.
            TimeLimitError: the time limit passed.
            RunError: a distance does not fit in 64 bits, or the solver is closed.
        """
        with self.alone(), self.turned_back():
            self._begin("apsp", predecessors=predecessors)

            def load() -> tuple[Graph, NDArray[np.int64] | None]:
                return self._own_graph(), None if sources is None else as_vertices(sources)

            job = prepare(self._channel, load, self._request(predecessors=predecessors))
            rows = collect(self._channel, job, self._watch())
        return None if rows is None else replace(rows, reverse=self._options.reverse)

    def matrix(
        self,
        sources: Sequence[int] | NDArray[Any],
        targets: Sequence[int] | NDArray[Any],
        *,
        predecessors: bool = False,
    ) -> Matrix | None:
        """The distances from some sources to some targets; see `groute_py.matrix`.

        Raises:
            InputError: an end is not a vertex, or the matrix does not fit in memory.
            NegativeCycleError, TimeLimitError, RunError: as for `apsp`.
        """
        with self.alone(), self.turned_back():
            self._begin("matrix", predecessors=predecessors)

            def load() -> tuple[Graph, NDArray[np.int64]]:
                return self._own_graph(), as_vertices(sources)

            request = self._request(predecessors=predecessors, destination="nowhere")
            found = solve_matrix(self._channel, load, targets, request, self._watch())
        return None if found is None else replace(found, reverse=self._options.reverse)

    def nearest(
        self, facilities: Sequence[int] | NDArray[Any], *, to_facility: bool = False
    ) -> NearestFacilities | None:
        """The nearest facility of each vertex; see `groute_py.nearest`.

        ``to_facility`` alone says the direction, whatever that of the solver is. The graph is
        loaded once more, with a root before the facilities.

        Raises:
            InputError: a facility is not a vertex.
            NegativeCycleError: one can be reached from a facility.
            TimeLimitError, RunError: as for `apsp`.
        """
        taken = [entry.name for entry, _ in options_of(Options, "nearest")]
        options = Options(**{name: getattr(self._options, name) for name in taken})
        with self.alone():
            refuse_difference(self._channel, {"method": "nearest", "to_facility": to_facility})
            return solve_from_facilities(
                self._channel,
                lambda: (self._own_graph(), as_vertices(facilities, "facility")),
                options,
                to_facility=to_facility,
                is_reversed=self._options.reverse,
            )

    def route(self, pairs: Pairs, *, paths: bool = False) -> Routes | None:
        """Shortest paths between many pairs; see `groute_py.route`.

        Raises:
            InputError: an end is not a vertex.
            NegativeCycleError, TimeLimitError, RunError: as for `apsp`.
        """
        with self.alone():
            self._begin("route", paths=paths)
            found = on_root(self._channel, lambda: as_pairs(pairs, self._own_graph()))
            if self._router is None:
                graph = on_root(self._channel, self._own_graph)
                request = self._request(predecessors=False, reverse=self._options.reverse)
                self._router = Router(self._channel, graph, request)
            return self._router.solve(found, paths=paths, deadline=self._deadline())

    def isochrone(
        self,
        sources: Sequence[int] | NDArray[Any],
        limits: Sequence[float] | float,
        *,
        each: bool = False,
        planar: bool = False,
    ) -> Isochrones | None:
        """What lies within limits of some sources; see `groute_py.isochrone`.

        Coordinates are those of the file that the solver was opened with, or the graph's own.

        Raises:
            InputError: a source is not a vertex, a weight is negative, or there are turns.
            TimeLimitError, RunError: as for `apsp`.
        """

        def load() -> Given:
            graph, path, places = self._own_graph(), self._options.coordinates, None
            if planar or has_places(graph, path):
                places = places_of(graph, path, planar=planar)
            return graph, as_vertices(sources), places

        if self._options.turns is not None:
            raise everywhere(InputError("turns: not for isochrone; open without them"))
        taken = [entry.name for entry, _ in options_of(Options, "isochrone")]
        options = Options(**{name: getattr(self._options, name) for name in taken})
        with self.alone():
            with collective(self._channel):
                wanted = as_limits(limits)
            self._begin("isochrone", each=each, limits=wanted)
            return solve_isochrone(
                self._channel,
                load,
                wanted,
                options,
                each=each,
                is_reversed=self._options.reverse,
            )

    def _begin(self, method: str, **asked: Any) -> None:
        refuse_difference(self._channel, {"method": method, **asked})
        if self._options.cutoff is not None:
            raise everywhere(
                InputError(f"cutoff: for sssp and nearest, not for {method}; open without it")
            )

    def _own_graph(self) -> Graph:
        """The whole graph on rank 0, with weights of 1 where arcs are counted."""
        if self._whole is None:
            graph = self._supply.graph()
            self._whole = graph.with_unit_weights() if self._options.hops else graph.to_host()
        return self._whole

    def _request(self, **choices: Any) -> Request:
        """Of which the graph is turned round and expanded by turns already where it is to be."""
        return Request(device=self._options.device, turns=self._options.turns, **choices)

    def _deadline(self) -> float:
        limit_s = self._options.time_limit_s
        return math.inf if limit_s is None else time.monotonic() + limit_s

    def _watch(self) -> Progress | None:
        """What ends a job at the deadline, between two blocks of rows. Collective when called."""
        deadline = self._deadline()
        limits = self._channel.gather(math.isfinite(deadline))
        if not any(limits):
            return None

        def watch(done: int, total: int) -> None:
            with collective(self._channel):
                if time.monotonic() > deadline:
                    raise TimeLimitError(f"the time limit passed with {done:,} of {total:,} rows")

        return watch
