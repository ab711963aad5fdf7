"""`dijkstra`, `bellman_ford` and `johnson`, with SciPy's signatures."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import check_number
from groute_py.comm.solo import SoloChannel
from groute_py.csgraph.inputs import graph_of, in_floats, vertices_of
from groute_py.csgraph.outputs import NOBODY, distances_out, scipy_errors, vertices_out
from groute_py.engine.options import Options
from groute_py.errors import InputError, RunError
from groute_py.graph.csr import Graph
from groute_py.many.johnson import solve_johnson
from groute_py.many.rooted import solve_nearest
from groute_py.many.rows import SourceRows, solve_rows
from groute_py.system.settings import settings

Solver = Callable[[Graph, NDArray[np.int64], Options], SourceRows]


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """Shortest paths by Δ-stepping, in the form of `scipy.sparse.csgraph.dijkstra`.

    Meyer and Sanders (2003). With negative weights SciPy warns and may return wrong distances; this
    function warns and runs Bellman-Ford.

    Args:
        csgraph: sparse or dense, shape (n, n).
        directed: False to use each arc in both directions.
        indices: the sources, in any shape; None for all vertices.
        return_predecessors: also return the predecessors; with ``min_only`` the sources as well.
        unweighted: count arcs instead of adding weights.
        limit: leave out vertices farther than this, in units of weight.
        min_only: for each vertex only the path from the nearest source.

    Returns:
        float64 distances of shape ``indices.shape + (n,)``, or (n,) with ``min_only``, infinite if
        no path leads; int32 predecessors and sources of the same shape if asked for, −9999 if there
        is none.

    Raises:
        InputError: wrong arguments; a ValueError.
        NegativeCycleError: one can be reached; for this SciPy returns wrong distances.

    >>> dijkstra([[0, 2, 0], [0, 0, 1], [0, 0, 0]], indices=[0, 1], min_only=True).tolist()
    [0.0, 0.0, 1.0]
    """
    check_number("limit", limit)
    if not limit >= 0:
        raise InputError(f"limit must be 0 or more, not {limit}")
    graph = graph_of(csgraph, directed=directed, unweighted=unweighted)
    sources = vertices_of(indices, graph.vertex_count)
    negative = _has_negative(graph)
    if negative:
        warnings.warn(
            "the graph has negative weights: solved by Bellman-Ford; call bellman_ford or johnson",
            stacklevel=2,
        )
    cutoff = None if negative or limit == np.inf else float(limit)
    options = Options(
        predecessors=bool(return_predecessors), cutoff=cutoff, device=settings().device
    )
    answer = _nearest if min_only else _each
    found, *vertices = answer(graph, sources, options)
    if negative:
        far = found > limit
        found[far] = np.inf
        for array in vertices:
            array[far] = NOBODY
    return (found, *vertices) if return_predecessors else found


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Shortest paths by Bellman-Ford, in the form of `scipy.sparse.csgraph.bellman_ford`.

    Bellman (1958), Ford (1956), with a worklist (Moore, 1959). Weights may be negative. Arguments
    and return values are those of `dijkstra`, without ``limit`` and ``min_only``.

    Raises:
        InputError: wrong arguments; a ValueError.
        NegativeCycleError: a negative cycle can be reached from a source.

    >>> bellman_ford([[0, 2, 0], [0, 0, -1], [0, 0, 0]], indices=0).tolist()
    [0.0, 2.0, 1.0]
    """
    graph = graph_of(csgraph, directed=directed, unweighted=unweighted)
    sources = vertices_of(indices, graph.vertex_count)
    options = Options(
        algorithm="bellman-ford",
        predecessors=bool(return_predecessors),
        device=settings().device,
    )
    found, *vertices = _each(graph, sources, options)
    return (found, *vertices) if return_predecessors else found


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Shortest paths by Johnson's algorithm (1977), in the form of `scipy.sparse.csgraph.johnson`.

    Weights may be negative. Arguments and return values are those of `dijkstra`, without ``limit``
    and ``min_only``.

    Raises:
        InputError: wrong arguments; a ValueError.
        NegativeCycleError: the graph has one, reachable or not.

    >>> johnson([[0, 2, 0], [0, 0, -1], [0, 0, 0]])[0].tolist()
    [0.0, 2.0, 1.0]
    """
    graph = graph_of(csgraph, directed=directed, unweighted=unweighted)
    sources = vertices_of(indices, graph.vertex_count)
    options = Options(predecessors=bool(return_predecessors), device=settings().device)
    solve = solve_johnson if _has_negative(graph) else _one_by_one
    found, *vertices = _each(graph, sources, options, solve)
    return (found, *vertices) if return_predecessors else found


def _one_by_one(graph: Graph, sources: NDArray[np.int64], options: Options) -> SourceRows:
    rows = solve_rows(graph, sources, options, SoloChannel())
    assert rows is not None
    return rows


def _each(
    graph: Graph, sources: NDArray[np.int64], options: Options, solve: Solver = _one_by_one
) -> list[NDArray[Any]]:
    """Distances, and predecessors if asked for: a row for each source."""
    shape = (*sources.shape, graph.vertex_count)
    if not sources.size:
        return [np.empty(shape), np.empty(shape, np.int32)]
    with scipy_errors():
        try:
            rows = solve(graph, sources.ravel(), options)
        except RunError:  # a sum beyond 64 bits, which SciPy has as a float
            rows = solve(in_floats(graph), sources.ravel(), options)
    answer: list[NDArray[Any]] = [distances_out(rows.distances).reshape(shape)]
    if rows.predecessors is not None:
        answer.append(vertices_out(rows.predecessors).reshape(shape))
    return answer


def _nearest(graph: Graph, sources: NDArray[np.int64], options: Options) -> list[NDArray[Any]]:
    """Distances, predecessors and sources: one row."""
    with scipy_errors():
        try:
            found = solve_nearest(graph, sources.ravel(), options)
        except RunError:
            found = solve_nearest(in_floats(graph), sources.ravel(), options)
    vertices = (vertices_out(v) for v in (found.predecessors, found.origins))
    return [distances_out(found.distances), *vertices]


def _has_negative(graph: Graph) -> bool:
    return bool(graph.weights.min(initial=0) < 0)
