"""`breadth_first_order`, with SciPy's signature."""

from __future__ import annotations

from typing import Any

from groute_py.arguments import vertex_number
from groute_py.csgraph.inputs import graph_of, vertices_of
from groute_py.csgraph.outputs import NOBODY
from groute_py.kernels.cpu.order import breadth_first_tree


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """Vertices in breadth-first order, in the form of `scipy.sparse.csgraph.breadth_first_order`.

    It runs on the CPU. Neighbours are visited in the order of their row and, unless ``directed``,
    then in that of their column; in a CSC array the column is first. Moore (1959).

    Args:
        csgraph: sparse or dense, shape (n, n).
        i_start: the vertex to begin with.
        directed: False to use each arc in both directions.
        return_predecessors: also return the tree.

    Returns:
        int32, shape (k,): the reachable vertices in the order of discovery; and int32, shape (n,):
        their predecessors, −9999 if there is none.

    Raises:
        InputError: wrong arguments; a ValueError.

    >>> breadth_first_order([[0, 1, 1], [0, 0, 0], [0, 0, 0]], 0)[0].tolist()
    [0, 1, 2]
    """
    if not directed and getattr(csgraph, "format", None) == "csc":
        csgraph = csgraph.T  # as SciPy does: its order is that of the columns
    graph = graph_of(csgraph, directed=directed, unweighted=True)
    begin = vertices_of(vertex_number("i_start", i_start), graph.vertex_count)
    start = int(begin)
    order, parents = breadth_first_tree(graph.offsets, graph.heads, start, NOBODY)
    return (order, parents) if return_predecessors else order
