"""Small extracts of OpenStreetMap, written by pyosmium, and the same roads read in plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import asin, cos, radians, sin, sqrt
from pathlib import Path

import networkx as nx
import osmium
from osmium.osm import mutable

Place = tuple[float, float]


@dataclass
class Extract:
    """Nodes with longitude, latitude and tags, and ways with nodes and tags."""

    places: dict[int, Place]
    ways: list[tuple[list[int], dict[str, str]]]
    tags: dict[int, dict[str, str]] = field(default_factory=dict)

    def write(self, path: Path) -> Path:
        """Write it in the format of the suffix."""
        with osmium.SimpleWriter(str(path), overwrite=True) as writer:
            for node, place in sorted(self.places.items()):
                tags = self.tags.get(node, {})
                writer.add_node(mutable.Node(id=node, location=place, tags=tags))
            for number, (nodes, tags) in enumerate(self.ways, 1):
                writer.add_way(mutable.Way(id=number, nodes=nodes, tags=tags))
        return path


def grid(side: int, *, oneway_every: int = 3) -> Extract:
    """Streets of a town with two bends between crossings; every third street is one-way.

    Crossing (row, column) is node ``1000 * row + 10 * column + 1``.
    """

    def at(row: float, column: float) -> Place:
        return round(7.4 + 0.002 * column + 1e-4 * row**2, 7), round(43.7 + 0.0015 * row, 7)

    places, ways = {}, []
    for row in range(side):
        for column in range(side):
            places[1000 * row + 10 * column + 1] = at(row, column)
    for street in range(side):
        for across in (False, True):
            nodes: list[int] = []
            for step in range(side):
                row, column = (step, street) if across else (street, step)
                nodes.append(1000 * row + 10 * column + 1)
                for bend in (1, 2) if step < side - 1 else ():
                    share = bend / 3
                    node = nodes[-1] + (2 * bend if across else 2 * bend + 1)
                    away = (row + share, column + 0.1) if across else (row + 0.1, column + share)
                    places[node] = at(*away)
                    nodes.append(node)
            tags = {"highway": "residential", "maxspeed": str(30 + 10 * (street % 3))}
            if street % oneway_every == 0:
                tags["oneway"] = "-1" if across else "yes"
            ways.append((nodes, tags))
    return Extract(places, ways)


def metres(one: Place, other: Place) -> float:
    """By the haversine formula."""
    lon, lat, lon_2, lat_2 = map(radians, (*one, *other))
    half = sin((lat_2 - lat) / 2) ** 2 + cos(lat) * cos(lat_2) * sin((lon_2 - lon) / 2) ** 2
    return 2 * 6_371_008.8 * asin(sqrt(half))


def network_of(extract: Extract, *, share: float = 0.9) -> nx.MultiDiGraph:
    """All nodes of all ways, an edge for each segment; speed limits in whole km/h are followed."""
    network = nx.MultiDiGraph()
    for nodes, tags in extract.ways:
        speed = share * float(tags["maxspeed"]) / 3.6
        for a, b in pairwise(nodes):
            length = metres(extract.places[a], extract.places[b])
            edge = {"length": length, "time": 1000 * length / speed}
            if tags.get("oneway") != "-1":
                network.add_edge(a, b, **edge)
            if tags.get("oneway") != "yes":
                network.add_edge(b, a, **edge)
    return network
