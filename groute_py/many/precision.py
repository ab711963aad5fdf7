"""One precision for all rows of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from groute_py.graph.csr import Graph

MARGIN = 4
"""Between what sums may come to and what is refused: rounding, and Johnson's potentials."""


def one_precision(graph: Graph) -> Graph:
    """The graph, with float64 weights where sums of its float32 ones might overflow.

    One source is solved for in float32 first, and again where that overflows. Of many sources some
    would need float64 and others not, and rows would be rounded in two ways.

    >>> one_precision(Graph.from_arrays([0, 1, 1], [1], np.float32([3e38]))).weights.dtype
    dtype('float64')
    >>> one_precision(Graph.from_arrays([0, 1, 1], [1], np.float32([0.1]))).weights.dtype
    dtype('float32')
    """
    if graph.weights.dtype != np.float32 or not graph.arc_count:
        return graph
    greatest = max(float(graph.weights.max()), -float(graph.weights.min()))
    if MARGIN * graph.vertex_count * greatest < float(np.finfo(np.float32).max):
        return graph
    return replace(graph, weights=graph.weights.astype(np.float64))
