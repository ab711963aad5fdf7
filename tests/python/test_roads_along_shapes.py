"""Isochrones and pictures of graphs whose arcs have shapes: lines lead along these."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.pages import layers_of

import groute_py
from groute_py import Graph, Isochrones
from groute_py.graph.geography import Shapes
from groute_py.graph.turns.expanded import expanded
from groute_py.jobs.route import RouteJob
from groute_py.maps.drawings import Network
from groute_py.maps.lines import Ground, segments_of, shapes_between, whole_arcs
from groute_py.maps.reach import ReachView

BEND = [(0.0, 8.0), (16.0, 8.0)]


def bent(scale: Any = (1, 1)) -> Graph:
    """A road from (0, 0) over two corners to (16, 0), both ways, and a straight one on to (32, 0).

    Either takes as long as it is.
    """
    graph = Graph.from_arrays([0, 1, 3, 4], [1, 0, 2, 1], [32, 32, 16, 16])
    lines = np.array([0, ~0, 1, 1])
    shapes = Shapes(lines, np.array([0, 2, 2]), np.array(BEND) * scale)
    places = np.array([(0.0, 0.0), (16.0, 0.0), (32.0, 0.0)]) * scale
    return graph.changed(coordinates=places, shapes=shapes)


def reached(graph: Graph, sources: list[int], *limits: float, **options: Any) -> Isochrones:
    result = groute_py.isochrone(graph, sources, limits, device="cpu", **options)
    assert result is not None
    return result


def lines_of(result: Isochrones) -> dict[tuple[int, int, int], list[Any]]:
    """The points of each part, by its tail, head and band."""
    pieces = result.pieces(result.reaches[0])
    segments = segments_of(pieces, ReachView(result).ground)
    lines: dict[tuple[int, int, int], list[Any]] = {}
    for (begin, end), piece in zip(segments.ends.tolist(), segments.pieces.tolist(), strict=True):
        key = tuple(int(c[piece]) for c in (pieces.tails, pieces.heads, pieces.bands))
        lines.setdefault(key, [begin]).append(end)  # type: ignore[arg-type]
    return lines


def test_a_limit_falls_within_a_shape() -> None:
    """After 4, 16 and 32 of 32: before the first corner, between both, and at the end."""
    result = reached(bent(), [0], 4, 16, 32, planar=True)
    assert lines_of(result) == {
        (0, 1, 0): [[0, 0], [0, 4]],
        (0, 1, 1): [[0, 4], [0, 8], [8, 8]],
        (0, 1, 2): [[8, 8], [16, 8], [16, 0]],
    }


def test_towards_a_source() -> None:
    """Parts end at the source; those of the way back are passed by the same line."""
    result = reached(bent(), [0], 16, planar=True, reverse=True)
    assert lines_of(result) == {(1, 0, 0): [[8, 8], [0, 8], [0, 0]]}
    both = reached(bent(), [1], 8, planar=True)
    assert lines_of(both) == {(1, 0, 0): [[16, 0], [16, 8]], (1, 2, 0): [[16, 0], [24, 0]]}


def test_cuts_are_measured_on_the_ground() -> None:
    """At latitude 60 a degree of longitude is half as long as one of latitude."""
    graph = Graph.from_arrays([0, 1, 1], [1], [20])
    shapes = Shapes(np.array([0]), np.array([0, 1]), np.array([(0.0, 60.01)]))
    graph = graph.changed(coordinates=np.array([(0.0, 60.0), (0.02, 60.01)]), shapes=shapes)
    result = reached(graph, [0], 15)
    ((_, corner, end),) = lines_of(result).values()
    assert corner == [0, 60.01]
    np.testing.assert_allclose(end, [0.01, 60.01], atol=1e-5)


def test_straight_at_other_places() -> None:
    """Shapes belong to the graph's own coordinates."""
    places = np.array([(0.0, 0.0), (30.0, 0.0), (40.0, 0.0)])
    result = reached(bent(), [0], 16, planar=True, coordinates=places)
    assert lines_of(result) == {(0, 1, 0): [[0, 0], [15, 0]]}


