"""Rows of a graph whose arcs are drawn one by one, in host memory.

`groute_py.kernels.cpu.draw` defines each arc as a function of the seed and the arc's number, so any
rank can make any rows. Arcs are drawn twice, to count the rows and to fill them, so that little but
the rows takes memory. Threads draw a block of arcs each, then share the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.facts import Size, Weighed, weighed, weighed_together
from groute_py.kernels.cpu.build import count_arcs, place_arcs
from groute_py.kernels.cpu.draw import random_arcs, rmat_arcs
from groute_py.system.threads import thread_count

BLOCK = 1 << 19
"""Arcs drawn at once; even, because R-MAT draws them in pairs."""

Arcs = tuple[NDArray[np.int32], NDArray[np.int32]]
Block = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


class RandomGraph(NamedTuple):
    """A random graph: uniform, or R-MAT with 2^scale vertices."""

    size: Size
    scale: int | None  # None for uniform
    seed: int

    def draw(self, first: int, arcs: Block) -> None:
        """Draw the arcs from number ``first`` on: tails, heads and weights."""
        if self.scale is None:
            random_arcs(np.uint64(self.seed), self.size.vertices, first, arcs)
        else:
            rmat_arcs(np.uint64(self.seed), self.scale, first, arcs)


def count_drawn(
    graph: RandomGraph, part: int = 0, parts: int = 1
) -> tuple[NDArray[Any], tuple[int, Weighed]]:
    """Count an even part of the arcs by tail, shape (n,); and look at so many weights."""
    vertices, arcs = graph.size
    blocks = -(-arcs // BLOCK)
    begin, end = (min(BLOCK * (blocks * k // parts), arcs) for k in (part, part + 1))
    counts = np.zeros(vertices + 1, np.int32 if end - begin < 2**31 else np.int64)
    weights = list[tuple[int, Weighed]]()

    def count(block: Block, rows: tuple[int, int]) -> None:
        count_arcs(block[0], rows, counts, 0)
        if rows[0] == 0:  # once for each block
            weights.append((len(block[2]), weighed(block[2])))

    _for_blocks(graph, range(begin, end), (0, vertices), count)
    return counts[:-1], (end - begin, weighed_together(weights))


def drawn_arcs(graph: RandomGraph, low: int, offsets: NDArray[np.int64]) -> Arcs:
    """The arcs of rows from that of vertex ``low`` on: heads and weights.

    ``offsets`` of these rows begin with 0.
    """
    arcs, count = range(graph.size.arcs if offsets[-1] else 0), len(offsets) - 1
    cursors = np.concatenate([offsets[:1], offsets[:-1]])
    heads, weights = (np.empty(offsets[-1], np.int32) for _ in range(2))

    def place(block: Block, rows: tuple[int, int]) -> None:
        place_arcs(block, rows, cursors, (heads, weights))

    _for_blocks(graph, arcs, (low, low + count), place)
    return heads, weights


def _for_blocks(
    graph: RandomGraph,
    arcs: range,
    rows: tuple[int, int],
    use: Callable[[Block, tuple[int, int]], None],
) -> None:
    """Call ``use`` for all blocks of some arcs in order, each range of rows in an own thread.

    Rows and tails then count from the first of the rows.
    """
    threads, (low, high) = thread_count(), rows
    ranges = list(pairwise((high - low) * k // threads for k in range(threads + 1)))
    buffers = [np.empty((3, min(BLOCK, len(arcs))), np.int32) for _ in range(threads)]

    def drawn(first: int, buffer: NDArray[np.int32]) -> Block:
        tails, heads, weights = buffer[:, : min(BLOCK, arcs.stop - first)]
        graph.draw(first, (tails, heads, weights))
        tails -= np.int32(low)
        return tails, heads, weights

    with ThreadPoolExecutor(threads) as pool:
        for first in range(arcs.start, arcs.stop, threads * BLOCK):
            firsts = range(first, min(first + threads * BLOCK, arcs.stop), BLOCK)
            blocks = list(pool.map(drawn, firsts, buffers))

            def used(some: tuple[int, int], blocks: list[Block] = blocks) -> None:
                for block in blocks:
                    use(block, some)

            list(pool.map(used, ranges))
