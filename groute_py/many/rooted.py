"""A root: one more vertex, with arcs of weight 0 to some; a solve from it is one from them all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.solo import SoloChannel
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph.csr import Graph
from groute_py.hierarchy.prepared import PreparedGraph, hierarchy_of
from groute_py.many.choose import with_device
from groute_py.many.rows import source_first
from groute_py.source.whole import GraphSupply


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
    )
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
