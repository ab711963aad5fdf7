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
from groute_py.many.choose import placed
from groute_py.many.rows import source_first
from groute_py.source.whole import Whole


def rooted(graph: Graph, heads: NDArray[Any]) -> Graph:
    """The graph with vertex n added, from which an arc of weight 0 leads to each of ``heads``.

    It is prepared if the graph is.

    >>> rooted(Graph.from_arrays([0, 1, 1], [1], [5]), np.array([0])).heads.tolist()
    [1, 0]
    """
    arcs = graph.arc_count + len(heads)
    found = Graph.from_arrays(
        np.append(graph.offsets, arcs),
        np.concatenate([graph.heads, np.asarray(heads, graph.heads.dtype)]),
        np.concatenate([graph.weights, np.zeros(len(heads), graph.weights.dtype)]),
        copy=False,
        first_id=graph.first_id,
        name=graph.name,
    )
    known = hierarchy_of(graph)
    return found if known is None else PreparedGraph(found, known.with_root(heads))


@dataclass(frozen=True, eq=False)
class Nearest:
    """Shortest paths from the nearest of several sources.

    Attributes:
        distances: shape (n,), types and conventions of `groute_py.Result`.
        predecessors: int64, shape (n,), −1 for the sources and where no path leads.
        origins: int64, shape (n,): the source that each path begins at, −1 where none leads.
    """

    distances: NDArray[Any]
    predecessors: NDArray[np.int64]
    origins: NDArray[np.int64]


def solve_nearest(graph: Graph, sources: NDArray[Any], options: Options) -> Nearest:
    """Solve from all sources at once, in this process.

    Raises:
        InputError, NegativeCycleError, RunError, SetupError: as `SourceSolver.sssp`.

    >>> path = Graph.from_arrays([0, 1, 2, 3, 3], [1, 2, 3], [4, 4, 4])
    >>> solve_nearest(path, np.array([0, 2]), Options(device="cpu")).origins.tolist()
    [0, 0, 2, 2]
    """
    root = graph.vertex_count
    whole = rooted(graph, sources)
    choices = placed(whole, replace(options, predecessors=True))
    with SourceSolver(Whole(whole), SoloChannel(), choices) as solver:
        result = solver.sssp(root)
    assert result is not None
    result = source_first(whole, result)
    assert result.predecessors is not None
    tree = result.predecessors[:root]
    begins = tree == root
    predecessors = np.where(begins, -1, tree)
    return Nearest(result.distances[:root], predecessors, origins_of(predecessors, begins))


def origins_of(predecessors: NDArray[np.int64], begins: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Follow all paths at once to where they begin, twice as far each time.

    Args:
        predecessors: shape (n,), −1 where there is none.
        begins: shape (n,), which vertices are their own origins.

    Returns:
        int64, shape (n,), −1 for vertices without a path.
    """
    vertices = np.arange(len(predecessors))
    ahead = np.where(predecessors < 0, vertices, predecessors)
    while True:
        farther = ahead[ahead]
        if np.array_equal(farther, ahead):
            return np.where(begins[ahead], ahead, -1)
        ahead = farther
