"""What an exchange of distances has to come to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groute_py import Graph, Result, verify
from groute_py.results.reference import reference_distances


def check(
    result: Result | None, graph: Graph, source: int, expected: str, goal: Sequence[int] = ()
) -> None:
    """On rank 0: against a serial Dijkstra and, without a goal, the certificate."""
    if result is None:
        return
    right, where = reference_distances(graph, source), goal or slice(None)
    np.testing.assert_array_equal(result.distances[where], right[where])
    if not goal:
        verify(graph, result)
    assert result.statistics["mode"] in (expected, "alone"), result.statistics["mode"]
