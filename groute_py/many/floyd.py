"""All pairs on a dense matrix by blocked Floyd–Warshall, on the CPU.

For each block of middle vertices: close the block itself, then its rows, then let all other rows go
through it, first to the columns of the block. No two of these share a row, so threads work on them
at once. Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm"
(2003).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu import floyd

BLOCK = 64
"""Middle vertices taken at once."""

ALONE = 256
"""Up to this many vertices threads cost more time than they save."""

Range = tuple[int, int]
"""Start and stop of consecutive vertices."""

Step = Callable[[Range, Range, Range], None]
"""Shorten the paths from some rows, by way of some middle vertices, to some columns."""


def close(distances: NDArray[np.float64]) -> None:
    """Turn a matrix of arcs into one of distances, in place.

    Args:
        distances: float64, shape (n, n), C order: the weight of the arc i → j, infinite where there
            is none, 0 on the diagonal. None may be negative.

    >>> matrix = np.array([[0, 1, 9], [np.inf, 0, 2], [np.inf, np.inf, 0]])
    >>> close(matrix)
    >>> matrix[0].tolist()
    [0.0, 1.0, 3.0]
    """

    def step(rows: Range, middle: Range, columns: Range) -> None:
        floyd.through(distances, rows, middle, columns)

    _sweep(len(distances), step)


def close_with_paths(distances: NDArray[np.float64], nobody: int) -> NDArray[np.int32]:
    """As `close`; also finds the predecessor of j on a shortest path from i, a tree in each row.

    Args:
        distances: as for `close`.
        nobody: what stands where there is none: on the diagonal, and where no path leads.

    Returns:
        int32, shape (n, n).
    """
    arcs = distances.copy()
    tails = np.arange(len(distances), dtype=np.int32)[:, np.newaxis]
    parents = np.where(np.isinf(distances), np.int32(nobody), tails)
    np.fill_diagonal(parents, nobody)

    def step(rows: Range, middle: Range, columns: Range) -> None:
        floyd.through_with_paths(distances, parents, rows, middle, columns)

    _sweep(len(distances), step)
    floyd.mend_trees(arcs, nobody, distances, parents)
    return parents


def _sweep(count: int, step: Step) -> None:
    threads = 1 if count <= ALONE else len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, count, BLOCK):
            block = start, min(start + BLOCK, count)
            step(block, block, block)
            step(block, block, (0, count))
            others = _parts((0, start), threads) + _parts((block[1], count), threads)
            list(pool.map(partial(_by_way_of, step, block, count), others))


def _by_way_of(step: Step, block: Range, count: int, rows: Range) -> None:
    step(rows, block, block)
    step(rows, block, (0, count))


def _parts(rows: Range, count: int) -> list[Range]:
    """Cut rows into at most ``count`` ranges, none of them empty."""
    cuts = np.linspace(*rows, count + 1).astype(int).tolist()
    return [part for part in pairwise(cuts) if part[0] < part[1]]
