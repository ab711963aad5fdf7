"""Vertices on roads at points: distances by both ends of each road, feet by Shapely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.skips import require_metis

import groute_py
from groute_py import Graph, InputError, Points
from groute_py.graph.geography import Shapes
from groute_py.graph.hierarchy.check import check_hierarchy
from groute_py.graph.hierarchy.prepared import without_hierarchy
from groute_py.graph.hierarchy.separators.order import check_order
from groute_py.maps.places import Places
from groute_py.maps.snap import nearest_vertices

shapely = pytest.importorskip("shapely")
pytest.importorskip("scipy")


def city(count: int, *, one_way: float, weights: Any = np.float64) -> Graph:
    """Places on a plane with roads to near ones, of which some lead one way; all are connected."""
    random = np.random.default_rng(11)
    places = random.random((count, 2)) * 100
    tails, heads = [], []
    for vertex, place in enumerate(places):
        near = np.argsort(((places - place) ** 2).sum(axis=1))[1:4]
        for other in near.tolist():
            tails.append(vertex)
            heads.append(other)
            if random.random() >= one_way:
                tails.append(other)
                heads.append(vertex)
    for vertex in range(count):  # a ring
        tails += [vertex, (vertex + 1) % count]
        heads += [(vertex + 1) % count, vertex]
    ends = np.array([tails, heads])
    lengths = np.hypot(*(places[ends[0]] - places[ends[1]]).T)
    table = {"tail": tails, "head": heads, "weight": (lengths * 1000).astype(weights)}
    graph = groute_py.graph_from_table(table, renumber=False)
    return graph.changed(coordinates=places, columns={"again": graph.weights.copy()})


CITY = city(60, one_way=0.4)
POINTS = np.random.default_rng(5).random((25, 2)) * 100


def feet(graph: Graph) -> list[tuple[int, Any, Any]]:
    """The nearest arc to each point, all at that distance, and how far along each lies the foot."""
    assert graph.coordinates is not None
    lines = shapely.linestrings(graph.coordinates[np.stack([graph.tails(), graph.heads], axis=1)])
    result = []
    for point in shapely.points(POINTS):
        distances = shapely.distance(lines, point)
        near = np.flatnonzero(distances <= distances.min() + 1e-9)
        along = shapely.line_locate_point(lines[near], point, normalized=True)
        result.append((float(distances.min()), near, along))
    return result


def test_distances_are_those_by_the_ends_of_roads() -> None:
    where = feet(CITY)
    roads = groute_py.add_points(CITY, POINTS, planar=True)
    some = Points(POINTS, planar=True)
    matrix = groute_py.matrix(roads, some, some, carry="again", device="cpu")
    whole = groute_py.apsp(CITY, device="cpu")
    assert matrix is not None
    assert whole is not None
    for row, (_, arcs, shares) in enumerate(where):
        for column, (_, others, parts) in enumerate(where):
            ways = [0.0] if row == column else []
            for arc, share in zip(arcs, shares, strict=True):
                left = (1 - share) * CITY.weights[arc]
                for other, part in zip(others, parts, strict=True):
                    between = whole.distances[CITY.heads[arc], CITY.tails()[other]]
                    ways.append(left + between + part * CITY.weights[other])
                    if arc == other and part >= share:
                        ways.append((part - share) * CITY.weights[arc])
            assert matrix.distances[row, column] == pytest.approx(min(ways), rel=1e-9, abs=1e-6)
    np.testing.assert_allclose(matrix.carried["again"], matrix.distances, rtol=1e-9, atol=1e-9)


def test_points_lie_on_the_nearest_roads() -> None:
    roads = groute_py.add_points(CITY, POINTS, planar=True)
    assert roads.coordinates is not None
    places = Places(roads.coordinates, planar=True)
    snaps = nearest_vertices(places, Places(POINTS, planar=True), None, name_of=str)
    np.testing.assert_allclose(snaps.distances, [distance for distance, _, _ in feet(CITY)])


def test_distances_between_vertices_stay() -> None:
    graph = city(60, one_way=0.4, weights=np.int64)
    roads = groute_py.add_points(graph, POINTS, planar=True)
    assert roads.weights.dtype == graph.weights.dtype
    assert roads.weights.min() >= 0
    sources = np.arange(0, 60, 7)
    before = groute_py.apsp(graph, sources=sources, device="cpu")
    after = groute_py.apsp(roads, sources=sources, device="cpu")
    assert before is not None
    assert after is not None
    np.testing.assert_array_equal(after.distances[:, :60], before.distances)


def test_a_point_at_a_vertex_adds_none() -> None:
    assert CITY.coordinates is not None
    roads = groute_py.add_points(CITY, CITY.coordinates[[3, 9]], planar=True)
    assert roads.vertex_count == CITY.vertex_count
    assert groute_py.add_points(CITY, POINTS[[0, 0, 1]], planar=True).vertex_count == 62


TWO_WAYS = Graph.from_arrays([0, 1, 2], [1, 0], [100, 100])


def test_both_sides_of_a_road_are_one_place() -> None:
    random = np.random.default_rng(8)
    for ends in random.normal(size=(20, 2, 2)):
        way = ends[1] - ends[0]
        across = [0.1, -0.1, 0.3] * np.array([[-way[1]], [way[0]]])
        points = ends[0] + 0.4 * way + across.T
        roads = groute_py.add_points(TWO_WAYS, points, ends, planar=True)
        rows = groute_py.apsp(roads, device="cpu")
        assert rows is not None
        assert rows.distances.tolist() == [[0, 100, 40], [100, 0, 60], [40, 60, 0]]


def test_a_foot_at_a_vertex_cuts_neither_direction() -> None:
    ends = np.array([[0.0, 0], [1, 0]])
    roads = groute_py.add_points(TWO_WAYS, [[1e-17, 1], [1 - 1e-16, 2]], ends, planar=True)
    assert roads.vertex_count == 2
    with pytest.raises(InputError, match="planar must be"):
        groute_py.add_points(TWO_WAYS, [[1, 1]], ends, planar="yes")  # type: ignore[arg-type]


def test_a_road_across_the_date_line_is_on_one_side_of_the_globe() -> None:
    ends = np.array([[179.99, 10], [-179.99, 10.2]])
    assert groute_py.add_points(TWO_WAYS, [[0.0, 10.1]], ends).vertex_count == 2
    roads = groute_py.add_points(TWO_WAYS, [[179.999, 10.15]], ends)
    assert roads.coordinates is not None
    np.testing.assert_allclose(roads.coordinates[2], [-179.995, 10.15], atol=1e-3)


@pytest.mark.parametrize("east", [0.0, 179.99])
def test_legs_of_a_road_count_by_their_metres(east: float) -> None:
    leg = np.array([[east, 60.0], [east + 0.02, 60], [east + 0.02, 60.01]])  # both are as long
    leg[:, 0] -= 360 * (leg[:, 0] > 180)
    shapes = Shapes(np.array([0, ~0]), np.array([0, 1]), leg[1:2])
    bent = TWO_WAYS.changed(coordinates=leg[[0, 2]], shapes=shapes)
    roads = groute_py.add_points(bent, leg[1:2])
    weights = dict(zip(zip(roads.tails(), roads.heads, strict=True), roads.weights, strict=True))
    assert weights == {(0, 2): 50, (2, 1): 50, (1, 2): 50, (2, 0): 50}
    half = groute_py.add_points(bent, [(leg[0] + leg[1]) / 2 if east < 179 else [179.995, 60]])
    assert half.shapes is not None
    assert sorted(len(half.shapes.of(arc)) for arc in range(4)) == [0, 0, 1, 1]


def test_ids() -> None:
    table = {"from": ["a", "point 1"], "to": ["point 1", "a"], "km": [4, 4]}
    names = groute_py.graph_from_table(table).changed(coordinates=np.array([[0.0, 0], [9, 0]]))
    roads = groute_py.add_points(names, [[3, 1]], planar=True)
    assert roads.numbering.ids_of(np.arange(3)).tolist() == ["a", "point 1", "point 2"]
    numbers = names.changed(ids=np.array([70, 5]))
    roads = groute_py.add_points(numbers, [[3, 1]], planar=True)
    assert roads.numbering.ids_of(np.arange(3)).tolist() == [70, 5, 71]
    ends = names.changed(ids=np.array([2**63 - 1, 0]))
    roads = groute_py.add_points(ends, [[3, 1], [5, 1]], planar=True)
    assert roads.numbering.ids_of(np.arange(4)).tolist() == [2**63 - 1, 0, 1, 2]


@pytest.fixture
def bent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A road with a corner, (0, 0) to (0.01, 0) to (0.01, 0.01), between two streets."""
    pytest.importorskip("osmium")
    monkeypatch.chdir(tmp_path)
    nodes = {1: (0, 0), 2: (0.01, 0), 3: (0.01, 0.01), 4: (-0.001, 0), 5: (0.01, 0.011)}
    nodes |= {6: (0, -0.001), 7: (0.011, 0.01)}
    ways = [[1, 2, 3], [1, 4], [3, 5], [1, 6], [3, 7]]
    text = ["<osm version='0.6'>"]
    text += [f"<node id='{k}' lon='{x}' lat='{y}'/>" for k, (x, y) in nodes.items()]
    for number, way in enumerate(ways):
        refs = "".join(f"<nd ref='{node}'/>" for node in way)
        text.append(f"<way id='{number + 1}'>{refs}<tag k='highway' v='primary'/></way>")
    (tmp_path / "bent.osm").write_text("".join([*text, "</osm>"]))
    (tmp_path / "mid.csv").write_text("name,lon,lat\nmid,0.0101,0.005\n")
    return tmp_path