def test_loops_and_shapes_without_a_length() -> None:
    """A road may end where it begins; one whose points are all one is cut nowhere."""
    graph = Graph.from_arrays([0, 1, 1], [0], [4])
    shapes = Shapes(np.array([0]), np.array([0, 2]), np.array([(0.0, 4.0), (4.0, 0.0)]))
    graph = graph.changed(coordinates=np.zeros((2, 2)), shapes=shapes)
    ((*_, end),) = lines_of(reached(graph, [0], 2, planar=True)).values()
    np.testing.assert_allclose(end, [2, 2])
    still = graph.changed(shapes=shapes._replace(points=np.zeros((2, 2))))
    assert np.isfinite(list(lines_of(reached(still, [0], 2, planar=True)).values())).all()


def test_files(tmp_path: Path) -> None:
    result = reached(bent(), [0], 16, 32, planar=True)
    result.save(tmp_path / "arcs.geojson", features="arcs")
    features = json.loads((tmp_path / "arcs.geojson").read_text())["features"]
    lines = [feature["geometry"]["coordinates"] for feature in features]
    assert lines == [[[0, 0], [0, 8], [8, 8]], [[8, 8], [16, 8], [16, 0]]]
    assert features[0]["properties"] == {"tail": 0, "head": 1, "limit": 16, "begin": 0, "end": 0.5}
    result.save(tmp_path / "arcs.csv", features="arcs")
    with open(tmp_path / "arcs.csv", newline="", encoding="utf-8") as file:
        row, *_ = csv.DictReader(file)
    ends = [float(row[name]) for name in ("begin_x", "begin_y", "end_x", "end_y")]
    assert ends == [0, 0, 8, 8]


def test_areas_and_the_page(tmp_path: Path) -> None:
    result = reached(bent(), [0], 16, 32, planar=True)
    near, far = result.areas(result.reaches[0], margin=1)
    assert max(ring[:, 1].max() for polygon in near for ring in polygon) == pytest.approx(9, 0.1)
    assert len(far) == 1
    result.save(tmp_path / "map.html", margin=1)
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    roads = layers_of(page)["roads"][0]["geometry"]["coordinates"]
    # of one road, once for both ways; the other leaves the map
    assert roads == [[[0, 0], [0, 8]], [[0, 8], [16, 8]], [[16, 8], [16, 0]]]


def test_pixels_lie_along_the_shape() -> None:
    graph = bent((1e6, 1e6))
    assert graph.coordinates is not None
    arcs = whole_arcs(np.array([0, 1]), np.array([1, 2]))
    shapes = shapes_between(graph, arcs.tails, arcs.heads)
    network = Network(graph.coordinates, arcs, 33, shapes)
    assert (network.frame.width, network.frame.height) == (33, 9)
    drawn = network.covered()
    assert drawn[:, 0].all()
    assert drawn[8, :17].all()
    assert drawn[0, 17:].all()
    assert not drawn[0, 3:14].any()
    result = network.mean(np.array([0.0, 32.0, 48.0]), np.ones(3, np.bool_))
    np.testing.assert_allclose(result[[4, 8, 4, 0], [0, 8, 16, 24]], [4, 16, 28, 40], atol=1)


def test_lines_between_pairs() -> None:
    """Of parallel arcs the lightest counts; against it the line is turned; others are straight."""
    graph = Graph.from_arrays([0, 2, 2, 2], [1, 1], [9, 4])
    shapes = Shapes(np.array([0, 1]), np.array([0, 1, 3]), np.array([(5.0, 5), (1, 1), (2, 2)]))
    graph = graph.changed(coordinates=np.array([(0.0, 0), (3, 3), (9, 9)]), shapes=shapes)
    ends = np.array([0, 2]), np.array([1, 1])
    for turned in (False, True):
        arcs = whole_arcs(*(ends[::-1] if turned else ends))
        result = shapes_between(graph, arcs.tails, arcs.heads, is_reversed=turned)
        assert result is not None
        line = [[2, 2], [1, 1]] if turned else [[1, 1], [2, 2]]
        assert result.of(0).tolist() == line
        assert result.of(1).tolist() == []
        segments = segments_of(arcs, Ground(graph.coordinates, result))  # type: ignore[arg-type]
        assert segments.pieces.tolist() == [0, 0, 0, 1]
        bend, places = [[*map(float, point)] for point in line], graph.coordinates.tolist()  # type: ignore[union-attr]
        first, second = ([places[int(end)] for end in side] for side in (arcs.tails, arcs.heads))
        assert segments.ends[:, 0].tolist() == [first[0], *bend, first[1]]
        assert segments.ends[:, 1].tolist() == [*bend, *second]


