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


class LabelShares:
    """All labels, in as many shares as ranks hold them: each those of a range of the preorder.

    The label of a vertex follows from those of its ancestors. These are in the range, or are
    ancestors of its first vertex. So a share, which has the labels of those too, needs no other.

    Attributes:
        bounds: where each range begins, then n: shape (count + 1,). All have about as many entries.
    """

    def __init__(self, hierarchy: CustomizableHierarchy, count: int) -> None:
        self._hierarchy = hierarchy
        widths = (np.arange(hierarchy.level_count, dtype=np.int64) // STEP + 1) * STEP
        self._widths = np.repeat(widths, np.diff(hierarchy.levels))
        by_preorder = np.empty_like(self._widths)
        by_preorder[hierarchy.preorder] = self._widths
        ends = offsets_of(by_preorder)
        self.bounds = np.searchsorted(ends, np.arange(count) * ends[-1] // count)
        self.bounds = np.append(self.bounds, hierarchy.vertex_count)

    def begins(self, share: int) -> NDArray[np.int64]:
        """The begins of labels in a share, by number, and its size at the end: shape (n + 1,).

        A label that it does not have is empty. Those of one depth that it has lie together.
        """
        has, hierarchy = self._range(share), self._hierarchy
        if has.any():
            vertex = int((hierarchy.preorder == self.bounds[share]).argmax())
            while (arc := hierarchy.offsets[vertex]) < hierarchy.offsets[vertex + 1]:
                vertex = int(hierarchy.heads[arc])
                has[vertex] = True
        return offsets_of(np.where(has, self._widths, 0))

    def rows(self, bases: NDArray[np.int64]) -> NDArray[np.int64]:
        """The begin of each vertex's label, by number, in the share whose range has it: (n,).

        ``bases``, (count,), are added: the begins of the shares.
        """
        rows = np.empty(self._hierarchy.vertex_count, np.int64)
        for share, base in enumerate(bases.tolist()):
            own = self._range(share)
            rows[own] = self.begins(share)[:-1][own] + base
        return rows

    def _range(self, share: int) -> NDArray[np.bool_]:
        """Marks of the vertices of a range, by number."""
        places, (first, stop) = self._hierarchy.preorder, self.bounds[share : share + 2]
        marks: NDArray[np.bool_] = (first <= places) & (places < stop)
        return marks


def depth_minima(hierarchy: CustomizableHierarchy, xp: Any) -> Any:
    """The least depths, uint16, of ranges of the preorder; see `range_minima`."""
    depths = np.empty(hierarchy.vertex_count, np.uint16)
    depths[hierarchy.preorder] = hierarchy.depths()
    return range_minima(xp.asarray(depths), xp)


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
