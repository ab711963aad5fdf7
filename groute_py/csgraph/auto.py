"""`shortest_path`, with SciPy's signature: a method by its letter, or the choice of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from groute_py.arguments import check_choice
from groute_py.csgraph.dense import floyd_warshall
from groute_py.csgraph.inputs import arc_weights
from groute_py.csgraph.sparse import bellman_ford, dijkstra, johnson
from groute_py.errors import InputError

METHODS: dict[str, Callable[..., Any]] = {
    "FW": floyd_warshall,
    "D": dijkstra,
    "BF": bellman_ford,
    "J": johnson,
}
"""SciPy's letters."""

DENSE_SHARE = 0.25
"""With arcs for this share of all pairs or more, Floyd–Warshall is chosen, as in SciPy."""


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Shortest paths in the form of `scipy.sparse.csgraph.shortest_path`.

    Args:
        csgraph: sparse or dense, shape (n, n).
        method: ``FW`` (Floyd–Warshall), ``D`` (`dijkstra`, by Δ-stepping), ``BF`` (Bellman-Ford) or
            ``J`` (Johnson). ``auto`` takes ``FW`` for dense graphs and all sources, else ``J`` with
            negative weights and ``D`` without.
        directed: False to use each arc in both directions.
        return_predecessors: also return the predecessors.
        unweighted: count arcs instead of adding weights.
        overwrite: write the result to ``csgraph``; for Floyd–Warshall on a float64 array.
        indices: the sources, in any shape; None for all vertices. Not for Floyd–Warshall.

    Returns:
        As `dijkstra` or `floyd_warshall`: float64 distances, and int32 predecessors if asked for.

    Raises:
        InputError: wrong arguments; a ValueError.
        NegativeCycleError: the graph has one, which the method has found.

    >>> shortest_path([[0, 2, 0], [0, 0, -1], [0, 0, 0]], method="J", indices=0).tolist()
    [0.0, 2.0, 1.0]
    """
    if method == "auto":
        method = _choice(csgraph, indices)
    check_choice("method", method, ("auto", *METHODS))
    if method == "FW" and indices is not None:
        raise InputError("indices: Floyd–Warshall takes all sources; leave them out, or method J")
    given = {"overwrite": overwrite} if method == "FW" else {"indices": indices}
    return METHODS[method](
        csgraph,
        directed=directed,
        return_predecessors=return_predecessors,
        unweighted=unweighted,
        **given,
    )


def _choice(csgraph: Any, indices: Any) -> str:
    weights = arc_weights(csgraph)
    if indices is None and len(weights) >= DENSE_SHARE * np.shape(csgraph)[0] ** 2:
        return "FW"
    return "J" if bool((weights < 0).any()) else "D"
