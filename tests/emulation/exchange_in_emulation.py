"""Small random graphs over emulated GPUs that exchange inside the kernel, each answer verified.

In the folder tests:

EMULATED_GPUS=4 python -m emulation.exchange_in_emulation fused 24
EMULATED_GPUS=4 EMULATED_GRID=1 python -m emulation.exchange_in_emulation fused 24
EMULATED_GPUS=4 GROUTE_PY_HOSTS=2 python -m emulation.exchange_in_emulation hierarchical 24
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from support.emulation import plugin  # noqa: F401 - comes before what imports CuPy
from support.exchange import check
from support.graphs import random_graph
from support.local_ranks import on_ranks
from support.solving import source_solver

from groute_py import Graph, Result, generate
from groute_py.device.cuda.peer import link
from groute_py.kernels.source import ROW_CHUNK

prepared: set[bool] = set()
"""Whether a rank was, to pull deferred arcs."""

classified: set[bool] = set()
"""And whether arcs say how far they lead on."""

shown: list[int] = []
"""Of every run and rank: the steps after which it requested a dense pull."""


class Noting(link.Link):
    """Notes what it is asked to count."""

    def bytes_sent(self, exchange: Any) -> Any:
        """As of a link."""
        shown.append(int(exchange["dense_pulls"]))
        return super().bytes_sent(exchange)


def draw(seed: int) -> Graph:
    """Another graph for each seed: roads, R-MAT, zero weights, floats, 64 bits; some both ways;
    hubs."""
    random, kind = np.random.default_rng(seed), seed % 7
    if kind == 0:
        return generate(f"road:{random.integers(2, 25)}x{random.integers(2, 25)}", seed=seed)
    if kind == 1:
        return generate(f"rmat:{random.integers(3, 9)},{random.integers(1, 9)}", seed=seed)
    if kind == 6:
        return hubs(random)
    count = int(random.integers(1, 300))
    greatest = (0, 1, 2**31 - 2, 1000)[kind - 2]
    whole = random_graph(count, int(random.integers(0, 8 * count)), seed, greatest)
    if kind % 2:
        whole = both_ways(whole)
    if kind == 5:
        return Graph(whole.offsets, whole.heads, (whole.weights * 0.37).astype(np.float32))
    return whole


def hubs(random: np.random.Generator) -> Graph:
    """Both ways: a chain past two hubs in different parts, whose rows are cut at every rank."""
    leaves = 4 * (ROW_CHUNK + 20)
    count, hub, other = leaves + 20, 9, leaves // 2
    tails = [np.full(leaves, hub), np.full(leaves, other), np.arange(hub)]
    heads = [20 + np.arange(leaves), 20 + random.permutation(leaves), np.arange(1, hub + 1)]
    ends = np.concatenate(tails), np.concatenate(heads)
    weights = random.integers(1, 256, len(ends[0]), dtype=np.int32)
    matrix = coo_array((np.tile(weights, 2), np.concatenate([ends, ends[::-1]], axis=1)))
    assert matrix.shape == (count, count)
    rows = matrix.tocsr()
    return Graph.from_arrays(rows.indptr, rows.indices, rows.data)


def both_ways(graph: Graph) -> Graph:
    """Each arc, and one that leads back; and a leaf at every other vertex."""
    count = graph.vertex_count
    inner = np.repeat(np.arange(count), np.diff(graph.offsets)), graph.heads, graph.weights
    hung = np.arange(0, count, 2)
    leaves = hung, count + np.arange(len(hung)), hung % 5
    tails, heads, weights = map(np.concatenate, zip(inner, leaves, strict=True))
    order = np.argsort(np.concatenate([tails, heads]), kind="stable")
    offsets = np.searchsorted(
        np.sort(np.concatenate([tails, heads])), np.arange(count + len(hung) + 1)
    )
    ends, twice = np.concatenate([heads, tails])[order], np.tile(weights, 2)[order]
    return Graph.from_arrays(offsets, ends, twice.astype(graph.weights.dtype))


def solve(graph: Graph, source: int, goal: list[int], ranks: int) -> Result | None:
    """On threads as ranks; rank 0's result."""

    def work(channel: Any) -> Result | None:
        with source_solver(channel, graph, device="cuda", mode="fused") as solver:
            result = solver.sssp(source, goal)
            device: Any = solver._graph.device
            classified.add(device.parts.graph.unit > 0)
            arcs = sum(channel.gather(device.arcs_reached()))
            if result is not None and not goal:
                assert arcs == np.diff(graph.offsets)[result.reached].sum()
            return result

    return on_ranks(ranks, work)[0]


def main(expected: str, count: int) -> None:
    for seed in range(count):
        graph = draw(seed)
        source = int(np.random.default_rng(seed).integers(graph.vertex_count))
        goal = [graph.vertex_count // 2] if seed % 3 == 1 else []
        ranks = 4 if expected == "hierarchical" else 2 + seed % 3
        result = solve(graph, source, goal, ranks)
        check(result, graph, source, expected, goal)
        assert result is not None
        prepared.update("prepared" in label for label in result.statistics["devices"])
    assert (True in prepared) == (True in classified) == bool(os.environ.get("EMULATED_PULL"))
    print(f"{count} graphs right, pulled after {sum(shown)} steps")


if __name__ == "__main__":
    link.Link = Noting  # type: ignore[misc]
    main(sys.argv[1], int(sys.argv[2]))
