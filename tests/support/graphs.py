"""Random graphs for property tests, and independent oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from hypothesis import strategies as st
from scipy.sparse import csgraph

from groute_py import UNREACHED, Graph, generate


def graph_of(count: int, arcs: list[tuple[int, int, Any]], dtype: str = "int32") -> Graph:
    """A graph from (tail, head, weight) triples."""
    arcs = sorted(arcs, key=lambda arc: arc[0])
    tails = [arc[0] for arc in arcs]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=count))])
    heads = np.array([arc[1] for arc in arcs], dtype=np.int32)
    weights = np.array([arc[2] for arc in arcs], dtype=dtype)
    return Graph(offsets.astype(np.int64), heads, weights)


def rmat_of(weights: str) -> Graph:
    """An R-MAT graph; distances of 64-bit weights need all 64."""
    graph = generate("rmat:9,12", seed=4)
    scale = 1 << 40 if weights == "int64" else 1
    return Graph(graph.offsets, graph.heads, graph.weights.astype(weights) * scale)


@st.composite
def graphs(draw: st.DrawFn, dtype: str = "int32", least: int = 0, greatest: int = 20) -> Graph:
    """Small graphs of every kind: zero weights, parallel arcs, self-loops, unreachable parts."""
    count = draw(st.integers(1, 24))
    vertex = st.integers(0, count - 1)
    weight = st.integers(least, greatest)
    arcs: list[tuple[int, int, Any]]
    arcs = draw(st.lists(st.tuples(vertex, vertex, weight), max_size=4 * count))
    if np.dtype(dtype).kind == "f":
        scale = draw(st.sampled_from([1.0, 0.1, 1e-3]))
        arcs = [(u, v, w * scale) for u, v, w in arcs]
    return graph_of(count, arcs, dtype)


def all_lengths(graph: Graph) -> Any:
    """Of all pairs, by Floyd's three loops: below 0 on the diagonal where a cycle is negative."""
    count = graph.vertex_count
    lengths = np.full((count, count), np.inf)
    np.fill_diagonal(lengths, 0)
    tails = np.repeat(np.arange(count), np.diff(graph.offsets))
    np.minimum.at(lengths, (tails, graph.heads), graph.weights)
    for middle in range(count):
        lengths = np.minimum(lengths, lengths[:, middle, np.newaxis] + lengths[middle])
    return lengths


def random_graph(count: int, arcs: int, seed: int, greatest: int, dtype: str = "int32") -> Graph:
    """A larger random graph."""
    random = np.random.default_rng(seed)
    tails = np.sort(random.integers(0, count, arcs))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=count))])
    heads = random.integers(0, count, arcs).astype(np.int32)
    weights = random.integers(0, greatest + 1, arcs).astype(dtype)
    return Graph(offsets.astype(np.int64), heads, weights)


def scipy_distances(graph: Graph, source: int, **limit: float) -> Any:
    """Distances by SciPy, in our conventions; parallel arcs are reduced to the lightest first."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    order = np.lexsort((graph.weights, graph.heads, tails))
    tails, heads, weights = tails[order], graph.heads[order], graph.weights[order].astype(float)
    first = np.ones(len(tails), dtype=bool)
    first[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
    first &= (tails != heads) | (weights < 0)
    rows, columns, values = tails[first], heads[first], weights[first]
    shape = (graph.vertex_count, graph.vertex_count)
    matrix = sparse.csr_array((values, (rows, columns)), shape=shape)
    method = csgraph.bellman_ford if len(values) and values.min() < 0 else csgraph.dijkstra
    distances = method(matrix, indices=source, **limit)
    if graph.weights.dtype.kind == "f":
        return distances
    whole = np.full(graph.vertex_count, UNREACHED, dtype=np.int64)
    reached = np.isfinite(distances)
    whole[reached] = distances[reached].astype(np.int64)
    return whole


def arcs_by_id(graph: Graph) -> list[tuple[Any, Any, Any]]:
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    ids = (graph.numbering.ids_of(ends).tolist() for ends in (tails, graph.heads))
    return sorted(zip(*ids, graph.weights.tolist(), strict=True))
