"""How many vertices the paths through each vertex of a shortest-path tree lead to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def descendants(predecessors: NDArray[np.int64]) -> NDArray[np.int64]:
    """The vertices of the subtree at each vertex, itself included.

    Leaves are taken away, level by level, so vertices on a cycle, of a damaged file, keep what
    they have.

    Args:
        predecessors: int64, shape (n,); −1 for none.

    Returns:
        int64, shape (n,).

    >>> descendants(np.array([-1, 0, 1, 1])).tolist()
    [4, 3, 1, 1]
    """
    parents = predecessors >= 0
    children = np.bincount(predecessors[parents], minlength=len(predecessors))
    sizes = np.ones(len(predecessors), np.int64)
    leaves = np.flatnonzero(parents & (children == 0))
    while len(leaves):
        above = predecessors[leaves]
        np.add.at(sizes, above, sizes[leaves])
        np.subtract.at(children, above, 1)
        bare = np.unique(above[children[above] == 0])
        leaves = bare[parents[bare]]
    return sizes
