"""All distances of an open graph, by labels, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py import (
    Graph,
    Positions,
    Solver,
)
from support.graphs import scipy_distances


def every_distance(graph: Graph) -> Any:
    return np.array([scipy_distances(graph, source) for source in range(graph.vertex_count)])


def check(solver: Solver, graph: Graph, algorithm: str = "labels") -> None:
    """All pairs, as routes and as a matrix, against SciPy."""
    expected, every = every_distance(graph), np.arange(graph.vertex_count)
    pairs = np.stack(np.divmod(np.arange(expected.size), graph.vertex_count), axis=1)
    routes = solver.route(Positions(pairs))
    matrix = solver.matrix(Positions(every), Positions(every[::-1]))
    if routes is None or matrix is None:
        return
    np.testing.assert_array_equal(routes.distances.reshape(expected.shape), expected)
    np.testing.assert_array_equal(matrix.distances, expected[:, ::-1])
    assert routes.statistics["algorithm"] == matrix.statistics["algorithm"] == algorithm
    assert routes.statistics["sources"] == graph.vertex_count
