"""Points snapped to the nearest vertices, against a comparison with every vertex."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of

import groute_py
from groute_py import FormatError, Graph, InputError
from groute_py.graph.turns.expanded import expanded
from groute_py.io.points import read_point_pairs, read_points

EARTH_M = 6_371_008.8
ANYWHERE = 1e8
"""Metres."""


def of_places(places: Any) -> Graph:
    return graph_of(len(places), []).changed(coordinates=np.array(places, np.float64))


def haversine(places: Any, point: Any) -> Any:
    """Metres between each place and a point, by the haversine formula."""
    (east, north), (x, y) = np.radians(places).T, np.radians(point)
    part = np.sin((north - y) / 2) ** 2 + np.cos(north) * np.cos(y) * np.sin((east - x) / 2) ** 2
    return 2 * EARTH_M * np.arcsin(np.minimum(np.sqrt(part), 1))


def degrees(count: int, seed: int) -> Any:
    return np.random.default_rng(seed).uniform((-180, -90), (180, 90), (count, 2))


def test_the_sphere() -> None:
    places, points = degrees(300, 1), degrees(200, 2)
    vertices, distances = groute_py.snap(of_places(places), points, within=ANYWHERE)
    every = np.array([haversine(places, point) for point in points])
    np.testing.assert_array_equal(vertices, every.argmin(axis=1))
    np.testing.assert_allclose(distances, every.min(axis=1), rtol=1e-9, atol=1e-6)


def test_points_in_the_place_of_vertices() -> None:
    """Every job takes them, of a solver as well."""
    corners = np.array([[0.0, 0], [10, 0], [10, 10]])
    graph = Graph.from_arrays([0, 1, 2, 2], [1, 2], [4, 4]).changed(coordinates=corners)
    near = groute_py.Points([[9, 1], [1, 0]], planar=True)
    ends = np.array([1, 0])
    with groute_py.open(graph, device="cpu") as solver:
        for some, same in (
            (solver.matrix(near, near), solver.matrix(ends, ends)),
            (solver.apsp(near), solver.apsp(ends)),
            (solver.nearest(near), solver.nearest(ends)),
            (solver.route((near, near)), solver.route([(1, 1), (0, 0)])),
        ):
            assert some is not None
            assert same is not None
            np.testing.assert_array_equal(some.distances, same.distances)
        assert solver.isochrone(near, 5).sources.tolist() == [1, 0]  # type: ignore[union-attr]
        assert solver.closeness(near).vertices.tolist() == [1, 0]  # type: ignore[union-attr]
    with pytest.raises(groute_py.InputError, match="has no coordinates"):
        groute_py.nearest("road:3x3", near, device="cpu")


def test_the_date_line_and_the_poles() -> None:
    graph = of_places([[179.9, 0], [-170, 0], [0, 89.9], [90, -90]])
    points = [[-179.9, 0], [180, 89], [-90, -90]]
    vertices, distances = groute_py.snap(graph, points, within=ANYWHERE)
    assert vertices.tolist() == [0, 2, 3]
    degree = np.radians(1) * EARTH_M
    np.testing.assert_allclose(distances, [0.2 * degree, 1.1 * degree, 0], atol=1e-6)


small = st.integers(-4, 4).map(float)


@settings(max_examples=30)
@given(
    places=st.lists(st.tuples(small, small), min_size=1, max_size=20),
    points=st.lists(st.tuples(small, small), min_size=1, max_size=8),
)
def test_a_plane_with_many_ties(places: Any, points: Any) -> None:
    """Of equally near vertices, and of several in one place, the first is taken."""
    result = groute_py.snap(of_places(places), points, planar=True)
    every = np.array([((np.array(places) - point) ** 2).sum(axis=1) for point in points])
    assert result.vertices.tolist() == every.argmin(axis=1).tolist()
    np.testing.assert_allclose(result.distances, np.sqrt(every.min(axis=1)))
    assert result.vertices.dtype == np.int64


class TestCoordinates:
    """Where coordinates come from, and in which unit."""

    def test_a_file_of_millionths_of_a_degree(self, tmp_path: Path) -> None:
        (tmp_path / "it.gr").write_text("p sp 2 1\na 1 2 5\n")
        (tmp_path / "it.co").write_text(
            "p aux sp co 2\nv 1 -73530767 41085396\nv 2 -73530538 41086098\n"
        )
        point = [[-73.530767, 41.085396]]
        for named in (None, tmp_path / "it.co", np.array([[-73.530767, 41.085396], [-73.5, 41]])):
            vertices, distances = groute_py.snap(tmp_path / "it.gr", point, named)
            assert vertices.tolist() == [1]
            assert distances[0] < 1e-3
        (tmp_path / "it.csv").write_text("id,lon,lat\n2,-73.5,41\n1,-73.53,41.08\n")
        table = groute_py.snap(tmp_path / "it.gr", point, tmp_path / "it.csv")
        assert (table.vertices[0], 500 < table.distances[0] < 700) == (1, True)
        planar = groute_py.snap(tmp_path / "it.gr", [[-73530767.0, 41085390.0]], planar=True)
        assert (planar.vertices.tolist(), planar.distances.tolist()) == ([1], [6.0])

    def test_none(self) -> None:
        with pytest.raises(InputError, match="has no coordinates"):
            groute_py.snap(graph_of(2, []), [[0, 0]])

    def test_others_than_degrees(self) -> None:
        graph = of_places([[0, 0], [500, 3]])
        with pytest.raises(InputError, match=r"vertex 1 lies at \(500, 3\), which is no longitude"):
            groute_py.snap(graph, [[0, 0]])
        with pytest.raises(InputError, match=r"point 1 lies at \(0, 91\)"):
            groute_py.snap(of_places([[0, 0]]), [[0, 0], [0, 91]])

    @pytest.mark.parametrize("far", [1.1e150, -1e308])
    def test_too_far_out_on_a_plane(self, far: float) -> None:
        problem = r"vertex 1 lies at \(0, .*\), which is farther out than 1e\+150 on a plane"
        with pytest.raises(InputError, match=problem):
            groute_py.snap(of_places([[0, 0], [0, far]]), [[0, 0]], planar=True)
        with pytest.raises(InputError, match=r"point 0 lies at .* farther out than"):
            groute_py.snap(of_places([[0, 0], [0, 1]]), [[far, 0]], planar=True)

    @pytest.mark.parametrize("far", [1e150, 1e-150])
    def test_the_ends_of_a_plane(self, far: float) -> None:
        ends = np.array([[-far, -far], [far, far], [0, 0]])
        vertices, distances = groute_py.snap(of_places(ends[:2]), ends[[1, 0, 2]], planar=True)
        assert vertices.tolist() == [1, 0, 0]
        np.testing.assert_allclose(distances, [0, 0, far * 2**0.5])

    def test_of_another_graph(self) -> None:
        with pytest.raises(InputError, match="each of 2 vertices, not of 3"):
            groute_py.snap(graph_of(2, []), [[0, 0]], np.zeros((3, 2)))


class TestPoints:
    """What points and limits may be."""

    GRAPH = of_places([[0, 0], [1, 0]])

    def test_in_the_sea(self) -> None:
        points = [[0, 0.001], [0, 40], [0, 50]]
        assert groute_py.snap(self.GRAPH, points, within=ANYWHERE).vertices.tolist() == [0, 0, 0]
        problem = (
            r"point 1 .* more than 1,000 m; 2 of 3 points do\. --snap-within .* may allow more"
        )
        with pytest.raises(InputError, match=problem):
            groute_py.snap(self.GRAPH, points)
        with pytest.raises(InputError, match=r"point 1 at \(0, 40\) lies 4\.4478e\+06 m .* 2 of 3"):
            groute_py.snap(self.GRAPH, points, within=200)
        assert len(groute_py.snap(self.GRAPH, points[:1], within=200).vertices) == 1

    @pytest.mark.parametrize("within", [None, 50])
    def test_exchanged_coordinates(self, within: float | None) -> None:
        graph = of_places([[7.05, 43], [7.1, 43]])
        with pytest.raises(InputError, match=r"5\.31117e\+06 m .* longitude comes first$"):
            groute_py.snap(graph, [[7.05, 43], [43, 7.1]], within=within)

    def test_far_off_on_a_plane(self) -> None:
        assert groute_py.snap(self.GRAPH, [[9e6, 1]], planar=True).vertices.tolist() == [1]

    def test_the_same_place_twice(self) -> None:
        assert groute_py.snap(self.GRAPH, [[1, 0], [1, 0]]).vertices.tolist() == [1, 1]

    @pytest.mark.parametrize(
        ("points", "problem"),
        [
            ([], r"shape \(k, 2\), not \(0,\)"),
            (np.empty((0, 2)), "there are no points"),
            ([[1, 2, 3]], r"not \(1, 3\)"),
            ([[0, 0], [np.nan, 0]], r"number 1 is \(nan, 0.0\)"),
            ([["a", "b"]], "two numbers each"),
        ],
    )
    def test_wrong_ones(self, points: Any, problem: str) -> None:
        with pytest.raises(InputError, match=problem):
            groute_py.snap(self.GRAPH, points)

    @pytest.mark.parametrize("within", [-1, np.nan, np.inf, "far"])
    def test_wrong_limits(self, within: Any) -> None:
        with pytest.raises(InputError, match="the limit of a snap's distance"):
            groute_py.snap(self.GRAPH, [[0, 0]], within=within)

    def test_a_graph_without_vertices(self) -> None:
        with pytest.raises(InputError, match="no vertices"):
            groute_py.snap(of_places(np.empty((0, 2))), [[0, 0]])


class TestFiles:
    """Files of points, and of pairs of points."""

    def test_names_and_other_columns(self, tmp_path: Path) -> None:
        path = tmp_path / "points.csv"
        path.write_text('height,lat,name,lon\n3,41.5,"Oslo, N",-73\n\n4,-2,b,7e1\n')
        points = read_points(path)
        assert points.coordinates.tolist() == [[-73, 41.5], [70, -2]]
        assert (points.names, points.titles) == (["Oslo, N", "b"], ("lon", "lat"))
        path.write_text("x,y\n1,2\n")
        assert read_points(path).names == ["1"]

    def test_pairs(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.csv"
        path.write_text("target_y,target_x,source_x,source_y\n4,3,1,2\n")
        ends = read_point_pairs(path)
        assert ends is not None
        assert [end.coordinates.tolist() for end in ends[:2]] == [[[1, 2]], [[3, 4]]]
        for ids in ("source,target\n4,5\n", "4,5\n", ""):
            path.write_text(ids)
            assert read_point_pairs(path) is None

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "expected the titles lon,lat or x,y, got ''"),
            ("a,b\n1,2\n", "csv:1: expected the titles lon,lat or x,y, got 'a,b'"),
            ("lon,lat,x,y\n1,2,3,4\n", "expected the titles"),
            ("lon,lon,lat\n1,2,3\n", "has two columns lon"),
            ("lon,lat\n1\n", "csv:2: expected 2 fields, got 1"),
            ("lon,lat\n1,2\n1,north\n", "csv:3: expected a number as lat, got 'north'"),
            ("lon,lat\n1,nan\n", "expected a number as lat, got 'nan'"),
            ('lon,lat\n"1,2\n', "csv:2: unexpected end of data"),
            ("lon,lat\n1,\udcff\n", "expected text in UTF-8"),
        ],
    )
    def test_wrong_ones(self, tmp_path: Path, text: str, problem: str) -> None:
        path = tmp_path / "points.csv"
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(FormatError, match=problem):
            read_points(path)

    def test_no_points(self, tmp_path: Path) -> None:
        (tmp_path / "points.csv").write_text("lon,lat\n")
        with pytest.raises(InputError, match="has no points"):
            read_points(tmp_path / "points.csv")


def test_beside_turns() -> None:
    """Copies of a vertex lie where it lies, but are none that a point belongs to."""
    crossing = graph_of(4, [(0, 1, 5), (1, 2, 1), (1, 3, 1)]).changed(coordinates=np.eye(4, 2))
    solved = expanded(crossing, [(0, 1, 2, 9)])
    result = groute_py.snap(solved, [[0.1, 1.0]], planar=True)
    assert result.vertices.tolist() == [1]


class TestConnected:
    """The greatest strongly connected component, against NetworkX."""

    def network(self, seed: int) -> nx.DiGraph:
        draw = np.random.default_rng(seed)
        network = nx.gnp_random_graph(60, 0.05 if seed % 3 else 0.02, seed=seed, directed=True)
        for vertex in network:
            network.add_node(vertex, x=draw.uniform(0, 0.05), y=draw.uniform(0, 0.05))
        return network

    def test_points_that_all_reach_each_other(self) -> None:
        kinds = set()
        for seed in range(12):
            network = self.network(seed)
            greatest = max(nx.strongly_connected_components(network), key=len)
            points = np.random.default_rng(seed).uniform(0, 0.05, (10, 2))
            places = np.array([[d["x"], d["y"]] for _, d in network.nodes(data=True)])
            everywhere = np.array(sorted(greatest)) if 2 * len(greatest) > 60 else np.arange(60)
            apart = ((points[:, np.newaxis] - places[everywhere]) ** 2).sum(axis=2)
            vertices, _ = groute_py.snap(network, points, within=1e6)
            assert vertices.tolist() == everywhere[apart.argmin(axis=1)].tolist()
            ends = groute_py.Points(points, within=1e6)
            matrix = groute_py.matrix(network, ends, ends, device="cpu")
            assert matrix is not None
            kinds.add(len(everywhere) < 60)
            if len(everywhere) < 60:
                assert (matrix.distances < groute_py.UNREACHED).all()
        assert kinds == {True, False}

    def test_any_vertex_on_request(self) -> None:
        network = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
        for vertex in network:
            network.add_node(vertex, x=0.001 * vertex, y=0.0)
        assert groute_py.snap(network, [(0.002, 0.0)]).vertices.tolist() == [1]
        anywhere = groute_py.snap(network, [(0.002, 0.0)], connected=False)
        assert anywhere.vertices.tolist() == [2]
        end = groute_py.Points([(0.002, 0.0)], connected=False)
        result = groute_py.sssp(network, end, reverse=True, device="cpu")
        assert result is not None
        assert result.path_to(0) == [0, 1, 2]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_points_of_tables(library: str) -> None:
    """By their titles, whatever the order of the columns is."""
    columns = {"name": ["a", "b"], "Latitude": [0.001, 0.0], "lng": [0.0, 0.002], "n": [1, 2]}
    if library == "dict":
        table: Any = columns
    else:
        module = pytest.importorskip(library)
        table = (module.table if library == "pyarrow" else module.DataFrame)(columns)
    network = nx.Graph([("p", "q")])
    network.add_node("p", x=0.0, y=0.001)
    network.add_node("q", x=0.002, y=0.0)
    vertices, metres = groute_py.snap(network, table)
    assert vertices.tolist() == ["p", "q"]
    assert metres.max() < 1e-6
    with pytest.raises(InputError, match="need columns lon,lat or x,y"):
        groute_py.snap(network, {"lon": [1.0], "km": [2.0]})


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (np.array(["a", 1, pd.NA, None, np.nan], object), ["a", "1", None, None, None]),
        (np.array(["a", 1], object), ["a", "1"]),
        (pd.Series([7, None], dtype="Int64"), [7, None]),
        (pd.Series([True, None], dtype="boolean"), ["True", None]),
        (np.array(["2026-05-01", "NaT"], "M8[D]"), ["2026-05-01", None]),
        ([None, None], [None, None]),
    ],
)
def test_columns_of_points(values: Any, wanted: list[Any]) -> None:
    """Text or numbers, with what is missing, in tables of all answers."""
    count = len(wanted)
    table = {"lon": [0.0] * count, "lat": [0.0] * count, "n": values}
    graph = of_places([(0, 0)])
    ends = groute_py.Points(table)
    matrix = groute_py.matrix(graph, ends, [0], device="cpu")
    reach = groute_py.isochrone(graph, ends, 1, each=True, device="cpu")
    assert matrix is not None
    assert reach is not None
    for library in ("polars", "pyarrow"):
        pytest.importorskip(library)
        for answer in (matrix, reach):
            column = answer.to_frame(library=library)["source_n"]
            assert (column.to_list() if library == "polars" else column.to_pylist()) == wanted


def test_columns_of_arrays_are_refused() -> None:
    table = {"lon": [0.0, 0.0], "lat": [0.0, 0.0], "n": [[1, 2], [3, 4]]}
    with pytest.raises(InputError, match="column 'n' has 2 dimensions"):
        groute_py.Points(table)
    ragged = pd.Series([np.zeros(2), np.zeros(3)])
    assert groute_py.Points(table | {"n": ragged}).attributes["n"].tolist() == [
        "[0. 0.]",
        "[0. 0. 0.]",
    ]


def test_points_of_a_geometry() -> None:
    class Geometry:
        x, y = np.array([0.002]), np.array([0.0])

    class Frame:
        geometry = Geometry()

    network = nx.Graph([("p", "q")])
    network.add_node("p", x=0.0, y=0.001)
    network.add_node("q", x=0.002, y=0.0)
    assert groute_py.snap(network, Frame()).vertices.tolist() == ["q"]
