"""The step of Floyd and Warshall on blocks of a matrix: paths by way of some middle vertices.

For rows i, middle vertices k and columns j, each a range (start, stop): distances[i, j] becomes the
least of itself and distances[i, k] + distances[k, j]. k is the outermost loop of a tile, so a block
of rows, middle vertices and columns that are the same is closed in one call. The inner loop is a
minimum over contiguous memory without a branch, which becomes vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel

TILE_ROWS, TILE_COLUMNS = 64, 512
"""A tile of float64 distances and the row that meets it stay in a core's cache."""


@kernel
def through(distances: Any, rows: Any, middle: Any, columns: Any) -> None:
    """Shorten the paths from ``rows`` to ``columns`` by way of ``middle``."""
    for top in range(rows[0], rows[1], TILE_ROWS):
        for start in range(columns[0], columns[1], TILE_COLUMNS):
            stop = min(start + TILE_COLUMNS, columns[1])
            for k in range(middle[0], middle[1]):
                onward = distances[k, start:stop]
                for i in range(top, min(top + TILE_ROWS, rows[1])):
                    to_middle, row = distances[i, k], distances[i, start:stop]
                    for j in range(stop - start):
                        reach = to_middle + onward[j]
                        row[j] = reach if reach < row[j] else row[j]


@kernel
def through_with_paths(distances: Any, parents: Any, rows: Any, middle: Any, columns: Any) -> None:
    """See `through`; a shortened path from i ends as the one from k does."""
    for top in range(rows[0], rows[1], TILE_ROWS):
        for start in range(columns[0], columns[1], TILE_COLUMNS):
            stop = min(start + TILE_COLUMNS, columns[1])
            for k in range(middle[0], middle[1]):
                onward, last = distances[k, start:stop], parents[k, start:stop]
                for i in range(top, min(top + TILE_ROWS, rows[1])):
                    to_middle, row = distances[i, k], distances[i, start:stop]
                    ends = parents[i, start:stop]
                    for j in range(stop - start):
                        reach = to_middle + onward[j]
                        shorter = reach < row[j]
                        row[j] = reach if shorter else row[j]
                        ends[j] = last[j] if shorter else ends[j]


@kernel
def is_tree(parents: Any, source: Any, seen: Any) -> bool:
    """Return True if the predecessors in a row, below 0 where there is none, lead to the source."""
    seen[:] = -1
    for start in range(len(parents)):
        vertex = start
        while vertex != source and seen[vertex] < 0 and parents[vertex] >= 0:
            seen[vertex] = start
            vertex = parents[vertex]
        if vertex != source and seen[vertex] == start:
            return False  # a loop
        if vertex != source and vertex != start and parents[vertex] < 0:
            return False
    return True


@kernel
def solve_row(arcs: Any, source: Any, nobody: Any, distances: Any, parents: Any) -> None:
    """Fill a row and its parents by Dijkstra's algorithm: each is closed before, so it is a tree.

    ``arcs`` (n, n) are weights that are not negative, infinite where there is no arc; ``nobody``
    stands where there is no predecessor.
    """
    distances[:], parents[:] = np.inf, nobody
    distances[source] = 0
    is_open = np.ones(len(distances), np.bool_)
    while True:
        tail, nearest = -1, np.inf
        for vertex in range(len(distances)):
            if is_open[vertex] and distances[vertex] < nearest:
                tail, nearest = vertex, distances[vertex]
        if tail < 0:
            return
        is_open[tail] = False
        for head in range(len(distances)):
            reach = nearest + arcs[tail, head]
            if is_open[head] and reach < distances[head]:
                distances[head], parents[head] = reach, tail


@kernel
def mend_trees(arcs: Any, nobody: Any, distances: Any, parents: Any) -> None:
    """Solve anew for rows whose predecessors close a loop.

    Sums through middle vertices are rounded in another order in each row, so where cycles weigh 0,
    or next to nothing, two vertices may each be the other's predecessor.
    """
    seen = np.empty(len(arcs), np.int64)
    for source in range(len(arcs)):
        if not is_tree(parents[source], source, seen):
            solve_row(arcs, source, nobody, distances[source], parents[source])