def test_roads_with_shapes(bent: Path) -> None:
    graph = groute_py.read_graph("bent.osm", weight="length")
    roads = groute_py.add_points(graph, [[0.0101, 0.005]])
    assert roads.shapes is not None
    new = roads.vertex_count - 1
    np.testing.assert_allclose(roads.coordinates[new], [0.01, 0.005], atol=1e-7)
    (to_it,) = (roads.lightest_arc(roads.numbering.index_of(1), new),)
    (from_it,) = (roads.lightest_arc(new, roads.numbering.index_of(3)),)
    assert to_it is not None
    assert from_it is not None
    np.testing.assert_allclose(roads.shapes.of(to_it), [[0.01, 0]])
    assert len(roads.shapes.of(from_it)) == 0
    assert roads.weights[to_it] == pytest.approx(3 * roads.weights[from_it], rel=1e-3)


def test_the_command(bent: Path) -> None:
    words = ("matrix", "bent.osm", "--weight", "length", "--from", "mid.csv", "--to", "1,3")
    rows = as_json(run_command(*words, "--snap", "arc", "-o", "m.csv", "--json"))
    (snap,) = rows["source_points"]
    assert snap["vertex"] == 8
    assert snap["distance"] == pytest.approx(11.1, rel=0.01)
    _, *lines = (bent / "m.csv").read_text().splitlines()
    lengths = [float(line.split(",")[2]) for line in lines]
    assert lengths == pytest.approx([1668, 556], rel=0.01)
    run_command("route", *words[1:], "--snap", "arc", "--paths", "-o", "r.geojson")
    with pytest.raises(InputError, match="--snap arc cuts arcs"):
        run_command(*words, "--snap", "arc", "--turns", "mid.csv")
    with pytest.raises(InputError, match="are for points"):
        run_command("matrix", "bent.osm", "--from", "1", "--to", "3", "--snap", "arc")


