"""The backend (entry point `networkx.backends`): conversions, dispatch decisions, the functions.

Each name in `info.FUNCTIONS` is an attribute of this module. Arguments, return values and
exceptions of the functions are those of NetworkX's functions of the same names, with these rules:

* Lengths are Python ints for integer weights, exact in 64 bits, and floats otherwise.
* ``nx.NodeNotFound``: a source or target is not a node. ``nx.NetworkXNoPath``: no path leads to it.
* ``nx.NetworkXUnbounded``: a negative cycle can be reached.
* NotImplementedError: weights or lengths that no machine number holds; NetworkX then runs its own
  function, if it may.
"""

from __future__ import annotations

from typing import Any

from groute_py.networkx.bellman_ford import (
    all_pairs_bellman_ford_path,
    all_pairs_bellman_ford_path_length,
    bellman_ford_path,
    bellman_ford_path_length,
    bellman_ford_predecessor_and_distance,
    johnson,
    negative_edge_cycle,
    single_source_bellman_ford,
    single_source_bellman_ford_path,
    single_source_bellman_ford_path_length,
)
from groute_py.networkx.centrality import (
    betweenness_centrality,
    closeness_centrality,
    edge_betweenness_centrality,
    harmonic_centrality,
)
from groute_py.networkx.dense import (
    floyd_warshall,
    floyd_warshall_numpy,
    floyd_warshall_predecessor_and_distance,
)
from groute_py.networkx.dijkstra import (
    all_pairs_dijkstra,
    all_pairs_dijkstra_path,
    all_pairs_dijkstra_path_length,
    bidirectional_dijkstra,
    dijkstra_path,
    dijkstra_path_length,
    dijkstra_predecessor_and_distance,
    multi_source_dijkstra,
    multi_source_dijkstra_path,
    multi_source_dijkstra_path_length,
    single_source_dijkstra,
    single_source_dijkstra_path,
    single_source_dijkstra_path_length,
)
from groute_py.networkx.distance_measures import (
    average_shortest_path_length,
    center,
    diameter,
    eccentricity,
    periphery,
    radius,
    voronoi_cells,
)
from groute_py.networkx.generic import shortest_path, shortest_path_length
from groute_py.networkx.graph import convert_from_nx, convert_to_nx
from groute_py.networkx.unweighted import (
    all_pairs_shortest_path,
    all_pairs_shortest_path_length,
    bidirectional_shortest_path,
    has_path,
    single_source_shortest_path,
    single_source_shortest_path_length,
    single_target_shortest_path,
    single_target_shortest_path_length,
)

SMALL = 1000
"""Up to this many edges NetworkX's own functions are at least as fast."""


def can_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why the backend cannot run the call: the weight is a function."""
    if any(callable(value) for value in (*args[1:], *kwargs.values())):
        return "a weight that is a Python function cannot be run"
    return True


def should_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
    """True, or a reason not to run; NetworkX asks before it converts a graph automatically."""
    graph = args[0] if args else kwargs["G"]
    if hasattr(graph, "number_of_edges") and graph.number_of_edges() <= SMALL:
        return f"a graph of at most {SMALL} edges is solved faster than converted"
    return True


__all__ = [
    "all_pairs_bellman_ford_path",
    "all_pairs_bellman_ford_path_length",
    "all_pairs_dijkstra",
    "all_pairs_dijkstra_path",
    "all_pairs_dijkstra_path_length",
    "all_pairs_shortest_path",
    "all_pairs_shortest_path_length",
    "average_shortest_path_length",
    "bellman_ford_path",
    "bellman_ford_path_length",
    "bellman_ford_predecessor_and_distance",
    "betweenness_centrality",
    "bidirectional_dijkstra",
    "bidirectional_shortest_path",
    "can_run",
    "center",
    "closeness_centrality",
    "convert_from_nx",
    "convert_to_nx",
    "diameter",
    "dijkstra_path",
    "dijkstra_path_length",
    "dijkstra_predecessor_and_distance",
    "eccentricity",
    "edge_betweenness_centrality",
    "floyd_warshall",
    "floyd_warshall_numpy",
    "floyd_warshall_predecessor_and_distance",
    "harmonic_centrality",
    "has_path",
    "johnson",
    "multi_source_dijkstra",
    "multi_source_dijkstra_path",
    "multi_source_dijkstra_path_length",
    "negative_edge_cycle",
    "periphery",
    "radius",
    "shortest_path",
    "shortest_path_length",
    "should_run",
    "single_source_bellman_ford",
    "single_source_bellman_ford_path",
    "single_source_bellman_ford_path_length",
    "single_source_dijkstra",
    "single_source_dijkstra_path",
    "single_source_dijkstra_path_length",
    "single_source_shortest_path",
    "single_source_shortest_path_length",
    "single_target_shortest_path",
    "single_target_shortest_path_length",
    "voronoi_cells",
]
