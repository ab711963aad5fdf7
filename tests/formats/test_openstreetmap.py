"""Extracts of OpenStreetMap against plain readings of the same data."""

from __future__ import annotations

import csv
import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from support.command import Run, as_json

pytest.importorskip("osmium")
from support.extracts import Extract, grid, metres, network_of

import groute_py
from groute_py import FormatError, Graph, GrouteError, InputError
from groute_py.io.graph_file import read_graph
from groute_py.io.registry import FORMATS
from groute_py.system import memory_limits

OSM = "© OpenStreetMap contributors, ODbL"
ROAD = {"highway": "residential"}


def roads(extract: Extract, folder: Path, profile: str = "car", name: str = "x.osm") -> Graph:
    return read_graph(extract.write(folder / name), profile=profile)


def arcs_of(graph: Graph) -> set[tuple[int, int]]:
    """Tails and heads by OSM's ids."""
    assert graph.ids is not None
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    return set(zip(graph.ids[tails].tolist(), graph.ids[graph.heads].tolist(), strict=True))


def line(*tags: dict[str, str], **node_tags: dict[str, str]) -> Extract:
    """Ways one behind the other, each with three nodes: 1 2 3, 3 4 5, ..."""
    count = 2 * len(tags) + 1
    places = {k: (7 + k / 1000, 43.0) for k in range(1, count + 1)}
    ways = [([2 * k + 1, 2 * k + 2, 2 * k + 3], each) for k, each in enumerate(tags)]
    return Extract(places, ways, {int(key[1:]): value for key, value in node_tags.items()})


@pytest.mark.parametrize("name", ["town.osm.pbf", "town.osm", "town.osm.bz2", "town.osm.gz"])
def test_distances_of_a_town(tmp_path: Path, name: str) -> None:
    """Between all crossings, by both weights, as in the graph of all nodes."""
    extract = grid(5)
    graph, network = roads(extract, tmp_path, name=name), network_of(extract)
    assert (graph.name, graph.column, graph.attribution) == ("town", "time", OSM)
    assert graph.ids is not None
    # the ends of two streets that meet at a corner are ends of a chain only where directions change
    crossings = {n for n in network if len({*network.pred[n], *network.succ[n]}) > 2}
    assert crossings <= set(graph.ids.tolist())
    assert graph.vertex_count <= len(crossings) + 4
    for source in range(0, graph.vertex_count, 4):
        start = int(graph.ids[source])
        for weight, within in (("time", 12), ("length", 0.02)):
            result = groute_py.sssp(graph, start, weight=weight, device="cpu")
            right = nx.single_source_dijkstra_path_length(network, start, weight=weight)
            assert result is not None
            for vertex, distance in zip(graph.ids.tolist(), result.distances, strict=True):
                if vertex in right:
                    assert distance == pytest.approx(right[vertex], abs=within)
                else:
                    assert not result.reached[result.numbering.index_of(vertex)]


def test_random_points_and_pairs_of_a_town(tmp_path: Path) -> None:
    """All points reach all others; times and lengths are those in the graph of all nodes."""
    extract, random = grid(14), np.random.default_rng(61)
    graph, network = roads(extract, tmp_path), network_of(extract)
    assert graph.coordinates is not None
    low, high = graph.coordinates.min(axis=0), graph.coordinates.max(axis=0)
    points = groute_py.Points(random.uniform(low, high, (100, 2)))
    matrix = groute_py.matrix(graph, points, points, carry="length", device="cpu")
    assert matrix is not None
    assert (matrix.distances != groute_py.UNREACHED).all()
    libraries = ("pandas", "polars", "pyarrow")
    for name in libraries:
        pytest.importorskip(name)
    seconds = [matrix.to_frame(library=name)["distance_s"].to_numpy() for name in libraries]
    assert (seconds[0] == matrix.distances.reshape(-1) / 1000).all()
    assert (seconds[0] == seconds[1]).all()
    assert (seconds[0] == seconds[2]).all()
    pairs = random.choice(graph.numbering.ids_of(np.arange(graph.vertex_count)), (3000, 2))
    sources = np.unique(pairs[:, 0]).tolist()
    for weight, within in (("time", 12), ("length", 0.05)):
        routes = groute_py.route(graph, pairs, weight=weight, device="cpu")
        assert routes is not None
        search = nx.single_source_dijkstra_path_length
        right = {source: search(network, source, weight=weight) for source in sources}
        for (source, target), length, reached in zip(
            pairs.tolist(), routes.distances.tolist(), routes.reached.tolist(), strict=True
        ):
            assert reached == (target in right[source])
            assert not reached or length == pytest.approx(right[source][target], abs=within)


