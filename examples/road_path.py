"""Find the farthest vertex of a road graph
========================================

The script solves from the middle of a generated road graph, checks the answer, and saves it. Run it
by one of::

    python examples/road_path.py
    python examples/road_path.py 1000x1000
"""

import sys
import tempfile
from pathlib import Path

import groute_py

size = sys.argv[1] if len(sys.argv) > 1 else "200x200"
width, height = (int(number) for number in size.split("x"))
graph = groute_py.generate(f"road:{size}")
print(graph)

source = height // 2 * width + width // 2  # the middle of the grid: vertex y · width + x
result = groute_py.sssp(graph, source)
assert result is not None
groute_py.verify(graph, result)

farthest = max(result.reached.nonzero()[0], key=lambda v: result.distances[v])
path = result.path_to(int(farthest))
print(f"{result.reached.sum():,} of {graph.vertex_count:,} vertices can be reached")
far = f"{result.distances[farthest]:,}"
print(f"the farthest is vertex {path[-1]}, at distance {far}, {len(path) - 1} arcs away")
print(f"by {result.statistics['algorithm']}, Δ {result.statistics['delta']}")

with tempfile.TemporaryDirectory() as folder:
    result.save(Path(folder) / "road.npz")
    print(f"saved in {(Path(folder) / 'road.npz').stat().st_size:,} bytes")
