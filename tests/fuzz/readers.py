"""How an input of each kind is read, and what has to hold when that succeeds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fuzz.invariants import check_graph, check_round_trip, require, require_same
from fuzz.seeds import WRITTEN_NS
from groute_py import Graph, Positions, Result, read_graph, sssp, verify
from groute_py.graph.ids import Numbering
from groute_py.io.cache import copy_name
from groute_py.io.coordinates import places_in_table, read_coordinates
from groute_py.io.formats.tntp import read_trips
from groute_py.io.graph_file import GraphFile
from groute_py.io.pairs import read_pairs, read_pairs_in, read_sources
from groute_py.io.points import read_point_pairs, read_points
from groute_py.results import result as results


def read_any_graph(path: Path) -> None:
    """Read a graph; what its file promises before has to be what it has."""
    size = GraphFile(path, cache=False).size()
    graph = read_graph(path, cache=False)
    check_graph(graph)
    promised = graph.vertex_count if size is None else size.vertices
    require(promised == graph.vertex_count, "the file promises as many vertices as it has")
    check_round_trip(graph, path.parent)


def read_beside_vertices(path: Path) -> None:
    """The input is the list of vertices; the edges lie beside it."""
    read_any_graph(path.with_suffix(".e"))


def read_through_cache(path: Path) -> None:
    """The input stands where the copy of a text belongs: the text's graph has to come."""
    text, folder = path.parent / "text.gr", path.parent / "copies"
    folder.mkdir(mode=0o700)
    os.utime(text, ns=(WRITTEN_NS, WRITTEN_NS))
    right = read_graph(text, cache=folder)
    (copy,) = folder.iterdir()
    require(copy.name == copy_name(text), "the copy has its name")
    copy.write_bytes(path.read_bytes())
    read = read_graph(text, cache=folder)
    check_graph(read)
    require_same(read, right, "a copy that was changed is believed")


def read_result(path: Path) -> None:
    """As ``groute-py verify``: what passes has to be the answer."""
    graph, result = read_graph(path.parent / "graph.gr", cache=False), results.read_result(path)
    verify(graph, result)
    answer = sssp(graph, Positions(result.source), device="cpu")
    assert isinstance(answer, Result)
    actual = [d if r else None for d, r in zip(result.distances, result.reached, strict=True)]
    right = [d if r else None for d, r in zip(answer.distances, answer.reached, strict=True)]
    require(actual == right, "verify passes distances that are wrong")
    for vertex in range(graph.vertex_count) if result.predecessors is not None else ():
        require(
            bool(result.path_to(Positions(vertex))) == result.reached[vertex],
            "paths lead to the reached",
        )


def read_places(path: Path) -> None:
    """Coordinates of three vertices."""
    require(read_coordinates(path, 3).shape == (3, 2), "a place for each vertex")


def read_table_of_places(path: Path) -> None:
    """Places of vertices 1 to 3."""
    places = places_in_table(path, Graph.from_arrays([0, 0, 0, 0], [], [], first_id=1))
    require(places.shape == (3, 2) and np.isfinite(places).all(), "a place for each vertex")


def read_trips_of_zones(path: Path) -> None:
    """Flows are finite."""
    trips = read_trips(path)
    require(len(trips.origins) == len(trips.flows), "a zone for each flow")
    require(bool(np.isfinite(trips.flows).all()), "flows are finite")


def read_table_of_pairs(path: Path) -> None:
    """Pairs of vertices 1 to 3."""
    pairs = read_pairs_in(path, Numbering(3, first=1), "three vertices")
    require(pairs.shape[1:] == (2,) and (pairs >= 0).all() and (pairs < 3).all(), "pairs")


def read_places_of_points(path: Path) -> None:
    """Points, or pairs of them, lie somewhere."""
    pairs = read_point_pairs(path)
    for points in (read_points(path),) if pairs is None else pairs[:2]:
        require(points.coordinates.shape == (len(points.names), 2), "a name for each point")
        require(bool(np.isfinite(points.coordinates).all()), "places are finite")


def read_ss(path: Path) -> None:
    """Sources are ids of vertices."""
    require((read_sources(path) >= 0).all(), "sources are not negative")


def read_p2p(path: Path) -> None:
    """Pairs are ids of vertices."""
    require((read_pairs(path) >= 0).all(), "sources and targets are not negative")


READERS: dict[str, Callable[[Path], None]] = {
    "graph": read_any_graph,
    "vertices": read_beside_vertices,
    "cached": read_through_cache,
    "result": read_result,
    "sources": read_ss,
    "pairs": read_p2p,
    "places": read_places,
    "places in a table": read_table_of_places,
    "trips": read_trips_of_zones,
    "pairs in a table": read_table_of_pairs,
    "points": read_places_of_points,
}
"""Take the input's path; raise an error of groute-py, or anything else, which is a fault."""