@pytest.mark.parametrize(
    ("drawn", "reverse"), [({}, True), ({"tree": True}, False), ({"paths": [2]}, True)]
)
def test_every_map_of_a_result(tmp_path: Path, drawn: dict[str, Any], reverse: bool) -> None:
    result = groute_py.sssp(bent(), 0, device="cpu", reverse=reverse)
    assert result is not None
    places = np.array([(0.0, 0), (16, 0), (32, 0)])
    heights = []
    for coordinates in (bent(), places):
        groute_py.plot(result, tmp_path / "map.png", coordinates=coordinates, size=200, **drawn)
        heights.append(height_of(tmp_path / "map.png"))
    assert heights[0] > heights[1] + 40


def test_maps_of_a_graph(tmp_path: Path) -> None:
    for name, more in (("all", {}), ("parts", {"parts": 2})):
        groute_py.plot(bent(), tmp_path / f"{name}.png", size=200, **more)  # type: ignore[arg-type]
        assert height_of(tmp_path / f"{name}.png") > 80


def height_of(picture: Path) -> int:
    """Of a PNG, in pixels; it has the margins of a sheet."""
    return int.from_bytes(picture.read_bytes()[20:24])


def test_turns_do_not_straighten_roads() -> None:
    plain = reached(bent(), [0], 4, 16, 48, planar=True)
    turned = reached(bent(), [0], 4, 16, 48, planar=True, turns=[(2, 1, 0, 5)])
    assert lines_of(turned) == lines_of(plain)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("turn", "length", "side"),
    [((0, 2, None), 6, -9), ((0, 2, 9), 6, -9), ((0, 2, 3), 5, 9), ((1, 2, None), 2, 9)],
)
def test_the_arc_that_may_turn_is_drawn(
    tmp_path: Path, turn: Any, length: int, side: int, *, reverse: bool
) -> None:
    """Of two parallel arcs the cheaper one may not be followed by the turn."""
    bends, ends = np.array([(4.0, 9.0), (4, -9)]), np.array([(0.0, 0.0), (8, 0), (16, 0)])
    shapes = Shapes(np.array([0, 1, 2]), np.array([0, 1, 2, 2]), bends)
    graph = Graph.from_arrays([0, 2, 3, 3], [1, 1, 2], [1, 5, 1])
    graph = graph.changed(coordinates=ends, shapes=shapes)
    pairs, turned = [(2, 0) if reverse else (0, 2)], {"turns": [turn], "reverse": reverse}
    routes = groute_py.route(graph, pairs, paths=True, device="cpu", **turned)
    assert routes is not None
    assert routes.distances.tolist() == [length]
    routes.save(tmp_path / "line.geojson", planar=True)
    (feature,) = json.loads((tmp_path / "line.geojson").read_text())["features"]
    assert feature["geometry"]["coordinates"] == [[0, 0], [4, side], [8, 0], [16, 0]]


@pytest.mark.parametrize("reverse", [False, True])
def test_routes_with_turns_lead_along_shapes(tmp_path: Path, *, reverse: bool) -> None:
    """As without turns, also where ranks have the expansion without the graph."""
    lines, pairs = [], np.array([(2, 0), (0, 2)])
    turned = expanded(bent(), [(0, 1, 2, 5)])
    for ranks, graph in ((1, bent()), (1, turned), (2, turned)):

        def work(channel: Any, graph: Graph = graph) -> Any:
            opened = opened_on(channel, graph, device="cpu", reverse=reverse)
            return opened.answer(RouteJob(pairs, paths=True))

        routes, *_ = on_ranks(ranks, work)
        assert routes is not None
        routes.save(tmp_path / "lines.geojson", planar=True)
        features = json.loads((tmp_path / "lines.geojson").read_text())["features"]
        lines.append([feature["geometry"]["coordinates"] for feature in features])
    way = [[32, 0], [16, 0], [16, 8], [0, 8], [0, 0]]
    assert lines[0] == ([way[::-1], way] if reverse else [way, way[::-1]])
    assert lines[0] == lines[1] == lines[2]
