"""Rows of many sources, held against SciPy."""

from __future__ import annotations

import numpy as np

from groute_py import Graph, Result, SourceRows, verify
from support.graphs import scipy_distances


def check_rows(graph: Graph, rows: SourceRows | None) -> None:
    """Against SciPy, and the certificate of each row."""
    assert rows is not None
    for row, source in enumerate(rows.sources.tolist()):
        wanted = scipy_distances(graph, source)
        if graph.weights.dtype.kind == "f":
            np.testing.assert_allclose(rows.distances[row], wanted, rtol=1e-5)
        else:
            np.testing.assert_array_equal(rows.distances[row], wanted)
        if rows.predecessors is not None:
            parents = rows.predecessors[row].astype(np.int64)
            verify(graph, Result(source, rows.distances[row], parents))
