"""Draw what can be reached from two depots
========================================

The script draws the answer on a map, as a page for a browser. Run it by one of::

    python examples/within_reach.py
    python examples/within_reach.py map.html
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import groute_py

SIDE = 60
graph = groute_py.generate(f"road:{SIDE}x{SIDE}")
rows, columns = np.divmod(np.arange(graph.vertex_count), SIDE)
places = np.stack([columns, rows], axis=1) * 100.0  # metres east and north

depots = [(1_510, 2_980), (4_020, 3_005)]
vertices, distances = groute_py.snap(graph, depots, places, within=50, planar=True)
for vertex, distance in zip(vertices, distances, strict=True):
    print(f"vertex {vertex} is {distance:.1f} m from its depot")

found = groute_py.isochrone(
    graph, vertices, [10_000, 20_000, 30_000], coordinates=places, planar=True
)
if found is not None:
    for limit, count in zip(found.limits, found.counts, strict=True):
        print(f"{count:,} vertices are within {limit:,} of a depot")
    (reach,) = found.reaches
    areas = found.areas(reach, margin=30)
    holes = sum(len(polygon) - 1 for polygon in areas[-1])
    print(f"the last area has {len(areas[-1])} polygons, with {holes} holes")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/map.html")
        found.save(page)
        print(f"the map has {page.stat().st_size:,} bytes")
