"""Graphs full of cycles that weigh 0 in hundredths, and a little more or less in floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from groute_py import Graph
from support.graphs import graph_of

Made = tuple[Graph, NDArray[np.int64]]
"""A graph, and the exact distances from vertex 0 in hundredths."""

Arcs = list[tuple[int, int]]


def between_heights(count: int, edges: Arcs, seed: int, dtype: str) -> Made:
    """Each edge leads both ways, up and down between heights of its ends: every cycle weighs 0."""
    heights = np.random.default_rng(seed).integers(-1000, 1000, count)
    arcs = [pair for u, v in edges for pair in ((u, v), (v, u))]
    weights = [(u, v, (heights[v] - heights[u]) / 100) for u, v in arcs]
    return graph_of(count, weights, dtype), heights - heights[0]


def chain(count: int, seed: int, dtype: str = "float64") -> Made:
    return between_heights(count, [(k, k + 1) for k in range(count - 1)], seed, dtype)


def tree(count: int, seed: int, dtype: str = "float64") -> Made:
    random = np.random.default_rng(seed)
    edges = [(int(random.integers(0, k)), k) for k in range(1, count)]
    return between_heights(count, edges, seed, dtype)


def grid(side: int, seed: int, dtype: str = "float64") -> Made:
    edges = [(v, v + 1) for v in range(side * side) if (v + 1) % side]
    edges += [(v, v + side) for v in range(side * (side - 1))]
    return between_heights(side * side, edges, seed, dtype)


def dense(count: int, seed: int, dtype: str = "float64") -> Made:
    edges = [(u, v) for v in range(count) for u in range(v)]
    return between_heights(count, edges, seed, dtype)


def detours(count: int, seed: int, dtype: str = "float64") -> Made:
    """Arcs between heights, of which some cost more: some cycles weigh 0, and none less."""
    random = np.random.default_rng(seed)
    heights = random.integers(-1000, 1000, count)
    ends = random.integers(0, count, (4 * count, 2))
    extra = np.where(random.random(4 * count) < 0.6, 0, random.integers(1, 500, 4 * count))
    whole = [
        (int(u), int(v), int(heights[v] - heights[u] + more))
        for (u, v), more in zip(ends, extra, strict=True)
    ]
    exact = np.full(count, 10**9)
    exact[0] = 0
    for _ in range(count):
        for u, v, weight in whole:
            if exact[u] < 10**9:
                exact[v] = min(exact[v], exact[u] + weight)
    return graph_of(count, [(u, v, w / 100) for u, v, w in whole], dtype), exact


KINDS: dict[str, Callable[[int, str], Made]] = {
    "chain of 16": lambda seed, dtype: chain(16, seed, dtype),
    "chain of 300": lambda seed, dtype: chain(300, seed, dtype),
    "tree of 100": lambda seed, dtype: tree(100, seed, dtype),
    "grid of 8": lambda seed, dtype: grid(8, seed, dtype),
    "dense graph of 30": lambda seed, dtype: dense(30, seed, dtype),
    "detours of 60": lambda seed, dtype: detours(60, seed, dtype),
}
