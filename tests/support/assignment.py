"""Small networks for traffic assignment, and its answers from first principles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from groute_py import (
    BPR,
    Assignment,
    Graph,
)
from groute_py.assignment.ranks import MAKERS
from groute_py.device.loading import PARTS, Load, Origins
from groute_py.graph.arrays import host_array
from groute_py.graph.hierarchy.separators.customizable import customizable

BRAESS = ([0, 2, 4, 5, 5], [1, 2, 2, 3, 3], [1, 1, 1, 1, 1])
"""From 0 to 3 by 1 or by 2, and a bridge from 1 to 2."""

TIMES = BPR(np.ones(5), 1)


def loaded(device: str, graph: Graph, costs: NDArray[np.float64], trips: Origins) -> Load:
    """The outcome of one loading, with flows on the host."""
    loading: Any = MAKERS[device](0, False)
    own = loading(customizable(graph), 0)
    own.customize(costs)
    load: Load = own.unpack(trips, [own.parts(trips, range(PARTS))])
    return load._replace(flows=host_array(load.flows))


def shortest(
    graph: Graph, costs: NDArray[np.float64], origin: Any, zones: int = 0
) -> NDArray[np.float64]:
    """Distances by SciPy, from one origin or several; of parallel arcs the cheapest counts.

    Arcs to the first vertices, which are zones, end at further vertices behind all others.
    """
    count = graph.vertex_count
    matrix = np.full((count + zones,) * 2, np.inf)
    heads = np.where(graph.heads < zones, graph.heads.astype(np.int64) + count, graph.heads)
    np.minimum.at(matrix, (graph.tails(), heads), costs)
    rows, columns = np.nonzero(np.isfinite(matrix))
    sparse = csr_array((matrix[rows, columns], (rows, columns)), shape=matrix.shape)
    return np.asarray(dijkstra(sparse, indices=origin))


def gap_of(
    graph: Graph, answer: Assignment, trips: Any, costs: NDArray[np.float64], zones: int = 0
) -> float:
    """The relative gap from first principles; no path leads through the first vertices, zones."""
    is_loaded = trips[0] != trips[1]
    origins, ends, amounts = (some[is_loaded] for some in trips)
    ends = np.where(ends < zones, ends + graph.vertex_count, ends)
    own, rows = np.unique(origins, return_inverse=True)
    least = float(amounts @ shortest(graph, costs, own, zones)[rows, ends])
    cost = float(costs @ answer.class_flows[0])
    return (cost - least) / cost


def missing(graph: Graph, flows: NDArray[np.float64], trips: Any) -> float:
    """By how much flows miss the trips at the worst vertex."""
    origins, destinations, amounts = trips
    count = graph.vertex_count
    balance = np.bincount(graph.tails(), flows, count) - np.bincount(graph.heads, flows, count)
    balance -= np.bincount(origins, amounts, count) - np.bincount(destinations, amounts, count)
    return float(np.abs(balance).max())
