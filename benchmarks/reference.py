"""Answers that are known to be right, to compare those of a measured method with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.comparison import comparable
from groute_py import Graph, Result, sssp, verify
from groute_py.graph.hierarchy.prepared import without_hierarchy
from groute_py.results.reference import reference_distances
from groute_py.system.environment import place

SERIAL_UP_TO = 10_000_000
"""Arcs of a graph on which a serial Dijkstra takes seconds."""


def right_distances(graph: Graph, source: int) -> NDArray[Any]:
    """Distances from a vertex, in the types of `groute_py.Result`.

    Those of a serial Dijkstra, or, in a large graph, of near-far with a tree that the optimality
    certificate proves.

    Raises:
        VerificationError: near-far is wrong.
    """
    if graph.arc_count <= SERIAL_UP_TO:
        return reference_distances(graph, source)
    plain = without_hierarchy(graph).to_host()
    result = sssp(plain, source, algorithm="delta-stepping", comm=_alone())
    assert isinstance(result, Result)
    verify(plain, result)
    return result.distances


def right_closeness(row: NDArray[np.float64]) -> float:
    """Return the closeness of a vertex from its distances, infinite where unreached."""
    there = row[np.isfinite(row)]
    return (len(there) - 1) / float(there.sum()) if there.any() else 0.0


def right_dependencies(graph: Graph, source: int) -> NDArray[np.float64]:
    """Return the dependencies of a source on all vertices (Brandes, 2001); no weight is 0.

    Counts of paths, and shares in the paths to other vertices, solve linear equations over the
    tight arcs: those that shortest paths take.
    """
    from scipy.sparse import csr_array

    row, tails, heads = comparable(right_distances(graph, source)), graph.tails(), graph.heads
    is_tight = np.isfinite(row[tails]) & (row[tails] + graph.weights == row[heads])
    ends = tails[is_tight], heads[is_tight]
    tight = csr_array((np.ones(len(ends[0])), ends), shape=2 * (len(row),))
    tight.data[:] = 1.0  # of parallel arcs too
    is_source = np.arange(len(row)) == source
    paths = _solved(tight.T, is_source.astype(float))
    shares = _solved(tight, np.divide(1.0, paths, out=np.zeros_like(paths), where=paths > 0))
    return np.where(is_source, 0.0, paths * (tight @ shares))


def _solved(matrix: Any, begun: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x = begun + matrix @ x, for a matrix some power of which is 0."""
    values, before = begun, np.zeros_like(begun)
    while not np.array_equal(values, before):
        values, before = begun + matrix @ values, values
    return values


def _alone() -> Any:
    """The communicator of this rank, since ranks verify different rows; None without MPI."""
    if place().size == 1:
        return None
    from mpi4py import MPI

    return MPI.COMM_SELF