def test_shapes_lead_along_the_ways(tmp_path: Path) -> None:
    """Each shape has the nodes between its ends, and is as long as its arc."""
    extract = grid(4)
    graph = roads(extract, tmp_path)
    assert graph.coordinates is not None
    assert graph.shapes is not None
    assert graph.ids is not None
    for node, place in zip(graph.ids.tolist(), graph.coordinates.tolist(), strict=True):
        assert tuple(place) == extract.places[node]
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    network, by_place = network_of(extract), {p: n for n, p in extract.places.items()}
    for arc, (tail, head) in enumerate(zip(tails, graph.heads, strict=True)):
        ends = (tuple(graph.coordinates[v].tolist()) for v in (tail, head))
        inner = [tuple(point) for point in graph.shapes.of(arc).tolist()]
        first, last = ends
        points = [first, *inner, last]
        nodes = [by_place[point] for point in points]
        assert all(network.has_edge(a, b) for a, b in pairwise(nodes))
        length = sum(metres(a, b) for a, b in pairwise(points))
        assert graph.columns["length"][arc] == pytest.approx(length, abs=1e-3)


def test_ends_and_changes_of_direction_are_vertices(tmp_path: Path) -> None:
    """What changes in a road otherwise makes no vertex."""
    two, one = ROAD, {**ROAD, "oneway": "yes"}
    faster = {**ROAD, "maxspeed": "70"}
    assert arcs_of(roads(line(two, faster), tmp_path)) == {(1, 5), (5, 1)}
    assert arcs_of(roads(line(two, one, one), tmp_path)) == {(1, 3), (3, 1), (3, 7)}
    graph = roads(line(two, faster), tmp_path)
    length = metres((7.001, 43), (7.003, 43))
    time = 3600 * length / 30 + 3600 * length / 63
    assert graph.weights.tolist() == [round(time)] * 2
    assert graph.columns["length"].tolist() == pytest.approx([2 * length] * 2, abs=2e-3)
    assert graph.weights.dtype == np.int32


def test_drafts_have_negative_ids(tmp_path: Path) -> None:
    """As JOSM writes what is not uploaded; a draft may go on from a node that is."""
    nodes = "".join(
        f"<node id='{node}' action='modify' visible='true' lat='43.0' lon='{7 + k / 1000}'/>"
        for k, node in enumerate((-3, -2, 5, -1))
    )
    refs = "".join(f"<nd ref='{node}'/>" for node in (-3, -2, 5, -1))
    way = f"<way id='-9' action='modify'>{refs}<tag k='highway' v='residential'/></way>"
    text = f"<osm version='0.6' generator='JOSM'>{nodes}{way}</osm>"
    (tmp_path / "draft.osm").write_text(text)
    graph = read_graph(tmp_path / "draft.osm")
    assert arcs_of(graph) == {(-3, -1), (-1, -3)}
    assert graph.shapes is not None
    assert len(graph.shapes.of(0)) == 2
    result = groute_py.sssp(graph, -3, device="cpu")
    assert result is not None
    assert result.path_to("-1") == [-3, -1]
    assert result.reached.all()


