"""Graphs whose rows are sorted by weight: preprocessing that a native file keeps."""

from __future__ import annotations

import numpy as np

from groute_py.graph.csr import Graph, has_more, of_arcs
from groute_py.kernels.cpu.rows import ascend, sort_rows


def with_ascending_rows(graph: Graph) -> Graph:
    """The graph, every row by ascending weight; the same one where it is so already."""
    if ascend(graph.offsets, graph.weights):
        return graph
    if has_more(graph):
        tails = graph.tails()
        order = np.lexsort((graph.weights, tails))
        return graph.changed(heads=graph.heads[order], **of_arcs(graph, order))
    heads, weights = graph.heads.copy(), graph.weights.copy()
    sort_rows(graph.offsets, heads, weights)
    return graph.changed(heads=heads, weights=weights)
