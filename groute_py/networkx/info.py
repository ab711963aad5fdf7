"""The entry point `networkx.backend_info`, called when NetworkX is imported; imports nothing."""

from __future__ import annotations

from typing import Any

NOTES = {
    "": """
    all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length all_pairs_dijkstra
    all_pairs_dijkstra_path all_pairs_dijkstra_path_length all_pairs_shortest_path
    all_pairs_shortest_path_length average_shortest_path_length
    bellman_ford_predecessor_and_distance center closeness_centrality diameter
    dijkstra_predecessor_and_distance eccentricity harmonic_centrality johnson
    multi_source_dijkstra multi_source_dijkstra_path multi_source_dijkstra_path_length
    negative_edge_cycle periphery radius shortest_path shortest_path_length
    single_source_bellman_ford single_source_bellman_ford_path
    single_source_bellman_ford_path_length single_source_dijkstra single_source_dijkstra_path
    single_source_dijkstra_path_length single_source_shortest_path
    single_source_shortest_path_length single_target_shortest_path
    single_target_shortest_path_length voronoi_cells
    """,
    "Paths to all nodes are computed, also where only one is asked for.": """
    bellman_ford_path bellman_ford_path_length bidirectional_dijkstra bidirectional_shortest_path
    dijkstra_path dijkstra_path_length has_path
    """,
    "Edges of weight 0 that close a cycle, loops apart, are left to NetworkX.": """
    betweenness_centrality edge_betweenness_centrality
    """,
    "Computed on the CPU, in a matrix of all pairs.": """
    floyd_warshall floyd_warshall_numpy floyd_warshall_predecessor_and_distance
    """,
}
"""The functions that the backend runs, by what users should know of them."""

FUNCTIONS = {name: note for note, names in NOTES.items() for name in names.split()}


def get_info() -> dict[str, Any]:
    """The description of the backend."""
    return {
        "backend_name": "groute",
        "project": "groute-py",
        "package": "groute_py",
        "short_summary": "Shortest paths on one GPU or the CPU, by groute-py",
        "functions": {
            name: {"additional_docs": note} if note else {} for name, note in FUNCTIONS.items()
        },
    }
