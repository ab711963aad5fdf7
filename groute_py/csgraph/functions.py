"""SciPy's shortest paths, with SciPy's signatures."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.csgraph.conversion import (
    NOBODY,
    distances_out,
    graph_of,
    in_floats,
    matrix_of,
    scipy_errors,
    vertices_of,
    vertices_out,
)
from groute_py.engine.options import Options
from groute_py.errors import InputError, RunError, check_choice, check_number, vertex_number
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.order import breadth_first_tree
from groute_py.many.floyd import close_between
from groute_py.many.johnson import potentials, solve_johnson, solve_nearest
from groute_py.many.rows import SourceRows, solve_rows

Vertices = NDArray[np.int64]

DENSE_SHARE = 0.25
"""With arcs for this share of all pairs or more, Floyd–Warshall is chosen, as in SciPy."""


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Shortest paths in the form of `scipy.sparse.csgraph.shortest_path`.

    Args:
        csgraph: sparse or dense, shape (n, n).
        method: ``FW`` (Floyd–Warshall), ``D`` (`dijkstra`, by Δ-stepping), ``BF`` (Bellman-Ford) or
            ``J`` (Johnson). ``auto`` takes ``FW`` for dense graphs and all sources, else ``J`` with
            negative weights and ``D`` without.
        directed: False to use each arc in both directions.
        return_predecessors: also return the predecessors.
        unweighted: count arcs instead of adding weights.
        overwrite: write the result to ``csgraph`` if that is a float64 array in C order; only for
            Floyd–Warshall.
        indices: the sources, in any shape; None for all vertices. Not for Floyd–Warshall.

    Returns:
        float64 distances of shape ``indices.shape + (n,)``, infinite if no path leads; int32
        predecessors of the same shape if asked for, −9999 if there is none.

    Raises:
        InputError: wrong arguments; a ValueError.
        NegativeCycleError: the graph has one, which the method has found.

    >>> shortest_path([[0, 2, 0], [0, 0, -1], [0, 0, 0]], method="J", indices=0).tolist()
    [0.0, 2.0, 1.0]
    """
    if method == "auto":
        method = _choice(csgraph, indices)
    methods: dict[str, Callable[..., Any]] = {
        "FW": floyd_warshall,
        "D": dijkstra,
        "BF": bellman_ford,
        "J": johnson,
    }
    check_choice("method", method, ("auto", *methods))
    if method == "FW" and indices is not None:
        raise InputError("indices: Floyd–Warshall takes all sources; leave them out, or method J")
    more = {"overwrite": overwrite} if method == "FW" else {"indices": indices}
    return methods[method](
        csgraph,
        directed=directed,
        return_predecessors=return_predecessors,
        unweighted=unweighted,
        **more,
    )


