"""A graph that stays loaded, and all that it answers."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self, Unpack

from groute_py.assignment.answer import Assignment
from groute_py.assignment.job import AssignmentJob
from groute_py.centrality import measures
from groute_py.centrality.scores import ArcScores, Scores
from groute_py.comm.agree import at_root, on_root, refuse_difference
from groute_py.engine.keywords import OpenKeywords
from groute_py.engine.option import shared_options, takes
from groute_py.engine.options import Options
from groute_py.errors import InputError, everywhere
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Facts
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.graph.ids import Numbering
from groute_py.jobs.accessibility import Accessibility, AccessibilityJob
from groute_py.jobs.facilities import NearestFacilities
from groute_py.jobs.isochrone import IsochroneJob, find_places
from groute_py.jobs.isochrones import Isochrones
from groute_py.jobs.matrix import Matrix, MatrixJob
from groute_py.jobs.nearest import NearestJob
from groute_py.jobs.route import Pairs, RouteJob
from groute_py.jobs.routes import Routes
from groute_py.jobs.rows import apsp_job
from groute_py.jobs.tree import TreeJob
from groute_py.many.opened import Opened, open_for
from groute_py.many.parts import About
from groute_py.many.recipe import OPENING, Recipe, reopened
from groute_py.many.rows import SourceRows
from groute_py.many.sources import Vertex, Vertices
from groute_py.results.result import Result
from groute_py.source.graph_source import GraphSource
from groute_py.system.threads import limited_to


class Solver:
    """A graph that stays loaded on all ranks, as `groute_py.open` returns it.

    One on a single rank is pickled as its recipe: the path of its file, whose size and time are
    compared, and the options. A graph in memory goes to a temporary file, which goes when this
    process ends. Another process opens the graph once, when a copy is first used, and its copies
    share it until it is closed.

    With several ranks all of them open it, call its methods and close it together: it and they are
    collective, and the calls must come in the same order. With one rank several threads may share
    it; they solve one after another. As a context manager it is closed at the end of the block. A
    table in docs/python.md says which options hold for which methods. `apsp`, `matrix`, `route`,
    the centralities, and `nearest` with ``k > 1``, take the whole graph to all ranks when first
    called. What a method makes of the graph, and on the devices, stays for the next.

    Raises:
        InputError, SetupError: the same one on every rank.
        RunError: of methods, the solver is closed; other errors are those of the functions of
            their names.
    """

    _opened: Opened
    _about: About
    _recipe: bytes | None = None

    def __init__(self, opened: Opened) -> None:
        self._opened, self._about = opened, opened.about()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._recipe is None:
            self._recipe = pickle.dumps(Recipe.of(self._opened))
        return reopened, (self._recipe, type(self))

    def __getattr__(self, name: str) -> Any:
        """Open the graph of a recipe when it is first used."""
        if name not in ("_opened", "_about") or self._recipe is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with OPENING:
            if name not in vars(self):
                recipe: Recipe = pickle.loads(self._recipe)
                with limited_to(recipe.options.threads):
                    self.__init__(recipe.open())  # type: ignore[misc]
            return vars(self)[name]

    @property
    def facts(self) -> Facts:
        """Counts and weights of the graph."""
        return self._about.facts

    @property
    def numbering(self) -> Numbering | None:
        """The ids of the vertices on rank 0, None elsewhere."""
        return self._about.numbering

    @property
    def attribution(self) -> str:
        """The credit that answers have to show, on rank 0; "" for none."""
        return self._about.attribution

    @property
    def gpu(self) -> str | None:
        """The UUID of this rank's GPU, None on a CPU."""
        return self._opened.source_solver.device.uuid

    def sssp(self, source: Vertex, targets: Vertices = ()) -> Result | None:
        """Shortest paths from ``source``; see `groute_py.sssp`."""
        return self._opened.answer(TreeJob(source, targets))

    def bfs(self, source: Vertex, targets: Vertices = ()) -> Result | None:
        """The least number of arcs from ``source``; see `groute_py.bfs`.

        The graph is loaded once more, without weights, when it is first called.
        """
        return self._opened.answer(TreeJob(source, targets, "bfs"))

    def apsp(
        self, sources: Vertices | None = None, *, predecessors: bool = False
    ) -> SourceRows | None:
        """Rows of distances from many sources, or from all vertices; see `groute_py.apsp`."""
        return self._opened.answer(apsp_job(sources, predecessors=predecessors))

    def matrix(
        self,
        sources: Vertices,
        targets: Vertices,
        *,
        predecessors: bool = False,
        output: str | os.PathLike[str] | None = None,
    ) -> Matrix | None:
        """The distances from some sources to some targets; see `groute_py.matrix`."""
        return self._opened.answer(
            MatrixJob(sources, targets, predecessors=predecessors, output=output)
        )

    def accessibility(
        self, sources: Vertices, targets: Vertices, reduce: str = "count", *, weights: Any = None
    ) -> Accessibility | None:
        """Count or sum what sources reach; see `groute_py.accessibility`."""
        return self._opened.answer(AccessibilityJob(sources, targets, reduce, weights))

    def nearest(
        self,
        facilities: Vertices,
        *,
        vertices: Vertices | None = None,
        k: int = 1,
        to_facility: bool = False,
    ) -> NearestFacilities | None:
        """The nearest facilities of each vertex, or of some; see `groute_py.nearest`.

        ``to_facility`` alone says the direction, whatever that of the solver is. A graph that was
        prepared and lies on one GPU is swept there for the nearest one; any other is loaded once
        more, with a root before the facilities. With ``k > 1``, or for some vertices, the answer is
        downloaded at once.
        """
        return self._opened.answer(NearestJob(facilities, k, to_facility, vertices))

    def route(
        self,
        pairs: Pairs,
        *,
        paths: bool = False,
        k: int = 1,
        loops: bool = False,
        alternatives: int = 0,
        longer: float | None = None,
        overlap: float | None = None,
    ) -> Routes | None:
        """Shortest paths between many pairs; see `groute_py.route`."""
        return self._opened.answer(RouteJob(pairs, paths, k, loops, alternatives, longer, overlap))

    def isochrone(
        self,
        sources: Vertices,
        limits: Sequence[float | str] | float | str,
        *,
        each: bool = False,
        planar: bool = False,
    ) -> Isochrones | None:
        """Find what lies within limits of some sources; see `groute_py.isochrone`.

        Coordinates are those of the file that the solver was opened with, or the graph's own.
        """
        opened = self._opened
        coordinates = opened.options.coordinates
        places = partial(
            find_places, coordinates=coordinates, planar=planar, beside=opened.origin.what
        )
        return opened.answer(IsochroneJob(sources, limits, each, planar, places))

    def closeness(
        self, sources: Vertices | None = None, *, normalized: bool = False
    ) -> Scores | None:
        """See `groute_py.centrality.closeness`."""
        return measures.answer(self._opened, measures.CLOSENESS, sources, normalized=normalized)

    def harmonic(
        self, sources: Vertices | None = None, *, normalized: bool = False
    ) -> Scores | None:
        """See `groute_py.centrality.harmonic`."""
        return measures.answer(self._opened, measures.HARMONIC, sources, normalized=normalized)

    def eccentricity(self, sources: Vertices | None = None) -> Scores | None:
        """See `groute_py.centrality.eccentricity`."""
        return measures.answer(self._opened, measures.ECCENTRICITY, sources)

    def diameter(self, sources: Vertices | None = None) -> Any:
        """See `groute_py.centrality.diameter`."""
        return measures.answer(self._opened, measures.DIAMETER, sources)

    def radius(self, sources: Vertices | None = None) -> Any:
        """See `groute_py.centrality.radius`."""
        return measures.answer(self._opened, measures.RADIUS, sources)

    def mean(self, sources: Vertices | None = None) -> float | None:
        """See `groute_py.centrality.mean`."""
        return measures.answer(self._opened, measures.MEAN, sources)

    def betweenness(
        self, sources: Vertices | None = None, *, normalized: bool = False, endpoints: bool = False
    ) -> Scores | None:
        """See `groute_py.centrality.betweenness`; an error with ``reverse``."""
        how = {"normalized": normalized, "endpoints": endpoints}
        return measures.answer(self._opened, measures.BETWEENNESS, sources, **how)

    def edge_betweenness(
        self, sources: Vertices | None = None, *, normalized: bool = False
    ) -> ArcScores | None:
        """See `groute_py.centrality.edge_betweenness`; an error with ``reverse``."""
        return measures.answer(
            self._opened, measures.EDGE_BETWEENNESS, sources, normalized=normalized
        )

    def with_weights(self, weights: Any) -> Solver:
        """A solver of the same vertices and arcs with other weights; collective.

        This one stays open, and both are to be closed. A graph that was prepared is contracted
        anew.

        Args:
            weights: shape (m,), in the order of the arcs of the graph that was given; those of
                other ranks than 0 are ignored.

        Raises:
            InputError: there are not as many weights as arcs, they are not valid, or the solver was
                opened with ``reverse``, which reorders the arcs.
        """
        with self._in_order("with_weights") as opened:
            forward = at_root(opened.channel, lambda: self._with_weights(weights))
        return self._reopen(forward, opened.direction)

    def update(self, weights: Any, *, arcs: Any = None) -> None:
        """Take other weights for all arcs, or for some, in place; collective.

        What is asked next is answered by them. If the graph is in an order from separators, for
        pairs and matrices with ``prepare``, that takes milliseconds. Anything else that was made of
        the graph is made anew when it is asked for.

        Args:
            weights: shape (m,) in the order of the arcs of the graph that was given, or shape (k,)
                with ``arcs``; on the host or on a GPU. Those of other ranks than 0 are ignored.
            arcs: numbers of arcs, from 0, each at most once, shape (k,); see `Graph.arc`.

        Raises:
            InputError: there are not as many weights as arcs, they are not valid, an arc is none
                of the graph or there twice, or the solver was opened with ``reverse``, which
                reorders the arcs. The weights are then those from before.
        """
        with self._in_order("update") as opened:
            self._about = self._about._replace(facts=opened.update(weights, arcs))
            self._recipe = None

    def assign(self, demand: Any, *, progress: Any = None, **choices: Any) -> Assignment | None:
        """Flows at which no traveller has a cheaper way; see `groute_py.assign`.

        The choices are its arguments but ``graph`` and ``comm``; ``device`` and ``time_limit_s``
        are those of the solver unless they are given.

        Raises:
            GraphError, InputError, SetupError: as there; or open with ``reverse`` or ``turns``.
        """
        names = "device", "time_limit_s"
        with self._in_order("assign") as opened:
            forward = at_root(opened.channel, opened.forward)
            own = {name: getattr(opened.options, name) for name in names} | choices
            return AssignmentJob(demand, **own).run(GraphSource(forward), opened.channel, progress)

    def reversed(self) -> Solver:
        """A solver of the other direction: with ``reverse`` if this one is without; collective.

        This one stays open, and both are to be closed.

        Raises:
            InputError: the graph does not suit the options.
        """
        opened = self._opened
        with opened.alone():
            refuse_difference(opened.channel, {"function": "reversed"})
            forward = at_root(opened.channel, opened.forward)
        return self._reopen(forward, opened.direction.other)

    def close(self) -> None:
        """Free the devices when no other thread solves any more. Nothing can be solved afterwards.

        Raises:
            RunError: a handler of a signal has interrupted a solve.
        """
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    @contextmanager
    def _in_order(self, function: str) -> Iterator[Opened]:
        """Lend the graph to a function that names arcs; refuse one with another order of them."""
        opened = self._opened
        if not opened.keeps_order:
            problem = f"{function}: open without reverse, and call reversed() of that solver"
            raise everywhere(InputError(problem))
        with opened.alone():
            refuse_difference(opened.channel, {"function": function})
            on_root(opened.channel, lambda: opened.options.refuse_changes(function))
            yield opened

    def _reopen(self, forward: Graph | None, direction: Direction) -> Solver:
        """Return a solver with the same options, of a graph that rank 0 has; collective."""
        opened = self._opened
        options = replace(opened.options_again, reverse=direction is Direction.BACKWARD)
        return Solver(opened.following(forward, options))

    def _with_weights(self, weights: Any) -> Graph:
        graph = self._opened.forward()
        if isinstance(graph, PreparedGraph):
            return graph.with_weights(weights, device=self._opened.options.device)
        return graph.with_weights(weights)


@takes(Options, "open")
def open(graph: GraphLike, **options: Unpack[OpenKeywords]) -> Solver:
    """Read a graph once and load it on the devices of all ranks, for many solves.

    Under ``mpirun`` every rank calls this function, and then the methods of the solver, in the same
    order.

    Args:
        graph, tail, head, weight, ignore_columns, comm: as for `sssp`.
        **options: as for `sssp`, for all solves.

    Returns:
        A `Solver` on every rank. Use it as a context manager, or call its ``close``.

    Raises:
        InputError, SetupError: as for `sssp`.

    >>> with open(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), device="cpu") as solver:
    ...     [solver.sssp(source).distances.tolist()[2] for source in range(3)]
    [7, 3, 0]
    """
    opened = open_for("open", graph, options)
    refuse_difference(opened.channel, {"function": "open"} | shared_options(opened.options))
    with limited_to(opened.options.threads):
        return Solver(opened)
