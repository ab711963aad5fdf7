"""Solve graphs of SciPy and NetworkX
==================================

The answers are compared with those of SciPy and NetworkX. Needs both. Run it by::

    python examples/scipy_and_networkx.py
"""

import networkx as nx
import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import dijkstra

import groute_py

# SciPy: entry (u, v) of a sparse array is the weight of the arc u → v
random = np.random.default_rng(1)
array = sparse.random_array((1000, 1000), density=0.005, rng=random, format="csr")
result = groute_py.sssp(array, 0)
assert result is not None
assert np.allclose(result.distances, dijkstra(array, indices=0))
most = result.distances[result.reached].max()
print(f"SciPy: {result.reached.sum()} vertices, the farthest at {most:.4f}")

# NetworkX: nodes are ids
network = nx.les_miserables_graph()
result = groute_py.sssp(network, "Valjean")
assert result is not None
for name in ("Gavroche", "Jondrette"):
    print(f"Valjean to {name}: {result.distance_to(name)} by", result.path_to(name))
    assert result.distance_to(name) == nx.dijkstra_path_length(network, "Valjean", name)
