"""`scipy.sparse.csgraph`'s shortest paths, solved by groute_py.

The functions take and return what SciPy's of the same names do: float64 distances, infinite where
no path leads, and int32 predecessors, −9999 where there is none. A program changes its import line:

>>> from groute_py.csgraph import dijkstra
>>> dijkstra([[0, 2, 9], [0, 0, 3], [0, 0, 0]], indices=0).tolist()
[0.0, 2.0, 5.0]

They solve in the calling process, and large graphs on a GPU if there is one. The environment
variable GROUTE_PY_DEVICE (cpu, cuda) overrides that.
"""

from groute_py.csgraph.conversion import NegativeCycleError
from groute_py.csgraph.functions import (
    bellman_ford,
    breadth_first_order,
    dijkstra,
    floyd_warshall,
    johnson,
    shortest_path,
)

__all__ = [
    "NegativeCycleError",
    "bellman_ford",
    "breadth_first_order",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "shortest_path",
]
