"""Graphs as OSMnx makes and saves them: places of nodes, several weights, numbers that are text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import groute_py
from groute_py import GraphError

PLACES = {53017091: (7.4174, 43.7316), 21911883: (7.4189, 43.7322), 7: (7.42, 43.7375)}


@pytest.fixture
def network() -> Any:
    """As OSMnx makes one: a multigraph with ``x`` and ``y`` of nodes, and edges with several."""
    made = nx.MultiDiGraph(crs="epsg:4326", created_with="OSMnx 2.0.1")
    for node, (x, y) in PLACES.items():
        made.add_node(node, x=x, y=y, street_count=3)
    first, second, third = PLACES
    made.add_edge(first, second, length=137.5, travel_time=9.9, oneway=False)
    made.add_edge(first, second, length=120.25, travel_time=20.5, oneway=False)
    made.add_edge(second, third, length=600.0, travel_time=40.0, oneway=True)
    return made


def saved(network: Any, path: Path) -> Any:
    """Through a file as OSMnx writes it: every attribute is text."""
    text = nx.MultiDiGraph(**network.graph)
    text.add_nodes_from((n, {k: str(v) for k, v in d.items()}) for n, d in network.nodes(data=True))
    text.add_edges_from(
        (a, b, {k: str(v) for k, v in data.items()}) for a, b, data in network.edges(data=True)
    )
    nx.write_graphml(text, path)
    return nx.read_graphml(path)


@pytest.mark.parametrize("from_file", [False, True])
def test_in_one_call(network: Any, tmp_path: Path, from_file: bool) -> None:
    if from_file:
        network = saved(network, tmp_path / "town.graphml")
    result = groute_py.sssp(network, next(iter(network)), weight="travel_time", device="cpu")
    assert result is not None
    assert result.distances.tolist() == [0, 9.9, 49.9]
    assert result.to_frame()[["x", "y"]].to_numpy().tolist() == [list(p) for p in PLACES.values()]
    assert result.attribution == "© OpenStreetMap contributors, ODbL"
    by_length = groute_py.sssp(network, next(iter(network)), weight="length", device="cpu")
    assert by_length is not None
    assert by_length.distances.tolist() == [0, 120.25, 720.25]
    with pytest.raises(GraphError, match="weights may be length or travel_time"):
        groute_py.sssp(network, 0, device="cpu")


@pytest.mark.parametrize("name", ["value", "dist", "time", "Length (km)", "duration"])
def test_weights_are_named_as_the_titles_of_tables(name: str) -> None:
    network = nx.DiGraph([("a", "b", {name: 7, "id": 3}), ("b", "c", {name: 8})])
    result = groute_py.sssp(network, "a", device="cpu")
    assert result is not None
    assert result.distances.tolist() == [0, 7, 15]
    network.edges["a", "b"]["cost"] = 1
    with pytest.raises(GraphError, match=re.escape(f"weights may be {name} or cost; choose one")):
        groute_py.sssp(network, "a", device="cpu")


def test_whole_numbers_in_text_stay_whole() -> None:
    network = nx.DiGraph([("a", "b", {"weight": "3"}), ("b", "c", {"weight": 4})])
    result = groute_py.sssp(network, "a", device="cpu")
    assert result is not None
    assert (result.distances.tolist(), result.distances.dtype.kind) == ([0, 3, 7], "i")


def test_text_beside_numbers() -> None:
    """Text that is a whole number does not round the numbers that are none."""
    network = nx.DiGraph([("a", "b", {"weight": "3"}), ("b", "c", {"weight": 1.5})])
    result = groute_py.sssp(network, "a", device="cpu")
    assert result is not None
    assert result.distances.tolist() == [0, 3, 4.5]


def test_words_are_no_weights() -> None:
    network = nx.DiGraph([("a", "b", {"weight": "3"}), ("b", "c", {"weight": "far"})])
    with pytest.raises(GraphError, match="an edge's weight is None, text or beyond 64 bits"):
        groute_py.sssp(network, "a", device="cpu")


@pytest.mark.parametrize(
    "place",
    [{}, {"x": 1}, {"x": "here", "y": 2}, {"x": 1, "y": float("inf")}, {"x": np.zeros(3), "y": 2}],
)
def test_nodes_without_places(place: dict[str, Any]) -> None:
    """Coordinates are of all vertices, or of none."""
    network = nx.DiGraph([(0, 1, {"weight": 3})])
    network.nodes[0].update(x=1, y=2)
    network.nodes[1].update(place)
    result = groute_py.sssp(network, 0, device="cpu")
    assert result is not None
    assert result.coordinates is None
    assert result.attribution == ""