def test_rings(tmp_path: Path) -> None:
    """A roundabout by itself keeps one vertex; one with an exit keeps that."""
    places = {k: (7 + k / 1000, 43 + (k % 2) / 1000) for k in range(1, 8)}
    circle = ([1, 2, 3, 4, 1], {"highway": "tertiary", "junction": "roundabout"})
    alone = roads(Extract(places, [circle]), tmp_path)
    assert (alone.vertex_count, alone.arc_count) == (1, 1)
    ways = [circle, ([3, 5], ROAD), ([6, 1], ROAD)]
    assert arcs_of(roads(Extract(places, ways), tmp_path)) == {
        *((1, 3), (3, 1)),
        *((3, 5), (5, 3), (1, 6), (6, 1)),
    }


def test_what_is_missing_cuts_a_way(tmp_path: Path) -> None:
    """Nodes outside an extract, and nodes that bar the way."""
    extract = line(ROAD, ROAD, ROAD)
    del extract.places[4]
    assert arcs_of(roads(extract, tmp_path)) == {(1, 3), (3, 1), (5, 7), (7, 5)}
    barred = line(ROAD, ROAD, ROAD, n4={"barrier": "bollard"})
    assert arcs_of(roads(barred, tmp_path)) == {(1, 3), (3, 1), (5, 7), (7, 5)}
    assert arcs_of(roads(barred, tmp_path, "bike")) == {(1, 7), (7, 1)}
    gate = line(ROAD, ROAD, ROAD, n4={"barrier": "gate", "access": "private"})
    assert len(arcs_of(roads(gate, tmp_path, "foot"))) == 4


def test_from_an_extract_to_a_file(tmp_path: Path, run: Run) -> None:
    source = grid(4).write(tmp_path / "city.osm.pbf")
    target, out = tmp_path / "city.csr", tmp_path / "out.csv"
    done = run("convert", source, target, "--profile", "bike")
    assert "weights are time; columns: length, time" in done.stderr
    assert OSM in done.stderr
    info = as_json(run("info", target, "--json"))
    assert (info["weights"], info["weights_in_use"]) == (["length", "time"], "time")
    assert (info["attribution"], info["graph"]) == (OSM, "city")
    assert info["points_between_ends"] > 0
    words = ("-s", "1011", "--weight", "length", "--device", "cpu")
    run("sssp", target, *words, "-o", out)
    with open(out, newline="") as file:
        titles, *rows = csv.reader(file)
    assert titles == ["vertex", "distance_m", "predecessor", "x", "y", "attribution"]
    assert rows[0][-1] == OSM
    assert next(row[1:5] for row in rows if row[0] == "1011") == ["0.0", "", "7.4021", "43.7015"]
    by_extract = as_json(run("sssp", source, *words, "--json"))
    graph = read_graph(source)
    assert by_extract["vertices"] == graph.vertex_count
    with pytest.raises(InputError, match="is no extract of OpenStreetMap; leave out profile 'car'"):
        run("convert", target, tmp_path / "again.csr", "--profile", "car")


def test_a_profile_of_any_command_and_function(tmp_path: Path, run: Run) -> None:
    source = grid(4).write(tmp_path / "city.osm.pbf")
    ends = [1011], [3021]
    wanted = groute_py.matrix(read_graph(source, profile="foot"), *ends, device="cpu")
    answer = groute_py.matrix(source, *ends, profile="foot", device="cpu")
    assert wanted is not None
    assert answer is not None
    assert wanted.distances.tolist() == answer.distances.tolist()
    words = ("--from", "1011", "--to", "3021", "--device", "cpu", "--profile", "foot")
    rows = run("matrix", source, *words, "--format", "json").stdout
    assert json.loads(rows)[0]["distance_s"] == int(answer.distances[0, 0]) / 1000
    with pytest.raises(InputError, match="profile"):
        groute_py.matrix(source, *ends, profile="boat", device="cpu")
    with pytest.raises(InputError, match="is no extract of OpenStreetMap"):
        groute_py.matrix("road:4x4", [1], [2], profile="foot", device="cpu")


