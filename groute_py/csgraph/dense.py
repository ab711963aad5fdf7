"""`floyd_warshall`, with SciPy's signature."""

from __future__ import annotations

from typing import Any

from groute_py.csgraph.inputs import graph_of, in_floats, matrix_of
from groute_py.csgraph.outputs import NOBODY, scipy_errors
from groute_py.engine.options import Options
from groute_py.many.floyd import close_between
from groute_py.many.johnson import potentials
from groute_py.system.settings import settings


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """All pairs by blocked Floyd–Warshall, in the form of `scipy.sparse.csgraph.floyd_warshall`.

    It runs on the CPU. Floyd (1962) and Warshall (1962); negative weights are replaced by Johnson's
    potentials (1977).

    Args:
        csgraph: sparse or dense, shape (n, n).
        directed: False to use each arc in both directions.
        return_predecessors: also return the predecessors.
        unweighted: count arcs instead of adding weights.
        overwrite: write the result to ``csgraph`` if that is a float64 array in C order.

    Returns:
        float64 distances, shape (n, n), infinite if no path leads; int32 predecessors of the same
        shape if asked for, −9999 if there is none.

    Raises:
        InputError: wrong arguments; a ValueError.
        NegativeCycleError: the graph has one.

    >>> floyd_warshall([[0, 2, 0], [0, 0, -1], [0, 0, 0]])[0].tolist()
    [0.0, 2.0, 1.0]
    """
    matrix = matrix_of(csgraph, directed=directed, unweighted=unweighted, overwrite=overwrite)
    height = None
    if matrix.min(initial=0) < 0:
        with scipy_errors():
            graph = in_floats(graph_of(csgraph, directed=directed, unweighted=unweighted))
            height = potentials(graph, Options(device=settings().device))
    parents = close_between(matrix, height, NOBODY if return_predecessors else None)
    return (matrix, parents) if return_predecessors else matrix
