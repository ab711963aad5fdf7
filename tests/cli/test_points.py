"""Points on the map in the place of vertices, in every command that takes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.kept_rows import listing

import groute_py
from groute_py import InputError

GRAPH = "p sp 4 4\na 1 2 5\na 2 3 2\na 3 1 1\na 4 1 4\n"
PLACES = "p aux sp co 4\nv 1 0 0\nv 2 1000000 0\nv 3 1000000 1000000\nv 4 5000000 0\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a graph, its coordinates, and points near its vertices 1 and 4."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it.gr").write_text(GRAPH)
    (tmp_path / "it.co").write_text(PLACES)
    (tmp_path / "points.csv").write_text("name,lon,lat\nhome,0,0.001\nzoo,5,-0.002\n")
    return tmp_path


def run(*words: object) -> dict[str, Any]:
    return as_json(run_command(*words, "--device", "cpu", "--json"))


def test_a_matrix(place: Path) -> None:
    words = ["--from", "points.csv", "--to", "3,1", "-o", "out.csv"]
    result = run("matrix", "it.gr", *words)
    assert [tuple(snap.values())[:2] for snap in result["source_points"]] == [
        ("home", 1),
        ("zoo", 4),
    ]
    metres = [snap["distance"] for snap in result["source_points"]]
    np.testing.assert_allclose(metres, [111.195, 222.390], rtol=1e-5)
    assert "target_points" not in result
    assert (place / "out.csv").read_text().splitlines() == [
        "source,target,distance,source_name",
        "1,3,7,home",
        "1,1,0,home",
        "4,3,11,zoo",
        "4,1,4,zoo",
    ]
    done = run_command("matrix", "it.gr", *words, "--device", "cpu")
    assert "source points  2, up to 222.39 m from their vertices" in done.stdout


def test_a_matrix_of_points_with_one_vertex(place: Path) -> None:
    """A line for each pair of points, and names in Parquet too."""
    (place / "doors.csv").write_text("name,lon,lat\nfront,0,0.001\nback,0,-0.001\n")
    run("matrix", "it.gr", "--from", "doors.csv", "--to", "points.csv", "-o", "out.csv")
    lines = (place / "out.csv").read_text().splitlines()[1:]
    assert lines[:2] == ["1,1,0,front,home", "1,4,inf,front,zoo"]
    assert [line.replace("back", "front") for line in lines[2:]] == lines[:2]
    parquet = pytest.importorskip("pyarrow.parquet")
    run("matrix", "it.gr", "--from", "doors.csv", "--to", "points.csv", "-o", "out.parquet")
    table = parquet.read_table(place / "out.parquet").to_pydict()
    assert table["source_name"] == ["front", "front", "back", "back"]
    assert table["target_name"] == ["home", "zoo"] * 2


def test_nearest_facilities(place: Path) -> None:
    words = ["--facilities", "points.csv", "--snap-within", "300", "-o", "out.csv"]
    result = run("nearest", "it.gr", *words, "--coordinates", "it.co")
    assert [snap["vertex"] for snap in result["facility_points"]] == [1, 4]
    assert (place / "out.csv").read_text().splitlines() == [
        "vertex,facility,distance,next,facility_name",
        "1,1,0,,home",
        "2,1,5,1,home",
        "3,1,7,2,home",
        "4,4,0,,zoo",
    ]


HOMES = "street,lon,lat,people\nHill,0.9,0.001,7\nLane,5,0.001,12\nBay,0.001,0.001,3\n"


def nearest(place: Path, *words: str) -> list[str]:
    (place / "homes.csv").write_text(HOMES)
    result = run("nearest", "it.gr", *words, "--snap-within", "20000", "-o", "out.csv")
    assert (result["answers"], result["vertices"]) == (3, 4)
    return (place / "out.csv").read_text().splitlines()


def test_the_nearest_facility_of_each_home(place: Path) -> None:
    """Homes lie at vertices 2, 4 and 1, and their columns go along; nothing leads to the zoo."""
    title = "vertex_name,vertex_street,vertex_people,facility_name"
    assert nearest(place, "--facilities", "points.csv", "--from", "homes.csv") == [
        f"vertex,facility,distance,next,{title}",
        "2,1,3,3,1,Hill,7,home",
        "4,4,0,,2,Lane,12,zoo",
        "1,1,0,,3,Bay,3,home",
    ]
    assert nearest(place, "--facilities", "5.0,0.0", "--to", "homes.csv", "-k", "2") == [
        f"vertex,rank,facility,distance,next,{title}",
        *('2,1,4,9,1,1,Hill,7,"5.0,0.0"', "2,2,,inf,,1,Hill,7,"),
        *('4,1,4,0,,2,Lane,12,"5.0,0.0"', "4,2,,inf,,2,Lane,12,"),
        *('1,1,4,4,4,3,Bay,3,"5.0,0.0"', "1,2,,inf,,3,Bay,3,"),
    ]


def test_columns_of_tables_in_memory(place: Path) -> None:
    homes = {"lon": [0.001, 5], "lat": [0, 0], "street": ["Bay", None], "rent": [9.5, np.nan]}
    with groute_py.open("it.gr", device="cpu") as graph:
        coordinates = np.array([[0, 0], [1, 0], [1, 1], [5, 0]])
        points = groute_py.Points(homes, coordinates)
        nearest = graph.nearest([4], vertices=points)
        assert nearest is not None
        part = {title: column.shown for title, column in nearest.part(slice(None)).items()}
        assert (part["vertex"], part["distance"]) == ([1, 4], [4, 0])
        assert (part["vertex_street"], part["vertex_rent"]) == (["Bay", None], [9.5, ""])
        matrix = graph.matrix([3], points)
        routes = graph.route((points, points))
        assert matrix is not None
        assert routes is not None
        for answer in (matrix, routes):
            assert answer.part(slice(None))["target_street"].shown == ["Bay", None]


def test_sources_of_all_pairs() -> None:
    result = run("apsp", "it.gr", "--sources", "points.csv")
    assert (result["sources"], len(result["source_points"])) == (2, 2)


def test_routes(place: Path) -> None:
    (place / "pairs.csv").write_text("source_x,source_y,target_x,target_y\n4900000,9,999000,0\n")
    near = ["--planar", "--snap-within", "150000"]  # of which no vertex that others reach is
    result = run("route", "it.gr", "--pairs", "pairs.csv", *near, "-o", "out.csv")
    assert result["source_points"][0]["vertex"] == 4
    assert result["target_points"] == [{"point": "1", "vertex": 2, "distance": 1000.0}]
    assert (place / "out.csv").read_text().splitlines() == [
        "source,target,distance,source_name,target_name",
        "4,2,9,1,1",
    ]


def test_routes_from_each_source_to_each_target(place: Path) -> None:
    words = ["--from", "5.0,-0.002;1,3", "--to", "points.csv"]
    with pytest.raises(InputError, match=r"source .5\.0. is no integer"):
        run("route", "it.gr", *words, "-o", "out.csv")
    words[1] = "5,-0.002;0.,0"
    run("route", "it.gr", *words, "-o", "out.geojson")
    features = json.loads((place / "out.geojson").read_text())["features"]
    rows = [feature["properties"] for feature in features]
    assert [tuple(row.values()) for row in rows] == [
        (4, 1, 4, "5,-0.002", "home"),
        (4, 4, 0, "5,-0.002", "zoo"),
        (1, 1, 0, "0.,0", "home"),
        (1, 4, None, "0.,0", "zoo"),
    ]
    assert list(rows[0])[3:] == ["source_name", "target_name"]
    run("route", "it.gr", "--from", "4,1", "--to", "3", "-o", "out.csv")
    assert (place / "out.csv").read_text() == "source,target,distance\n4,3,11\n1,3,7\n"


def test_more_columns_of_pairs(place: Path) -> None:
    (place / "trips.csv").write_text(
        "from_lon,from_lat,to_lon,to_lat,trips\n5,0,0,0,12\n0,0,1,0,7\n"
    )
    run("route", "it.gr", "--pairs", "trips.csv", "-o", "out.csv")
    lines = (place / "out.csv").read_text().splitlines()
    assert lines == [
        "source,target,distance,source_name,target_name,pair_trips",
        *("4,1,4,1,1,12", "1,2,5,2,2,7"),
    ]


def test_isochrones_of_points(place: Path) -> None:
    words = ["--from", "points.csv", "--limits", "4", "--each"]
    run("isochrone", "it.gr", *words, "-o", "out.csv")
    lines = (place / "out.csv").read_text().splitlines()
    assert lines[0] == "source,source_name,vertex,distance,limit,lon,lat"
    assert [line.split(",")[:4] for line in lines[1:]] == [
        ["1", "home", "1", "0"],
        ["4", "zoo", "1", "4"],
        ["4", "zoo", "4", "0"],
    ]
    pytest.importorskip("contourpy")
    run("isochrone", "it.gr", *words, "-o", "out.geojson")
    features = json.loads((place / "out.geojson").read_text())["features"]
    names = [feature["properties"]["source_name"] for feature in features]
    assert names == ["home", "zoo"]
    run("isochrone", "it.gr", *words, "-o", "out.html")
    assert "within reach from home, zoo" in (place / "out.html").read_text()


@pytest.mark.parametrize("words", [[], ["--turns", "turns.csv"]], ids=["plain", "turns"])
def test_a_road_whose_ends_are_far(place: Path, words: list[str]) -> None:
    """A point in the middle of a long road has a vertex of another road; a note says so."""
    (place / "long.gr").write_text("p sp 4 3\na 1 2 8000\na 2 1 8000\na 3 4 9\n")
    (place / "long.csv").write_text("id,lon,lat\n1,7,43\n2,7.1,43\n3,7.05,43.004\n4,7.05,43.02\n")
    (place / "on.csv").write_text("name,lon,lat\neast,7.1,43\nmid,7.05,43\nlane,7.05,43.0021\n")
    (place / "turns.csv").write_text("1,2,1,forbidden\n")
    given = ["long.gr", "--from", "on.csv", "--to", "1", "--coordinates", "long.csv", "-o", "m.csv"]
    done = run_command("matrix", *given, *words, "--device", "cpu")
    assert "point mid lies 0 m from a road, but 445 m from its vertex 3" in done.stderr
    assert "1 of 3 points do so" in done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("route it.gr --from 1", "give --pairs FILE, or both --from and --to"),
        ("route it.gr --pairs points.csv --from 1 --to 2", "give --pairs FILE, or both"),
        ("route it.gr", "give --pairs FILE, or both --from and --to"),
        ("nearest it.gr --facilities 1 --from 2 --to 3", "--to is for paths from"),
        ("nearest it.gr --facilities 1 --to 3 --to-facility", "--to is for paths from"),
        ("nearest it.gr --facilities 1 --from 9", "vertex 9 is not a vertex|9"),
        ("nearest it.gr --facilities 1 --from two.csv", "has two columns name"),
    ],
)
def test_wrong_ends(place: Path, words: str, problem: str) -> None:
    (place / "two.csv").write_text("name,lon,lat,name\na,0,0,b\n")
    with pytest.raises((InputError, groute_py.FormatError), match=problem):
        run(*words.split(), "-o", "out.csv")


FROM = ["--from", "points.csv", "--to", "1"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([*FROM, "--snap-within", "200"], r"point zoo at \(5, -0.002\) lies 222.39 m .* 1 of 2"),
        ([*FROM, "--snap-within", "-2"], "must be 0 or more"),
        (["--from", "swapped.csv", "--to", "1"], r"point 2 .* more than 1,000 m; .* exchanged"),
        ([*FROM, "--planar"], "--planar is for points x,y; these are lon,lat"),
        (["--from", "plane.csv", "--to", "1"], "give --planar; or call them lon,lat"),
        (["--from", "empty.csv", "--to", "1"], "empty.csv: has no points"),
        (["--from", "none.csv", "--to", "1"], "none.csv"),
        (["--from", "1", "--to", "2", "--snap-within", "2"], "are for points FILE.csv"),
        (
            ["--from", "1", "--to", "2", "--snap", "arc", "--access", "1"],
            "--access are for points FILE.csv",
        ),
        ([*FROM, "--coordinates", "none.co"], "none.co"),
        ([*FROM, "-o", "points.csv"], "is both --from and --output"),
    ],
)
def test_bad_input(place: Path, words: list[str], problem: str) -> None:
    (place / "plane.csv").write_text("x,y\n0,0\n")
    (place / "empty.csv").write_text("lon,lat\n")
    (place / "swapped.csv").write_text("lon,lat\n0,0\n0,5\n")
    before, output = listing(place), [] if "-o" in words else ["-o", "out.csv"]
    with pytest.raises(InputError, match=problem):
        run("matrix", "it.gr", *words, *output)
    assert listing(place) == before


def test_a_graph_without_coordinates(place: Path) -> None:
    (place / "it.co").unlink()
    with pytest.raises(InputError, match="it has no coordinates; name a file of them"):
        run("matrix", "it.gr", *FROM, "-o", "out.csv")


def test_points_are_read_before_the_graph() -> None:
    with pytest.raises(InputError, match=r"points.csv|no.csv"):
        run("nearest", "there/is/none.gr", "--facilities", "no.csv", "-o", "out.csv")


def test_json_has_no_summary() -> None:
    done = run_command("nearest", "it.gr", "--facilities", "points.csv", "-o", "o.csv", "--json")
    assert isinstance(json.loads(done.stdout)["facility_points"], list)


class TestLines:
    """Routes as GeoJSON."""

    PAIRS = "4,3\n3,4\n2,2\n"

    def test_a_collection(self, place: Path) -> None:
        (place / "pairs.csv").write_text(self.PAIRS)
        result = run("route", "it.gr", "--pairs", "pairs.csv", "-o", "out.geojson")
        assert result["reached_pairs"] == 2
        there, nowhere, here = json.loads((place / "out.geojson").read_text())["features"]
        assert there["properties"] == {"source": 4, "target": 3, "distance": 11}
        assert there["geometry"] == {
            "type": "LineString",
            "coordinates": [[5, 0], [0, 0], [1, 0], [1, 1]],
        }
        assert nowhere["properties"] == {"source": 3, "target": 4, "distance": None}
        assert nowhere["geometry"] is None
        assert here["geometry"]["coordinates"] == [[1, 0], [1, 0]]

    def test_in_python(self, place: Path) -> None:
        routes = groute_py.route("it.gr", [(4, 3), (1, 2)], paths=True, device="cpu")
        assert routes is not None
        with pytest.raises(InputError, match="has no coordinates"):
            routes.save("out.geojson")
        routes = replace(routes, attribution="© they")
        routes.save("out.geojson", "it.co", planar=True)
        result = json.loads((place / "out.geojson").read_text())
        assert result["attribution"] == "© they"
        assert result["features"][1]["geometry"]["coordinates"] == [[0, 0], [1e6, 0]]
        alone = groute_py.route("it.gr", [(4, 3)], device="cpu")
        assert alone is not None
        with pytest.raises(InputError, match="lines need paths"):
            alone.save("out.geojson", "it.co")

    def test_beyond_the_date_line(self, place: Path) -> None:
        (place / "it.co").write_text(
            "p aux sp co 4\nv 1 179900000 0\nv 2 -179900000 0\nv 3 -179000000 0\nv 4 0 0\n"
        )
        (place / "pairs.csv").write_text("1,3\n")
        run("route", "it.gr", "--pairs", "pairs.csv", "-o", "out.geojson")
        (line,) = json.loads((place / "out.geojson").read_text())["features"]
        assert line["geometry"]["coordinates"] == [[179.9, 0], [180.1, 0], [181, 0]]

    def test_without_coordinates(self, place: Path) -> None:
        (place / "it.co").unlink()
        (place / "pairs.csv").write_text(self.PAIRS)
        with pytest.raises(InputError, match="has no coordinates"):
            run("route", "it.gr", "--pairs", "pairs.csv", "-o", "out.geojson")
        assert not (place / "out.geojson").exists()


def test_a_list_of_ids_may_be_called_csv(place: Path) -> None:
    (place / "ids.csv").write_text("1\n4\n")
    run("matrix", "it.gr", "--from", "@ids.csv", "--to", "3", "-o", "out.csv")
    assert (place / "out.csv").read_text().splitlines()[1:] == ["1,3,7", "4,3,11"]


@pytest.mark.parametrize(
    "words",
    [
        ["matrix", "--from", "points.csv", "--to", "1"],
        ["nearest", "--facilities", "points.csv"],
        ["isochrone", "--from", "points.csv", "--limits", "5"],
        ["route", "--pairs", "pairs.csv"],
    ],
    ids=lambda words: words[0],
)
def test_no_input_is_replaced(place: Path, words: list[str]) -> None:
    (place / "pairs.csv").write_text("source_lon,source_lat,target_lon,target_lat\n0,0,5,0\n")
    table = "id,lon,lat\n1,0,0\n2,1,0\n3,1,1\n4,5,0\n"
    (place / "table.csv").write_text(table)
    command, *rest = words
    given = ["it.gr", *rest, "--coordinates", "table.csv", "--device", "cpu"]
    with pytest.raises(InputError, match="is both"):
        run_command(command, *given, "-o", "table.csv")
    if command != "isochrone":
        with pytest.raises(InputError, match=r"points\.csv: is both|pairs\.csv: is both"):
            run_command(command, *given, "-o", "out.csv", "--trace", rest[1])
    assert (place / "table.csv").read_text() == table