def test_copies_by_older_rules_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, table = line(ROAD).write(tmp_path / "x.osm"), tmp_path / "t.csv"
    table.write_text("1,2\n")
    older = FORMATS["OpenStreetMap"]._replace(rules=FORMATS["OpenStreetMap"].rules - 1)
    with monkeypatch.context() as release:
        release.setitem(FORMATS, "OpenStreetMap", older)
        for file in (path, table):
            read_graph(file, cache=tmp_path / "kept")
    before = set((tmp_path / "kept").iterdir())
    for file, new in ((path, 1), (table, 0)):
        read_graph(file, cache=tmp_path / "kept")
        after = set((tmp_path / "kept").iterdir())
        assert len(after - before) == new
        before = after


def test_the_cache_keeps_everything(tmp_path: Path) -> None:
    path = grid(3).write(tmp_path / "city.osm.pbf")
    for profile in ("car", "foot", None):
        first, second = (
            read_graph(path, cache=tmp_path / "kept", profile=profile, weight=weight)
            for weight in ("length", None)
        )
        assert (first.column, second.column) == ("length", "time")
        assert second.shapes is not None
        assert second.attribution == OSM
        np.testing.assert_array_equal(second.columns["length"], first.weights)
    assert len(list((tmp_path / "kept").iterdir())) == 3


def test_deleted_ways_are_no_roads(tmp_path: Path) -> None:
    """JOSM marks what it will delete; a server says that it is not visible."""
    nodes = "".join(f"<node id='{-k}' lat='43.0' lon='{7 + k / 1000}'/>" for k in (1, 2, 3))
    ways = "".join(
        f"<way id='{number}' {mark}><nd ref='-1'/><nd ref='{end}'/>"
        "<tag k='highway' v='residential'/></way>"
        for number, mark, end in (
            *((-10, "action='modify'", -2), (500, "version='3' action = \"delete\"", -3)),
            (600, "version='4' visible='false'", -3),
        )
    )
    for name, compress in (("draft.osm", bytes), ("draft.osm.gz", gzip.compress)):
        path = tmp_path / name
        path.write_bytes(compress(f"<osm version='0.6'>{nodes}{ways}</osm>".encode()))
        assert arcs_of(read_graph(path)) == {(-1, -2), (-2, -1)}


def test_merged_extracts_lose_no_vertex(tmp_path: Path) -> None:
    """Ways that are there twice, or that overlap, count once."""
    once = Extract({k: (7 + k / 100, 43 + k % 2) for k in range(1, 6)}, [([1, 2, 3], ROAD)])
    once.ways.append(([2, 4], ROAD))
    right = roads(once, tmp_path)
    assert arcs_of(right) == {(1, 2), (2, 1), (2, 3), (3, 2), (2, 4), (4, 2)}
    twice = Extract(once.places, [*once.ways, *once.ways, ([3, 2, 4], ROAD)])
    graph = roads(twice, tmp_path)
    assert arcs_of(graph) == arcs_of(right)
    assert graph.arc_count == right.arc_count
    # a way out and back on the same nodes, faster on one of both: 2 is no point of a ring
    there, back = {**ROAD, "oneway": "yes"}, {**ROAD, "oneway": "yes", "maxspeed": "50"}
    around = Extract(once.places, [([1, 2], there), ([2, 1], back)])
    assert arcs_of(roads(around, tmp_path)) == {(1, 2), (2, 1)}


@pytest.mark.parametrize(
    ("object_", "message"),
    [
        ("<node id='1' version='2' lat='43.1' lon='7.0'/>", "node 1 in versions 1 and 2"),
        (
            "<way id='5' version='4'><nd ref='1'/><nd ref='2'/><tag k='highway' v='path'/></way>",
            "way 5 in versions 3 and 4",
        ),
    ],
)
def test_histories_are_refused(tmp_path: Path, object_: str, message: str) -> None:
    nodes = "".join(f"<node id='{k}' version='1' lat='43' lon='7.{k}'/>" for k in (1, 2))
    way = "<way id='5' version='3'><nd ref='1'/><nd ref='2'/><tag k='highway' v='road'/></way>"
    path = tmp_path / "history.osm"
    path.write_text(f"<osm version='0.6'>{nodes}{way}{object_}</osm>")
    with pytest.raises(FormatError, match=f"{message}; 'osmium time-filter'"):
        read_graph(path)


