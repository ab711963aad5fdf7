"""A partition: vertex ranges and their owners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Partition:
    """Part ``p`` owns the vertices ``bounds[p]:bounds[p + 1]``; a part may be empty."""

    bounds: NDArray[np.int64]  # int64, (parts + 1,), from 0 to n, never decreasing

    @property
    def part_count(self) -> int:
        """The number of parts."""
        return len(self.bounds) - 1

    def owner(self, vertices: Any) -> NDArray[np.int64]:
        """The part that owns each of the vertices."""
        return np.asarray(np.searchsorted(self.bounds, vertices, side="right") - 1)


Partitioner = Callable[[NDArray[np.int64], int], Partition]
"""From a graph's offsets and a number of parts to a partition."""
