"""Many sources with negative weights: potentials once, then solves without negative weights.

A potential h with h[v] ≤ h[u] + w(u, v) for every arc turns each weight into w + h[u] − h[v] ≥ 0,
and every path from s to t into one that is longer by h[s] − h[t]: the shortest stay the shortest.
The distances from a root that has an arc of weight 0 to every vertex are such potentials; for some
sources those from a root with arcs to these alone, since no path from there leads elsewhere.
Johnson, "Efficient algorithms for shortest paths in sparse networks" (1977).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import SoloChannel
from groute_py.device.base import unreached
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import NegativeCycleError, RunError
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.prepared import PreparedGraph, hierarchy_of
from groute_py.many.choose import with_device
from groute_py.many.rows import SourceRows, solve_rows, source_first
from groute_py.source.whole import GraphSupply


def solve_johnson(graph: Graph, sources: NDArray[np.int64], options: Options) -> SourceRows:
    """Solve as `solve_rows`, for graphs in which weights may be negative.

    `NegativeCycleError` for a cycle, reachable or not.
    """
    height = potentials(graph, options)
    rows = solve_rows(reweighted(graph, height), sources, options)
    return replace(rows, distances=lifted(rows.distances, height, rows.sources, graph.name))


def potentials(
    graph: Graph,
    options: Options,
    sources: NDArray[np.int64] | None = None,
    rounded_to: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return potentials, shape (n,), float for float weights, else int64; none is above 0.

    They suit paths from ``sources``, None for all vertices; ``rounded_to`` is the type that float
    weights had before they were widened. `NegativeCycleError` if a source reaches a cycle.
    """
    heads = np.arange(graph.vertex_count) if sources is None else np.unique(sources)
    whole = rooted(graph, heads)
    plain = replace(options, algorithm="auto", predecessors=False, cutoff=None)
    try:
        with SourceSolver(
            GraphSupply(whole, rounded_to), SoloChannel(), with_device(whole, plain)
        ) as solver:
            result = solver.sssp(graph.vertex_count)
    except NegativeCycleError as error:  # the graph with the root knows no ids
        ids = graph.numbering.ids_of(np.array(error.cycle)).tolist()
        raise NegativeCycleError(error.cycle, error.weight, ids=ids) from None
    assert result is not None
    height: NDArray[Any] = np.where(result.reached, result.distances, 0)[:-1]
    return height


def reweighted(graph: Graph, height: NDArray[Any]) -> Graph:
    """The graph with weights that are not negative; what rounding leaves below zero is zero."""
    greatest = float(graph.weights.max(initial=0)) - float(height.min(initial=0))
    if height.dtype.kind != "f" and greatest >= 2.0**63:
        raise RunError(
            f"the potentials of {graph.name} do not fit in int64 with its weights: they reach "
            f"{greatest:.3g}; scale the weights down or use float64"
        )
    tails = np.repeat(height, np.diff(graph.offsets))
    weights = np.maximum(graph.weights + tails - height[graph.heads], 0)
    return Graph.from_arrays(
        graph.offsets, graph.heads, weights, copy=False, first_id=graph.first_id, name=graph.name
    )


def lifted(
    distances: NDArray[Any],
    height: NDArray[Any],
    sources: NDArray[np.int64],
    name: str,
    targets: NDArray[np.int64] | None = None,
) -> NDArray[Any]:
    """Distances in the graph as it was."""
    nothing = unreached(distances.dtype)
    reached = distances != nothing
    own = height[sources][:, np.newaxis]
    columns = height if targets is None else height[targets]
    sums = distances + columns  # no potential is above 0
    if distances.dtype.kind != "f" and (reached & (sums >= nothing + own)).any():
        raise out_of_range(name, distances.dtype)
    whole: NDArray[Any] = np.where(reached, sums - own, nothing)
    return whole


def out_of_range(name: str, distance_type: np.dtype[Any]) -> RunError:
    """The error of a graph with a distance that does not fit in the widest type for it."""
    return RunError(f"a distance in {name} does not fit in {distance_type}; scale the weights down")


def rooted(graph: Graph, heads: NDArray[Any]) -> Graph:
    """The graph with vertex n added, from which an arc of weight 0 leads to each of ``heads``.

    It is prepared if the graph is.

    >>> rooted(Graph.from_arrays([0, 1, 1], [1], [5]), np.array([0])).heads.tolist()
    [1, 0]
    """
    arcs = graph.arc_count + len(heads)
    whole = Graph.from_arrays(
        np.append(graph.offsets, arcs),
        np.concatenate([graph.heads, np.asarray(heads, graph.heads.dtype)]),
        np.concatenate([graph.weights, np.zeros(len(heads), graph.weights.dtype)]),
        copy=False,
        first_id=graph.first_id,
        name=graph.name,
    ).changed(scale=graph.scale)
    hierarchy = hierarchy_of(graph)
    return whole if hierarchy is None else PreparedGraph(whole, hierarchy.with_root(heads))


@dataclass(frozen=True, eq=False)
class Nearest:
    """Shortest paths from the nearest of several sources."""

    distances: NDArray[Any]
    predecessors: NDArray[np.int64]
    origins: NDArray[np.int64]


def solve_nearest(graph: Graph, sources: NDArray[Any], options: Options) -> Nearest:
    """Solve from all sources at once, in this process."""
    root = graph.vertex_count
    whole = rooted(graph, sources)
    choices = with_device(whole, replace(options, predecessors=True))
    with SourceSolver(GraphSupply(whole), SoloChannel(), choices) as solver:
        result = solver.sssp(root)
    assert result is not None
    result = source_first(whole, result)
    assert result.predecessors is not None
    tree = result.predecessors[:root]
    begins = tree == root
    predecessors = np.where(begins, -1, tree)
    return Nearest(result.distances[:root], predecessors, origins_of(predecessors, begins))


def origins_of(predecessors: NDArray[np.int64], begins: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Follow all paths at once to where they begin, twice as far each time."""
    vertices = np.arange(len(predecessors))
    ahead = np.where(predecessors < 0, vertices, predecessors)
    while True:
        farther = ahead[ahead]
        if np.array_equal(farther, ahead):
            return np.where(begins[ahead], ahead, -1)
        ahead = farther
