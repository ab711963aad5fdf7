"""Labels: the distances between a vertex and each of its ancestors in the elimination tree.

A shortest path goes up and then down the hierarchy, so over an ancestor that both ends have in
common. A pair is the least sum over those, and both labels begin with them (hierarchical two-hop
labels: Ouyang et al., "When hierarchy meets 2-hop-labeling", 2018; for changing weights: Farhan et
al. 2023, and "Customizable tree labels", PVLDB 18, 2025).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.tails import offsets_of

STEP = 4
"""Labels begin at multiples of so many entries, so that threads load 16 bytes."""


def label_rows(hierarchy: CustomizableHierarchy) -> NDArray[np.int64]:
    """Begins of the labels by number, and the end of the last one: shape (n + 1,)."""
    widths = (np.arange(hierarchy.level_count, dtype=np.int64) // STEP + 1) * STEP
    return offsets_of(np.repeat(widths, np.diff(hierarchy.levels)))


def range_minima(values: Any, xp: Any) -> Any:
    """The minima of all ranges whose length is a power of two, shape (k, n), of ``values``, (n,).

    Row i has at place j the least of 2 ** i values from j on (Bender and Farach-Colton, "The LCA
    problem revisited", 2000); the last of each row are of shorter ranges.

    >>> range_minima(np.array([3, 1, 2]), np).tolist()
    [[3, 1, 2], [1, 1, 2]]
    """
    count = len(values)
    table = xp.empty((max(count.bit_length(), 1), count), values.dtype)
    table[0] = values
    for power in range(1, len(table)):
        half = 1 << (power - 1)
        table[power] = table[power - 1]
        xp.minimum(table[power - 1][:-half], table[power - 1][half:], out=table[power][:-half])
    return table
