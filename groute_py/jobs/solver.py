"""A graph that stays loaded, and all that it answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.engine.option import options_of
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import InputError, everywhere
from groute_py.graph.csr import Graph
from groute_py.hierarchy.prepared import PreparedFile, PreparedGraph
from groute_py.jobs.centrality_solver import CentralitySolver
from groute_py.jobs.deadline import until
from groute_py.jobs.facilities import NearestFacilities
from groute_py.jobs.isochrone import Given, as_limits, solve_isochrone
from groute_py.jobs.isochrones import Isochrones
from groute_py.jobs.matrix import Matrix, as_output, solve_matrix
from groute_py.jobs.nearest import check_k, solve_nearest
from groute_py.jobs.nearest_sweep import NearestSweep
from groute_py.jobs.route import Pairs, as_pairs
from groute_py.jobs.router import Router
from groute_py.jobs.routes import Routes
from groute_py.many.apsp import Loaded, Progress, collect, prepare
from groute_py.many.request import Request
from groute_py.many.row_graph import KeptRowGraph
from groute_py.many.rows import SourceRows
from groute_py.many.sources import as_vertices
from groute_py.maps.places import has_places, places_of
from groute_py.results.result import Result
from groute_py.source.base import Supply
from groute_py.source.every_rank import on_every_rank
from groute_py.source.shared import SharedFile
from groute_py.source.whole import Whole


class Solver(CentralitySolver):
    """A graph that stays loaded on all ranks, as `groute_py.open` returns it.

    With several ranks all of them open it, call its methods and close it together: it and they are
    collective, and the calls must come in the same order. With one rank several threads may share
    it; they solve one after another. As a context manager it is closed at the end of the block.

    Vertices are counted from 0. The device, the direction (``reverse``), ``turns``, ``hops`` and
    ``time_limit_s`` hold for all methods. Other options are for `sssp` and `bfs`; ``cutoff`` is for
    `sssp` and `nearest`, and an error of the others. Methods other than `sssp` take the whole graph
    to all ranks when one of them is first called. Between calls of `matrix` and `apsp` the whole
    graph stays on all ranks, and on their devices, until another method is called.

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
        self._given = None if options.reverse else supply
        self._hop_solver: SourceSolver | None = None
        self._router: Router | None = None
        self._nearest = NearestSweep(channel, self._graph.device)
        self._rows = KeptRowGraph()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """As in `SourceSolver`; what rows alone need does not stay: the block may need the room."""
        with super().alone():
            self._rows.drop()
            yield

    def bfs(self, source: int, targets: Sequence[int] = ()) -> Result | None:
        """The least number of arcs from ``source``; see `groute_py.bfs`.

        The graph is loaded once more, without weights, when it is first called.

        Raises:
            InputError, TimeLimitError, RunError: as `sssp`.
        """
        if self._options.hops:
            return self.sssp(source, targets)
        with self.alone():
            self._begin("bfs")
            self._refuse_turns("bfs")
            if self._hop_solver is None:
                self._hop_solver = self._without_weights()
            return self._hop_solver.sssp(source, targets)

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
        with super().alone(), self.turned_back():
            self._begin("apsp", predecessors=predecessors)

            def load() -> Loaded:
                begins = None if sources is None else as_vertices(sources)
                return Loaded(self._own_graph(), begins, file=self._own_file())

            request = self._request(predecessors=predecessors)
            job = prepare(self._channel, load, request, kept=self._rows)
            rows = collect(self._channel, job, self._watch())
        return None if rows is None else replace(rows, reverse=self._options.reverse)

    def matrix(
        self,
        sources: Sequence[int] | NDArray[Any],
        targets: Sequence[int] | NDArray[Any],
        *,
        predecessors: bool = False,
        output: str | os.PathLike[str] | None = None,
    ) -> Matrix | None:
        """The distances from some sources to some targets; see `groute_py.matrix`.

        Raises:
            InputError: an end is not a vertex, the matrix does not fit in memory, or ``output``
                cannot be written.
            NegativeCycleError, TimeLimitError, RunError: as for `apsp`; or the disk is full.
        """
        with super().alone(), self.turned_back():
            self._begin("matrix", predecessors=predecessors, output=output and str(output))
            path = as_output(self._channel, output, predecessors=predecessors)

            def load() -> Loaded:
                return Loaded(self._own_graph(), as_vertices(sources), file=self._own_file())

            request = self._request(predecessors=predecessors, destination="nowhere")
            found = solve_matrix(
                self._channel, load, targets, request, self._watch(), self._rows, path
            )
        return None if found is None else replace(found, reverse=self._options.reverse)

    def nearest(
        self, facilities: Sequence[int] | NDArray[Any], *, k: int = 1, to_facility: bool = False
    ) -> NearestFacilities | None:
        """The nearest facilities of each vertex; see `groute_py.nearest`.

        ``to_facility`` alone says the direction, whatever that of the solver is. A graph that was
        prepared and lies on one GPU is swept there for the nearest one; any other is loaded once
        more, with a root before the facilities. The option ``download`` is for ``k=1`` only.

        Raises:
            InputError: a facility is not a vertex.
            NegativeCycleError: one can be reached from a facility.
            TimeLimitError, RunError: as for `apsp`.
        """
        taken = [entry.name for entry, _ in options_of(Options, "nearest")]
        options = Options(**{name: getattr(self._options, name) for name in taken})
        with self.alone():
            refuse_difference(
                self._channel, {"method": "nearest", "to_facility": to_facility, "k": k}
            )
            with collective(self._channel):
                check_k(k)
            options = replace(options, download=options.download or k > 1)
            return solve_nearest(
                self._channel,
                lambda: (self._own_graph(), as_vertices(facilities, "facility")),
                options,
                k=k,
                to_facility=to_facility,
                is_reversed=self._options.reverse,
                sweep=self._nearest,
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
                graph = self._graph_everywhere()
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
            InputError: a source is not a vertex, or a weight or the cost of a turn is negative.
            TimeLimitError, RunError: as for `apsp`.
        """

        def load() -> Given:
            graph, path, places = self._own_graph(), self._options.coordinates, None
            if planar or has_places(graph, path):
                places = places_of(graph, path, planar=planar)
            return graph, as_vertices(sources), places

        taken = [entry.name for entry, _ in options_of(Options, "isochrone")]
        options = Options(**{name: getattr(self._options, name) for name in taken})
        with self.alone():
            self._begin("isochrone", each=each)
            with collective(self._channel):
                wanted = as_limits(limits)
            refuse_difference(self._channel, {"limits": wanted})
            return solve_isochrone(
                self._channel,
                load,
                wanted,
                options,
                each=each,
                is_reversed=self._options.reverse,
            )

    def with_weights(self, weights: Any) -> Solver:
        """A solver of the same vertices and arcs with other weights; collective.

        This one stays open, and both are to be closed. A graph that was prepared is contracted
        anew.

        Args:
            weights: shape (m,), in the order of the arcs of the graph that was given; only rank 0's
                count.

        Raises:
            InputError: there are not as many weights as arcs, they are not valid, or the solver was
                opened with ``reverse``, which parts the arcs from that order.
            RunError: the solver is closed.
        """
        if self._given is None:
            raise everywhere(
                InputError("with_weights: open without reverse, and call reversed() of the new one")
            )
        with self.alone():
            refuse_difference(self._channel, {"method": "with_weights"})
            self._refuse_turns("with_weights")
            forward = on_root(self._channel, lambda: Whole(self._weighed(weights)))
        return self._opened(forward, reverse=self._options.reverse)

    def reversed(self) -> Solver:
        """A solver of the other direction: with ``reverse`` if this one is without; collective.

        This one stays open, and both are to be closed.

        Raises:
            InputError: the graph does not suit the options.
            RunError: the solver is closed.
        """
        with self.alone():
            refuse_difference(self._channel, {"method": "reversed"})
            if self._given is None:
                turned = on_root(self._channel, lambda: Whole(self._supply.graph().reversed()))
                return self._with_options(turned, None, reverse=not self._options.reverse)
            forward = on_root(self._channel, lambda: Whole(self._forward()))
        return self._opened(forward, reverse=not self._options.reverse)

    def _release(self) -> None:
        self._rows.drop()
        self._nearest.drop()
        self._router = None
        # collective: an error of another rank may come of it
        if self._hop_solver is not None:
            self._hop_solver.close()
        super()._release()

    def _graph_everywhere(self) -> Graph:
        """The whole graph on every rank; collective."""
        whole: list[Graph] = []

        def found() -> PreparedFile | SharedFile | None:
            whole.append(self._own_graph())
            return self._own_file()

        file = on_root(self._channel, found)
        graph = on_every_rank(self._channel, next(iter(whole), None), file, lambda graph: graph)
        assert graph is not None
        return graph

    def _own_file(self) -> PreparedFile | SharedFile | None:
        """The file that has the whole graph, on rank 0."""
        return None if self._options.hops else self._supply.file()

    def _opened(self, forward: Whole, *, reverse: bool) -> Solver:
        """One with the same options; ``forward`` has the arcs in the order that was given."""
        supply: Supply = forward
        if reverse:
            supply = on_root(self._channel, lambda: Whole(forward.graph().reversed()))
        return self._with_options(supply, forward, reverse=reverse)

    def _with_options(self, supply: Supply, given: Supply | None, *, reverse: bool) -> Solver:
        """One of ``supply`` with the same options, which watches the same file."""
        found = Solver(supply, self._channel, replace(self._options, reverse=reverse))
        found.watch(self._file)
        found._given = given
        return found

    def _forward(self) -> Graph:
        """The graph that was given."""
        assert self._given is not None
        return self._given.graph()

    def _weighed(self, weights: Any) -> Graph:
        graph = self._forward()
        if isinstance(graph, PreparedGraph):
            return graph.with_weights(weights, device=self._options.device)
        return graph.with_weights(weights)

    def _without_weights(self) -> SourceSolver:
        """For `bfs`; collective."""
        unit = on_root(self._channel, lambda: Whole(self._own_graph().with_unit_weights()))
        taken = [entry.name for entry, _ in options_of(Options, "bfs")]
        same = {name: getattr(self._options, name) for name in taken}
        return SourceSolver(unit, self._channel, Options(**same, algorithm="bfs", hops=True))

    def _request(self, **choices: Any) -> Request:
        """Of which the graph is turned round and expanded by turns already where it is to be."""
        return Request(device=self._options.device, turns=self._options.turns, **choices)

    def _watch(self) -> Progress | None:
        return until(self._channel, self._deadline())
