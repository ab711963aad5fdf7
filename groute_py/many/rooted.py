"""A root: one more vertex, with arcs of weight 0 to some; a solve from it is one from them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.hierarchy.prepared import PreparedGraph, hierarchy_of


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