def _choice(csgraph: Any, indices: Any) -> str:
    weights = graph_of(csgraph, directed=True).weights
    if indices is None and len(weights) >= DENSE_SHARE * np.shape(csgraph)[0] ** 2:
        return "FW"
    return "J" if bool((weights < 0).any()) else "D"


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
    graph, sources = _inputs(csgraph, directed, unweighted, indices)
    negative = _has_negative(graph)
    if negative:
        warnings.warn(
            "the graph has negative weights: solved by Bellman-Ford; call bellman_ford or johnson",
            stacklevel=2,
        )
    cutoff = None if negative or limit == np.inf else float(limit)
    options = _options(return_predecessors, cutoff=cutoff)
    answer = (_nearest if min_only else _each)(graph, sources, options)
    if negative:
        far = answer[0] > limit
        for array, nothing in zip(answer, (np.inf, NOBODY, NOBODY), strict=False):
            array[far] = nothing
    return tuple(answer) if return_predecessors else answer[0]


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
    graph, sources = _inputs(csgraph, directed, unweighted, indices)
    answer = _each(graph, sources, _options(return_predecessors, algorithm="bellman-ford"))
    return tuple(answer) if return_predecessors else answer[0]


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
    graph, sources = _inputs(csgraph, directed, unweighted, indices)
    solve = solve_johnson if _has_negative(graph) else solve_rows
    answer = _each(graph, sources, _options(return_predecessors), solve)
    return tuple(answer) if return_predecessors else answer[0]


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """All pairs by blocked Floyd–Warshall, in the form of `scipy.sparse.csgraph.floyd_warshall`.

    It runs on the CPU. Floyd (1962) and Warshall (1962); negative weights are replaced by Johnson's
    potentials (1977). Arguments and return values are those of `shortest_path`, without ``method``
    and ``indices``.

    Raises:
        InputError: wrong arguments; a ValueError.
        NegativeCycleError: the graph has one.

    >>> floyd_warshall([[0, 2, 0], [0, 0, -1], [0, 0, 0]])[0].tolist()
    [0.0, 2.0, 1.0]
    """
    matrix = matrix_of(csgraph, directed=directed, unweighted=unweighted, overwrite=overwrite)
    height = None
    if matrix.min(initial=0) < 0:
        with scipy_errors():
            graph = in_floats(graph_of(csgraph, directed=directed, unweighted=unweighted))
            height = potentials(graph, _options())
    parents = close_between(matrix, height, NOBODY if return_predecessors else None)
    return (matrix, parents) if return_predecessors else matrix


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """Vertices in breadth-first order, in the form of `scipy.sparse.csgraph.breadth_first_order`.

    It runs on the CPU. Neighbours are visited in the order of their row and, unless ``directed``,
    then in that of their column; in a CSC array the column is first. Moore (1959).

    Args:
        csgraph: sparse or dense, shape (n, n).
        i_start: the vertex to begin with.
        directed: False to use each arc in both directions.
        return_predecessors: also return the tree.

    Returns:
        int32, shape (k,): the reachable vertices in the order of discovery; and int32, shape (n,):
        their predecessors, −9999 if there is none.

    Raises:
        InputError: wrong arguments; a ValueError.

    >>> breadth_first_order([[0, 1, 1], [0, 0, 0], [0, 0, 0]], 0)[0].tolist()
    [0, 1, 2]
    """
    if not directed and getattr(csgraph, "format", None) == "csc":
        csgraph = csgraph.T  # as SciPy does: its order is that of the columns
    graph = graph_of(csgraph, directed=directed, unweighted=True)
    start = int(vertices_of(vertex_number("i_start", i_start), graph.vertex_count))
    order, parents = breadth_first_tree(graph.offsets, graph.heads, start, NOBODY)
    return (order, parents) if return_predecessors else order


def _inputs(csgraph: Any, directed: bool, unweighted: bool, indices: Any) -> tuple[Graph, Vertices]:
    graph = graph_of(csgraph, directed=directed, unweighted=unweighted)
    return graph, vertices_of(indices, graph.vertex_count)


def _options(predecessors: Any = True, **choices: Any) -> Options:
    return Options.of_environment(predecessors=bool(predecessors), **choices)


def _has_negative(graph: Graph) -> bool:
    return bool(graph.weights.min(initial=0) < 0)


def _each(
    graph: Graph,
    sources: Vertices,
    options: Options,
    solve: Callable[[Graph, Vertices, Options], SourceRows] = solve_rows,
) -> list[NDArray[Any]]:
    """Distances, and predecessors if asked for: a row for each source."""
    shape = (*sources.shape, graph.vertex_count)
    if not sources.size:
        return [np.empty(shape), np.empty(shape, np.int32)]
    rows = _solved(solve, graph, sources, options)
    answer: list[NDArray[Any]] = [distances_out(rows.distances).reshape(shape)]
    if rows.predecessors is not None:
        answer.append(vertices_out(rows.predecessors).reshape(shape))
    return answer


def _nearest(graph: Graph, sources: Vertices, options: Options) -> list[NDArray[Any]]:
    """Distances, predecessors and sources: one row."""
    rows = _solved(solve_nearest, graph, sources, options)
    return [distances_out(rows.distances), *map(vertices_out, (rows.predecessors, rows.origins))]


def _solved(solve: Callable[..., Any], graph: Graph, sources: Vertices, options: Options) -> Any:
    """Solve in floats, as SciPy does, where a sum is beyond 64 bits."""
    with scipy_errors():
        try:
            return solve(graph, sources.ravel(), options)
        except RunError:
            return solve(in_floats(graph), sources.ravel(), options)