@pytest.mark.parametrize("name", ["a.osm.pbf", "a.osm"])
def test_truncated_files(tmp_path: Path, name: str) -> None:
    whole = grid(4).write(tmp_path / name).read_bytes()
    for size in range(40, len(whole) - 1, len(whole) // 9):
        (tmp_path / name).write_bytes(whole[:size])
        with pytest.raises(FormatError, match=name):
            read_graph(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<osm version='0.6'></osm>", "has no way that this profile may take"),
        (b"<osm version='0.5'/>", "damaged OpenStreetMap file"),
        (b"<?xml version='1.0'?>\n<osm><way></osm>", "damaged OpenStreetMap file"),
        (b"<?xml version='1.0'?>\n<html/>", "is XML or HTML, and neither"),
        (b"<?xml version='1.0'?><osmChange version='0.6'></osmChange>", "is XML or HTML"),
        (b'{\n  "version": 0.6,\n  "generator": "Overpass API", "elements": []}', "out:xml"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.osm").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path / "a.osm")


def test_wrong_wishes(tmp_path: Path) -> None:
    path = line(ROAD).write(tmp_path / "a.osm")
    wrong: dict[str, Any] = {
        "profile 'boat' is unknown; choose one of car, bike, foot": {"profile": "boat"},
        "no column 'toll'; its weights are length, time": {"weight": "toll"},
        "has no columns by name; leave out tail 'a'": {"tail": "a"},
    }
    for message, wish in wrong.items():
        with pytest.raises(InputError, match=message):
            read_graph(path, **wish)


def test_long_ways_and_nodes_at_one_place(tmp_path: Path) -> None:
    """A walk of 33 days takes more milliseconds than 31 bits count."""
    places = {1: (0.0, 0.0), 2: (30.0, 0.0), 3: (30.0, 0.0), 4: (31.0, 0.0)}
    ways = [([1, 2], {"highway": "footway"}), ([2, 3, 4], {"highway": "path", "oneway": "yes"})]
    graph = roads(Extract(places, ways), tmp_path, profile="foot")
    assert graph.weights.dtype == np.int64
    assert graph.weights.min() > 0
    assert graph.weights.max() > 2**31


def test_ids_far_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that filters them would take memory for all ids up to the greatest."""
    places = {1: (0.0, 0.0), 2: (1.0, 0.0), 2**57: (1.0, 1.0)}
    graph = roads(Extract(places, [([1, 2, 2**57], ROAD)]), tmp_path)
    assert graph.numbering.ids_of([0, 1]).tolist() == [1, 2**57]
    assert graph.arc_count == 2
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 1 << 34)
    scattered = [1, *range(2**26, 2**39, 2**26)]  # a piece of 4 MB for each
    with pytest.raises(GrouteError, match="a filter of its ids would take"):
        roads(Extract(places, [(scattered, ROAD)]), tmp_path)


@pytest.mark.parametrize("reverse", [False, True])
def test_routes_follow_the_ways(tmp_path: Path, reverse: bool) -> None:
    extract = line(ROAD, ROAD)
    extract.places[2] = (7.0025, 43.5)
    graph = roads(extract, tmp_path)
    routes = groute_py.route(graph, [(1, 5)], paths=True, reverse=reverse, device="cpu")
    assert routes is not None
    routes.save(tmp_path / "routes.geojson")
    (feature,) = json.loads((tmp_path / "routes.geojson").read_text())["features"]
    right = [[round(x, 7), y] for x, y in (extract.places[node] for node in (1, 2, 3, 4, 5))]
    assert feature["geometry"]["coordinates"] == (right[::-1] if reverse else right)
