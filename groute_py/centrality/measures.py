"""Centralities and measures of distance, for Python; the package has the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.accumulation import Accumulated, accumulated
from groute_py.centrality.choices import Choices, Load
from groute_py.centrality.distances import Reduced, reduced
from groute_py.centrality.scores import ArcScores, Scores, estimated, statistics_of
from groute_py.comm.connect import connect
from groute_py.engine.agree import refuse_difference
from groute_py.errors import InputError
from groute_py.graph.array_like import host_array
from groute_py.interop.graph_like import GraphLike, as_graph
from groute_py.io.tables.columns import Columns

if TYPE_CHECKING:
    from mpi4py import MPI

Vertices = Sequence[int] | NDArray[Any] | None


def closeness(
    graph: GraphLike,
    *,
    sources: Vertices = None,
    normalized: bool = False,
    **options: Any,
) -> Scores | None:
    """The closeness of vertices: the others that each reaches, divided by the sum of distances.

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
    found = _reduced("closeness", graph, sources, options)
    return None if found is None else row_scores(found, found.closeness(normalized=normalized))


def harmonic(
    graph: GraphLike,
    *,
    sources: Vertices = None,
    normalized: bool = False,
    **options: Any,
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
    found = _reduced("harmonic", graph, sources, options, reciprocals=True)
    return None if found is None else row_scores(found, found.harmonic(normalized=normalized))


def eccentricity(graph: GraphLike, *, sources: Vertices = None, **options: Any) -> Scores | None:
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
    found = _reduced("eccentricity", graph, sources, options)
    return None if found is None else row_scores(found, found.rows.greatest)


def diameter(graph: GraphLike, *, sources: Vertices = None, **options: Any) -> Any:
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
    found = _reduced("diameter", graph, sources, options, measure="diameter")
    return None if found is None else found.rows.greatest[found.farthest].item()


def radius(graph: GraphLike, *, sources: Vertices = None, **options: Any) -> Any:
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
    found = _reduced("radius", graph, sources, options, measure="radius")
    return None if found is None else found.rows.greatest[found.most_central].item()


def mean(graph: GraphLike, *, sources: Vertices = None, **options: Any) -> float | None:
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
    found = _reduced("mean", graph, sources, options)
    return None if found is None else found.mean()[0]


def betweenness(
    graph: GraphLike,
    *,
    sources: Vertices = None,
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
    found = _accumulated("betweenness", graph, sources, options, endpoints=endpoints)
    if found is None:
        return None
    return vertex_scores(found, normalized=normalized)


def edge_betweenness(
    graph: GraphLike,
    *,
    sources: Vertices = None,
    normalized: bool = False,
    **options: Any,
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
    kept: list[Any] = []
    found = _accumulated("edge_betweenness", graph, sources, options, by_arc=True, kept=kept)
    if found is None:
        return None
    (given,) = kept
    return arc_scores(given, found, normalized=normalized)


def vertex_scores(found: Accumulated, *, normalized: bool) -> Scores:
    """The scores of all vertices."""
    vertices = np.arange(found.job.graph.vertex_count)
    return Scores(vertices, *estimated(found, normalized=normalized), statistics_of(found))


def arc_scores(graph: Any, found: Accumulated, *, normalized: bool) -> ArcScores:
    """The scores of the arcs of the graph that was given."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    heads = graph.heads.astype(np.int64)
    return ArcScores(tails, heads, *estimated(found, normalized=normalized), statistics_of(found))


def row_scores(found: Reduced, values: NDArray[Any]) -> Scores:
    """The scores of the sources, from a value for each row."""
    statistics = {
        "algorithm": found.job.choice.algorithm,
        "reason": found.job.choice.reason,
        "device": found.label,
        "complete": found.complete,
    }
    return Scores(found.sources, values, None, statistics)


def _reduced(
    name: str,
    graph: GraphLike,
    sources: Vertices,
    options: dict[str, Any],
    *,
    reciprocals: bool = False,
    measure: str = "",
) -> Reduced | None:
    choices, columns, comm = _taken(name, options)
    channel = connect(comm)
    refuse_difference(channel, {"function": name})
    load = _load(graph, sources, columns)
    return reduced(channel, load, choices, reciprocals=reciprocals, measure=measure)


def _accumulated(
    name: str,
    graph: GraphLike,
    sources: Vertices,
    options: dict[str, Any],
    *,
    by_arc: bool = False,
    endpoints: bool = False,
    kept: list[Any] | None = None,
) -> Accumulated | None:
    if "reverse" in options:
        raise TypeError(f"{name}() got an unexpected keyword argument 'reverse'")
    choices, columns, comm = _taken(name, options)
    channel = connect(comm)
    refuse_difference(channel, {"function": name})
    load = _load(graph, sources, columns, kept)
    return accumulated(channel, load, choices, by_arc=by_arc, endpoints=endpoints, errors=True)


def _load(
    graph: GraphLike, sources: Vertices, columns: Columns, kept: list[Any] | None = None
) -> Load:
    def load() -> Any:
        whole = as_graph(graph, columns=columns).to_host()
        if kept is not None:
            kept.append(whole)
        return whole, None if sources is None else _vertices(sources)

    return load


def _vertices(sources: Any) -> NDArray[np.int64]:
    vertices = host_array(sources)
    if vertices.dtype.kind not in "iu" and vertices.size:
        raise InputError(f"sources must be integers, not {vertices.dtype}")
    return vertices.astype(np.int64)


def _taken(name: str, options: dict[str, Any]) -> tuple[Choices, Columns, MPI.Intracomm | None]:
    """The options of a call.

    Raises:
        TypeError: there is no such option.
    """
    left = dict(options)
    columns = Columns(*(left.pop(key, None) for key in ("tail", "head", "weight")))
    comm = left.pop("comm", None)
    for key in left:
        if key not in Choices.__dataclass_fields__:
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
    return Choices(**left), columns, comm
