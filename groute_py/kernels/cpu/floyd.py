"""The step of Floyd and Warshall on blocks of a matrix: paths by way of some middle vertices.

For rows i, middle vertices k and columns j, each a range (start, stop): distances[i, j] becomes the
least of itself and distances[i, k] + distances[k, j]. k is the outermost loop of a tile, so a block
of rows, middle vertices and columns that are the same is closed in one call. The inner loop is a
minimum over contiguous memory without a branch, which becomes vector instructions.
"""

from __future__ import annotations

from typing import Any

from numba import njit

TILE_ROWS, TILE_COLUMNS = 64, 512
"""A tile of float64 distances and the row that meets it stay in a core's cache."""


@njit(cache=True, nogil=True)
def through(distances: Any, rows: Any, middle: Any, columns: Any) -> None:
    """Shorten the paths from ``rows`` to ``columns`` by way of ``middle``."""
    for top in range(rows[0], rows[1], TILE_ROWS):
        for start in range(columns[0], columns[1], TILE_COLUMNS):
            stop = min(start + TILE_COLUMNS, columns[1])
            for k in range(middle[0], middle[1]):
                onward = distances[k, start:stop]
                for i in range(top, min(top + TILE_ROWS, rows[1])):
                    to_middle, known = distances[i, k], distances[i, start:stop]
                    for j in range(stop - start):
                        reach = to_middle + onward[j]
                        known[j] = reach if reach < known[j] else known[j]


@njit(cache=True, nogil=True)
def through_with_paths(distances: Any, parents: Any, rows: Any, middle: Any, columns: Any) -> None:
    """As `through`; a shortened path from i ends as the one from k does."""
    for top in range(rows[0], rows[1], TILE_ROWS):
        for start in range(columns[0], columns[1], TILE_COLUMNS):
            stop = min(start + TILE_COLUMNS, columns[1])
            for k in range(middle[0], middle[1]):
                onward, last = distances[k, start:stop], parents[k, start:stop]
                for i in range(top, min(top + TILE_ROWS, rows[1])):
                    to_middle, known = distances[i, k], distances[i, start:stop]
                    ends = parents[i, start:stop]
                    for j in range(stop - start):
                        reach = to_middle + onward[j]
                        shorter = reach < known[j]
                        known[j] = reach if shorter else known[j]
                        ends[j] = last[j] if shorter else ends[j]
