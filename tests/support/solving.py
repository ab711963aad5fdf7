"""Solving on threads as ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groute_py import Graph, Result, verify
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply
from support.graphs import scipy_distances
from support.local_ranks import on_ranks

LONG_S = 600
"""A time limit that ends a hang, and no solve on a machine that others keep busy."""


def source_solver(channel: Any, graph: Graph, **options: Any) -> SourceSolver:
    """A solver of a graph that rank 0 has."""
    return SourceSolver(
        GraphSupply(graph if channel.rank == 0 else None), channel, Options(**options)
    )


def solve(
    graph: Graph,
    source: int,
    ranks: int = 1,
    patience: int = 0,
    targets: Sequence[int] = (),
    **options: Any,
) -> Result:
    """Solve on threads as ranks; rank 0's result."""

    def work(channel: Any) -> Result | None:
        return source_solver(channel, graph, **options).sssp(source, targets)

    result = on_ranks(ranks, work, patience=patience, seed=source)[0]
    assert result is not None
    return result


def checked(graph: Graph, source: int, result: Result | None) -> Result:
    """Its distances and its tree."""
    assert result is not None
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    return result
