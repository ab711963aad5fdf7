"""Centralities and measures of distance: a function of Python each, and the job of them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from groute_py.centrality.dependencies import Accumulated, accumulated
from groute_py.centrality.distances import Reduced, reduced
from groute_py.centrality.scores import ArcScores, Scores, arc_scores, row_scores, vertex_scores
from groute_py.comm.agree import on_root
from groute_py.engine.option import GRAPH_KEYWORDS, options_of
from groute_py.engine.options import Options
from groute_py.errors import InputError, check_truth
from groute_py.graph.csr import GraphLike
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Vertices
from groute_py.system.clock import span

T = TypeVar("T")


PER = "per "  # begins the unit of a number that is divided by distances


@dataclass(frozen=True)
class Measure(Generic[T]):
    """A measure, and its answer from the sums that it is made of, normalized or not."""

    name: str
    answer: Callable[[Any, bool], T]
    of_paths: bool = False  # of all shortest paths, not of distances


CLOSENESS = Measure("closeness", lambda rows, norm: row_scores(rows, rows.closeness(norm), PER))
HARMONIC = Measure("harmonic", lambda rows, norm: row_scores(rows, rows.harmonic(norm), PER))
ECCENTRICITY = Measure("eccentricity", lambda rows, _: row_scores(rows, rows.rows.greatest))
DIAMETER = Measure[Any]("diameter", lambda rows, _: rows.rows.greatest[rows.farthest].item())
RADIUS = Measure[Any]("radius", lambda rows, _: rows.rows.greatest[rows.most_central].item())
MEAN = Measure[float]("mean", lambda rows, _: rows.mean()[0])
BETWEENNESS = Measure("betweenness", vertex_scores, of_paths=True)
EDGE_BETWEENNESS = Measure("edge_betweenness", arc_scores, of_paths=True)

OF_DISTANCES = CLOSENESS, HARMONIC, ECCENTRICITY, DIAMETER, RADIUS, MEAN
MEASURES = {one.name: one for one in (*OF_DISTANCES, BETWEENNESS, EDGE_BETWEENNESS)}
"""By the names of the functions of `groute_py.centrality`."""


def closeness(
    graph: GraphLike, *, sources: Vertices | None = None, normalized: bool = False, **options: Any
) -> Scores | None:
    """The closeness of vertices: the others that each reaches, divided by the sum of distances.

    It is 0 unless that sum is more than 0, which negative weights can prevent.

    Args:
        graph: as for `groute_py.sssp`.
        sources: the vertices whose closeness is asked for, shape (k,); None for all.
        normalized: multiply by the share of the other vertices that is reached, as NetworkX does
            (Wasserman and Faust, 1994).
        **options: see `groute_py.centrality`.

    Returns:
        `Scores` with float64 values on rank 0; None elsewhere.

    >>> closeness(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), device="cpu").values.tolist()[1:]
    [0.3333333333333333, 0.0]
    """
    return _open_and_answer(CLOSENESS, graph, sources, options, normalized=normalized)


def harmonic(
    graph: GraphLike, *, sources: Vertices | None = None, normalized: bool = False, **options: Any
) -> Scores | None:
    """The harmonic centrality of vertices: the sum of 1 / distance to each other vertex.

    Vertices that are unreached, or at distance 0, add nothing (Boldi and Vigna, 2014).

    Args:
        graph, sources: as for `closeness`.
        normalized: divide by the number of other vertices.
        **options: see `groute_py.centrality`.

    Returns:
        `Scores` with float64 values on rank 0; None elsewhere.

    >>> harmonic(([0, 2, 3, 3], [1, 2, 2], [4, 8, 4]), device="cpu").values.tolist()
    [0.375, 0.25, 0.0]
    """
    return _open_and_answer(HARMONIC, graph, sources, options, normalized=normalized)


def eccentricity(
    graph: GraphLike, *, sources: Vertices | None = None, **options: Any
) -> Scores | None:
    """The eccentricity of vertices: the greatest distance to a vertex that a path leads to.

    Args:
        graph, sources: as for `closeness`.
        **options: see `groute_py.centrality`.

    Returns:
        `Scores` on rank 0, int64 for integer weights, else float64; ``statistics["complete"]`` says
        whether all of them reach every vertex. None elsewhere.

    >>> eccentricity(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), device="cpu").values.tolist()
    [7, 3, 0]
    """
    return _open_and_answer(ECCENTRICITY, graph, sources, options)


def diameter(graph: GraphLike, *, sources: Vertices | None = None, **options: Any) -> Any:
    """The greatest distance between two vertices that a path connects.

    Args:
        graph: as for `groute_py.sssp`.
        sources: vertices, shape (k,), that paths may begin at: the answer is then a lower bound of
            the diameter; None for all.
        **options: see `groute_py.centrality`.

    Returns:
        An int for integer weights, else a float, on rank 0; None elsewhere.

    >>> diameter(([0, 2, 3, 3], [1, 2, 2], [4, 9, 3]), device="cpu")
    7
    """
    return _open_and_answer(DIAMETER, graph, sources, options)


def radius(graph: GraphLike, *, sources: Vertices | None = None, **options: Any) -> Any:
    """The least eccentricity of the vertices from which a path leads to every vertex.

    Args:
        graph: as for `groute_py.sssp`.
        sources: the vertices to look at, shape (k,): the answer is then an upper bound of the
            radius; None for all.
        **options: see `groute_py.centrality`.

    Returns:
        An int for integer weights, else a float, on rank 0; None elsewhere.

    Raises:
        InputError: no such vertex.

    >>> radius(([0, 2, 3, 4], [1, 2, 2, 0], [4, 9, 3, 1]), device="cpu")
    4
    """
    return _open_and_answer(RADIUS, graph, sources, options)


def mean(graph: GraphLike, *, sources: Vertices | None = None, **options: Any) -> float | None:
    """The mean distance of all ordered pairs of two vertices that a path connects.

    Args:
        graph: as for `groute_py.sssp`.
        sources: the vertices that paths begin at, shape (k,); None for all.
        **options: see `groute_py.centrality`.

    Returns:
        A float on rank 0, NaN if there are no such pairs; None elsewhere.

    >>> mean(([0, 2, 3, 3], [1, 2, 2], [4, 9, 2]), device="cpu")
    4.0
    """
    return _open_and_answer(MEAN, graph, sources, options)


def betweenness(
    graph: GraphLike,
    *,
    sources: Vertices | None = None,
    normalized: bool = False,
    endpoints: bool = False,
    **options: Any,
) -> Scores | None:
    """The betweenness of all vertices: for each ordered pair of others the share of its paths.

    It is the sum over ordered pairs (s, t) of the share of the shortest paths from s to t that lead
    over the vertex (Brandes, 2001). In an undirected graph, where each edge is two arcs, each pair
    counts twice.

    Args:
        graph: as for `groute_py.sssp`; weights that are not negative. Of parallel arcs the lightest
            counts, once; self-loops are left out.
        sources: the vertices s, shape (k,), drawn at random: values are estimates; None for all.
        normalized: divide by the number of pairs, (n − 1)(n − 2), or n(n − 1) with ``endpoints``.
        endpoints: count s and t as on the path.
        **options: see `groute_py.centrality`; not ``reverse``.

    Returns:
        `Scores` of all n vertices on rank 0, float64, with ``errors`` for estimates; None
        elsewhere.

    Raises:
        InputError: a weight is negative, or arcs of weight 0 close a cycle.
        RunError: a distance, or a number of paths, does not fit.

    >>> betweenness(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu").values.tolist()
    [0.0, 1.0, 0.0]
    """
    how = {"normalized": normalized, "endpoints": endpoints}
    return _open_and_answer(BETWEENNESS, graph, sources, options, **how)


def edge_betweenness(
    graph: GraphLike, *, sources: Vertices | None = None, normalized: bool = False, **options: Any
) -> ArcScores | None:
    """The betweenness of all arcs: for each ordered pair of vertices the share of its paths.

    Parallel arcs that are equally light have equal parts of what one of them alone would have.

    Args:
        graph, sources: as for `betweenness`.
        normalized: divide by the number of ordered pairs, n(n − 1).
        **options: see `groute_py.centrality`; not ``reverse``.

    Returns:
        `ArcScores` on rank 0, with ``errors`` for estimates; None elsewhere.

    Raises:
        InputError, RunError: as for `betweenness`.

    >>> edge_betweenness(([0, 1, 2, 2], [1, 2], [4, 3]), device="cpu").values.tolist()
    [2.0, 2.0]
    """
    return _open_and_answer(EDGE_BETWEENNESS, graph, sources, options, normalized=normalized)


@dataclass(frozen=True, eq=False)
class MeasureJob:
    """The sums that a measure, a key of `MEASURES`, is made of."""

    measure: str
    sources: Vertices | None = None
    normalized: bool = False
    endpoints: bool = False

    def shared_arguments(self) -> dict[str, Any]:
        flags = {"normalized": self.normalized, "endpoints": self.endpoints}
        return {"function": self.measure} | flags

    def check(self, options: Options) -> None:
        options.refuse("cutoff", self.measure)
        options.check("centrality")
        check_truth("normalized", self.normalized)
        check_truth("endpoints", self.endpoints)
        if MEASURES[self.measure].of_paths and options.reverse:
            raise InputError(f"{self.measure} is of paths in both directions; open without reverse")

    def run(self, opened: Opened, work: Work) -> Reduced | Accumulated | None:
        on_root(opened.channel, lambda: opened.options.refuse("turns", self.measure))
        if MEASURES[self.measure].of_paths:
            by_arc = self.measure == "edge_betweenness"
            how = {"by_arc": by_arc, "endpoints": self.endpoints, "errors": True}
            return accumulated(opened, self.sources, work, **how)
        result = reduced(opened, self.sources, self.measure, work)
        if self.measure == "radius":  # of which there is none where no source reaches all
            on_root(opened.channel, lambda: result is not None and result.most_central)
        return result


def answer(
    opened: Opened,
    measure: Measure[T],
    sources: Vertices | None,
    *,
    normalized: bool = False,
    endpoints: bool = False,
) -> T | None:
    """Answer on rank 0 as the function with the name of the measure; None elsewhere. Collective."""
    result: Any = opened.answer(MeasureJob(measure.name, sources, normalized, endpoints))
    with span("answer"):
        return None if result is None else measure.answer(result, normalized)


def _open_and_answer(
    measure: Measure[T],
    graph: GraphLike,
    sources: Vertices | None,
    keywords: dict[str, Any],
    **how: bool,
) -> T | None:
    """Answer on rank 0; None elsewhere. ``how`` is as for `answer`."""
    rest = dict(keywords)
    weighted = rest.pop("weighted", True)
    check_truth("weighted", weighted)
    options = {*GRAPH_KEYWORDS, *(entry.name for entry, _ in options_of(Options, "centrality"))}
    for key in rest:
        if key not in options or (key == "reverse" and measure.of_paths):
            raise TypeError(f"{measure.name}() got an unexpected keyword argument {key!r}")
    with open_for("centrality", graph, rest, hops=not weighted) as opened:
        return answer(opened, measure, sources, **how)
