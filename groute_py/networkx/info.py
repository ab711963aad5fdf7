"""The entry point `networkx.backend_info`, called when NetworkX is imported; imports nothing."""

from __future__ import annotations

from typing import Any

WHOLE = "Paths to all nodes are computed, also where only one is asked for."
COUNTED = "Edges of weight 0 that close a cycle, loops apart, are left to NetworkX."
IN_A_MATRIX = "Computed on the CPU, in a matrix of all pairs."

FUNCTIONS = {
    "all_pairs_bellman_ford_path": "",
    "all_pairs_bellman_ford_path_length": "",
    "all_pairs_dijkstra": "",
    "all_pairs_dijkstra_path": "",
    "all_pairs_dijkstra_path_length": "",
    "all_pairs_shortest_path": "",
    "all_pairs_shortest_path_length": "",
    "average_shortest_path_length": "",
    "bellman_ford_path": WHOLE,
    "bellman_ford_path_length": WHOLE,
    "bellman_ford_predecessor_and_distance": "",
    "betweenness_centrality": COUNTED,
    "bidirectional_dijkstra": WHOLE,
    "bidirectional_shortest_path": WHOLE,
    "center": "",
    "closeness_centrality": "",
    "diameter": "",
    "dijkstra_path": WHOLE,
    "dijkstra_path_length": WHOLE,
    "dijkstra_predecessor_and_distance": "",
    "eccentricity": "",
    "edge_betweenness_centrality": COUNTED,
    "floyd_warshall": IN_A_MATRIX,
    "floyd_warshall_numpy": IN_A_MATRIX,
    "floyd_warshall_predecessor_and_distance": IN_A_MATRIX,
    "harmonic_centrality": "",
    "has_path": WHOLE,
    "johnson": "",
    "multi_source_dijkstra": "",
    "multi_source_dijkstra_path": "",
    "multi_source_dijkstra_path_length": "",
    "negative_edge_cycle": "",
    "periphery": "",
    "radius": "",
    "shortest_path": "",
    "shortest_path_length": "",
    "single_source_bellman_ford": "",
    "single_source_bellman_ford_path": "",
    "single_source_bellman_ford_path_length": "",
    "single_source_dijkstra": "",
    "single_source_dijkstra_path": "",
    "single_source_dijkstra_path_length": "",
    "single_source_shortest_path": "",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path": "",
    "single_target_shortest_path_length": "",
    "voronoi_cells": "",
}
"""The functions that the backend runs, and what users should know of each."""


def get_info() -> dict[str, Any]:
    """The description of the backend."""
    return {
        "backend_name": "groute",
        "project": "groute-py",
        "package": "groute_py",
        "short_summary": "Shortest paths on one GPU or the CPU, by groute-py",
        "functions": {
            name: {"additional_docs": words} if words else {} for name, words in FUNCTIONS.items()
        },
    }