def town(*, one_way: float) -> Graph:
    """A grid of 100 by 100 in which some streets are one-way, and some take no time."""
    random = np.random.default_rng(3)
    grid = groute_py.generate("road:12x12")
    keep = (random.random(grid.arc_count) >= one_way) | (grid.tails() < grid.heads)
    weights = np.where(random.random(grid.arc_count) < 0.1, 0, grid.weights)
    table = {"tail": grid.tails()[keep], "head": grid.heads[keep], "weight": weights[keep]}
    graph = groute_py.graph_from_table(table, renumber=False)
    places = np.stack(np.divmod(np.arange(graph.vertex_count), 12), axis=1) * 9.0
    return graph.changed(coordinates=places)


def all_rows(graph: Graph, **how: Any) -> Any:
    rows = groute_py.apsp(graph, device="cpu", **how)
    assert rows is not None
    return rows.distances


@pytest.mark.parametrize("one_way", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("count", [1, 7, 150])
def test_a_prepared_graph_stays_prepared(one_way: float, count: int) -> None:
    """Also with many points on one road, and where distances are 0."""
    random = np.random.default_rng(count)
    points = np.concatenate([random.random((count, 2)) * 100, np.linspace([0, 0], [60, 50], count)])
    whole = town(one_way=one_way)
    cut = groute_py.add_points(groute_py.prepare(whole, device="cpu"), points, planar=True)
    assert isinstance(cut, groute_py.PreparedGraph)
    check_hierarchy(cut.hierarchy)
    wanted = all_rows(groute_py.add_points(whole, points, planar=True), algorithm="heap")
    assert np.array_equal(all_rows(cut, algorithm="sweep"), wanted)
    assert np.array_equal(all_rows(cut.reversed(), algorithm="sweep"), wanted.T)
    for source in (0, cut.vertex_count - 1):
        end = groute_py.Positions(source)
        result = groute_py.sssp(cut, end, algorithm="contraction", device="cpu")
        assert result is not None
        assert np.array_equal(result.distances, wanted[source])
        groute_py.verify(cut, result)


def test_an_order_by_separators_gets_the_new_vertices() -> None:
    require_metis()
    whole = town(one_way=0.4)
    prepared = groute_py.prepare(whole, separators=True, device="cpu")
    cut = groute_py.add_points(prepared, POINTS, planar=True)
    assert isinstance(cut, groute_py.PreparedGraph)
    assert cut.order is not None
    check_order(cut.order, cut.vertex_count)
    some = Points(POINTS, planar=True)
    answer = groute_py.customize(cut, device="cpu").matrix(some, some)
    wanted = groute_py.matrix(without_hierarchy(cut), some, some, device="cpu")
    assert wanted is not None
    assert np.array_equal(answer, wanted.distances)


def test_where_parallel_roads_cross_at_a_point_nothing_stays_prepared() -> None:
    """Who changes from one to the other there is faster than by either."""
    ways = np.array([[0.0, 9], [0, 0], [100, 0], [100, -9]])
    shapes = Shapes(np.array([0, 1]), np.array([0, 2, 4]), np.concatenate([ways[:2], ways[2:]]))
    places = np.array([[0.0, 0], [90, 0]])
    graph = Graph.from_arrays([0, 2, 2], [1, 1], [1000, 9]).changed(
        coordinates=places, shapes=shapes
    )
    prepared = groute_py.prepare(graph, device="cpu")
    for at in np.linspace(1, 89, 30):
        cut = groute_py.add_points(prepared, [[at, 0]], planar=True)
        plain = groute_py.add_points(graph, [[at, 0]], planar=True)
        assert np.array_equal(all_rows(cut), all_rows(plain))


@pytest.mark.parametrize("weights", [np.float64, np.int64, np.int32, np.float32])
def test_the_way_to_a_road_counts_if_asked(weights: Any) -> None:
    """It is longer by the ways of both points, which take turns as the ends of all paths."""
    graph = city(60, one_way=0.4, weights=weights)
    points = np.concatenate([POINTS, graph.coordinates[:2], POINTS[:1]])  # type: ignore[index]
    rate, ends = 700.25, Points(points, planar=True)
    cut = groute_py.add_points(graph, points, planar=True)
    far = groute_py.add_points(graph, points, planar=True, access=rate)
    assert far.weights.dtype == weights
    plain = groute_py.matrix(cut, ends, ends, device="cpu")
    counted = groute_py.matrix(far, ends, ends, carry="again", device="cpu")
    assert plain is not None
    assert counted is not None
    metres = groute_py.snap(cut, points, planar=True).distances
    ways = metres * rate if graph.weights.dtype.kind == "f" else np.rint(metres * rate)
    apart = (points[:, np.newaxis] != points).any(axis=2)
    expected = np.where(apart, plain.distances + ways[:, np.newaxis] + ways, 0)
    bound = 1e-5 if weights == np.float32 else 1e-12
    np.testing.assert_allclose(counted.distances, expected, rtol=bound)
    assert groute_py.snap(far, points, planar=True).distances.max() == 0
    np.testing.assert_allclose(all_rows(far)[:60, :60], all_rows(cut)[:60, :60], rtol=1e-5)


def test_speeds_of_ways(bent: Path) -> None:
    home = [(0.005, 0.003)]
    how: Any = {"carry": ["time", "length"], "device": "cpu"}
    for weight in ("time", "length"):
        roads = groute_py.read_graph(bent / "bent.osm", weight=weight)
        cut = groute_py.add_points(roads, home)
        (metres,) = groute_py.snap(cut, home).distances
        assert metres == pytest.approx(334, rel=0.01)
        walked = groute_py.add_points(roads, home, access="3.6km/h")
        counted, plain = (groute_py.matrix(g, Points(home), [1], **how) for g in (walked, cut))
        assert counted is not None
        assert plain is not None
        for name, way in {"time": 1000 * metres, "length": metres}.items():
            more = counted.carried[name] - plain.carried[name]
            assert more[0, 0] == pytest.approx(way, abs=0.51 if name == "time" else 1e-6)
        assert (counted.distances == counted.carried[weight]).all()
        assert walked.shapes is not None
        assert len(walked.shapes.of(walked.arc_count - 1)) == 0


@pytest.mark.usefixtures("bent")
def test_the_command_counts_ways() -> None:
    words = ("matrix", "bent.osm", "--from", "0.005,0.003", "--to", "1", "--snap", "arc")
    texts = []
    for more in ((), ("--access", "3.6 km/h"), ("--access", "1000")):
        run_command(*words, *more, "-o", "m.csv")
        _, line = Path("m.csv").read_text().splitlines()
        texts.append(float(line.split(",")[2]))
    assert texts[1] == texts[2] == pytest.approx(texts[0] + 334, rel=0.01)


@pytest.mark.usefixtures("bent")
def test_wrong_access() -> None:
    graph = city(20, one_way=0)
    how: Any = {"planar": True}
    for access, problem in (
        ("5kmh", "'5kmh' is no speed; write it as 5km/h"),
        ("0km/h", "is no speed"),
        (-1, "must be 0 or more, not -1"),
        (np.inf, "must be 0 or more"),
        (True, "access"),
        (1e300, "a way of .* would weigh"),
        ("5km/h", "the unit of the weights of .* is not known"),
    ):
        with pytest.raises(InputError, match=problem):
            groute_py.add_points(graph, [[1, 2]], access=access, **how)
    words = ("matrix", "bent.osm", "--from", "mid.csv", "--to", "1")
    with pytest.raises(InputError, match="give --snap arc too"):
        run_command(*words, "--access", "5km/h")
    far = ("--from", "0.005,2.0", "--snap", "arc", "--access", "5km/h")
    with pytest.raises(InputError, match="from the nearest vertex, more than 1,000 m"):
        run_command("matrix", "bent.osm", "--to", "1", *far)
