"""Graphs whose arcs go both ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.build import csr_from_arcs


def mirrored(graph: Graph, sign: int = 1) -> Graph:
    """The graph and, for every arc that is no self-loop, the one back.

    Args:
        graph: any graph.
        sign: what the weight of the arc back is multiplied by, 1 or -1.

    >>> mirrored(Graph.from_arrays([0, 1, 1], [1], [5])).heads.tolist()
    [1, 0]
    """
    tails = np.repeat(
        np.arange(graph.vertex_count, dtype=graph.heads.dtype), np.diff(graph.offsets)
    )
    other = tails != graph.heads
    back = graph.weights[other]
    if sign < 0 and back.dtype.kind in "iu":
        back = -back.astype(np.int64)
    offsets, heads, weights = csr_from_arcs(
        graph.vertex_count,
        np.concatenate([tails, graph.heads[other]]),
        np.concatenate([graph.heads, tails[other]]),
        np.concatenate([graph.weights, back]),
    )
    return replace(graph, offsets=offsets, heads=heads, weights=weights)


def is_symmetric(graph: Graph) -> bool:
    """Whether for every arc there is one back of the same weight, as often."""
    tails = np.repeat(
        np.arange(graph.vertex_count, dtype=graph.heads.dtype), np.diff(graph.offsets)
    )
    there = np.lexsort((graph.weights, graph.heads, tails))
    back = np.lexsort((graph.weights, tails, graph.heads))
    return bool(
        np.array_equal(tails[there], graph.heads[back])
        and np.array_equal(graph.heads[there], tails[back])
        and np.array_equal(graph.weights[there], graph.weights[back])
    )
