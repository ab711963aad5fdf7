"""Distances that are known to be right, to compare those of a measured method with."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

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


def _alone() -> Any:
    """The communicator of this rank, since ranks verify different rows; None without MPI."""
    if place().size == 1:
        return None
    from mpi4py import MPI

    return MPI.COMM_SELF
