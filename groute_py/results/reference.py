"""Distances by serial methods, to compare answers with.

They share no code with the solvers but `extend`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import VerificationError
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu import certificate
from groute_py.kernels.cpu.operators import variant
from groute_py.results.distances import UNREACHED

Variants = Callable[[Any], Any]
"""Function from kernels to those for the operator of a graph."""


def reference_distances(graph: Graph, source: int) -> NDArray[Any]:
    """Distances by serial binary-heap Dijkstra, in the types of `Result.distances`.

    The graph must have no negative weights.
    """
    kind = graph.weights.dtype if graph.weights.dtype.kind == "f" else np.dtype(np.int64)
    if graph.scale is not None and graph.scale.has_maxima:  # arcs extend ranks, see `extend`
        kind = np.dtype(np.uint64)
    distances = np.full(graph.vertex_count, np.inf if kind.kind == "f" else UNREACHED, dtype=kind)
    weights = graph.weights.astype(kind, copy=False)
    dijkstra = variants(graph)(certificate.dijkstra)
    dijkstra(graph.offsets, graph.heads, weights, source, distances)
    return distances


def serial_distances(graph: Graph, source: int) -> NDArray[Any]:
    """Find distances like `reference_distances`, by rounds of Bellman and Ford where a weight is
    negative.
    """
    if not graph.arc_count or graph.weights.min() >= 0:
        return reference_distances(graph, source)
    kind = graph.weights.dtype if graph.weights.dtype.kind == "f" else np.dtype(np.int64)
    nothing = kind.type(np.inf) if kind.kind == "f" else UNREACHED
    distances = np.full(graph.vertex_count, nothing, kind)
    distances[source] = 0
    tails = graph.tails()
    for _ in range(graph.vertex_count):
        some = distances[tails] < nothing
        shorter = distances.copy()
        np.minimum.at(shorter, graph.heads[some], distances[tails[some]] + graph.weights[some])
        if np.array_equal(shorter, distances):
            return distances
        distances = shorter
    raise VerificationError("a negative cycle can be reached from the source")


def variants(graph: Graph) -> Variants:
    """Return the function that gives the kernels for a graph's operator."""
    operator = None if graph.scale is None else graph.scale.operator
    return lambda kernel: variant(kernel, "" if operator is None else operator.python)
