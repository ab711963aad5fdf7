"""Launches of a kernel over the levels of an elimination tree; see ``customization/levels.cuh``."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy as cp
import numpy as np

BLOCK, LEVEL_BLOCK = 128, 1024
"""Threads of a block where a level has many, and of the one that takes narrow levels."""


class LevelLaunches:
    """Launches of a kernel, whose first arguments are the bounds of levels and which to take.

    Args:
        kernel: it takes wide levels one by one, and several narrow ones that follow each other.
        bounds: where each level begins, and the end of the last one.
        threads: of an entry of a level.
        most: entries of a narrow level.
        downward: from the roots; otherwise from the deepest level.
    """

    def __init__(
        self, kernel: Any, bounds: list[int], threads: int, most: int, *, downward: bool
    ) -> None:
        self._kernel, self._bounds = kernel, cp.asarray(np.array(bounds, np.uint32))
        spans = _spans([end - begin for begin, end in pairwise(bounds)], most)
        self._launches = []
        for first, last in spans if downward else reversed(spans):
            count = bounds[last] - bounds[first]
            is_wide = last - first == 1 and count > most
            shape = (-(-count * threads // BLOCK), BLOCK) if is_wide else (1, LEVEL_BLOCK)
            self._launches.append((np.uint32(first), np.uint32(last), *shape))

    def __call__(self, *words: Any, rows: int = 1) -> None:
        """Launch in the current stream, by a grid of so many rows of blocks."""
        for first, last, blocks, block in self._launches:
            self._kernel((blocks, rows), (block,), (self._bounds, first, last, *words))


def _spans(counts: list[int], most: int) -> list[tuple[int, int]]:
    """Spans of levels for a launch each: one with more than ``most`` entries, or several others.

    >>> _spans([1, 2, 9, 3], 3)
    [(0, 2), (2, 3), (3, 4)]
    """
    spans: list[tuple[int, int]] = []
    for level, count in enumerate(counts):
        if level and max(count, counts[level - 1]) <= most:
            spans[-1] = spans[-1][0], level + 1
        else:
            spans.append((level, level + 1))
    return spans
