"""The command isochrone: files, answers, what it refuses."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.graphs import random_graph
from support.keeping import interrupted_at, raising_at, write_at_once
from support.kept_rows import listing
from support.reference import rows_from

import groute_py
from groute_py import InputError, RunError, write_graph
from groute_py.errors import InterruptedRun
from groute_py.jobs import isochrone
from groute_py.maps import isochrone_files
from groute_py.results import tables

GRAPH = "p sp 4 5\na 1 2 60\na 2 1 60\na 2 3 60\na 3 2 60\na 4 1 60\n"
PLACES = "p aux sp co 4\nv 1 0 0\nv 2 1000 0\nv 3 1000 1000\nv 4 0 -1000\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a street of two bends, and a way into it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it.gr").write_text(GRAPH)
    (tmp_path / "it.co").write_text(PLACES)
    return tmp_path


def run(*words: object) -> dict[str, Any]:
    words = ("isochrone", "it.gr", *words)
    return as_json(run_command(*words, "--device", "cpu", "--json"))


def test_a_table_of_vertices(place: Path) -> None:
    result = run("--from", "1", "--limits", "90,60", "-o", "out.csv")
    assert (result["limits"], result["reached"], result["each"]) == ([60, 90], [2, 2], False)
    assert (place / "out.csv").read_text() == (
        "vertex,distance,limit,lon,lat\n1,0,60,0.0,0.0\n2,60,60,0.001,0.0\n"
    )
    (place / "it.co").unlink()
    run("--from", "1", "--limits", "60", "-o", "out.csv")
    assert (place / "out.csv").read_text() == "vertex,distance,limit\n1,0,60\n2,60,60\n"


def test_a_table_of_arcs_towards(place: Path) -> None:
    words = ["--limits", "30,90", "--each", "--reverse", "--planar", "-o", "out.csv"]
    run("--from", "1,3", *words, "--features", "arcs")
    lines = (place / "out.csv").read_text().splitlines()
    assert lines[0] == "source,tail,head,limit,begin,end,begin_x,begin_y,end_x,end_y"
    assert lines[1] == "1,2,1,30,0.5,1.0,500.0,0.0,0.0,0.0"
    assert "1,3,2,90,0.5,1.0,1000.0,500.0,1000.0,0.0" in lines
    assert {line.split(",")[0] for line in lines[1:]} == {"1", "3"}


def test_going_on(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an interrupt between two sources; of another graph or other options it refuses."""
    write_at_once(monkeypatch)
    words = ["--each", "-o", "out.geojson", "--limits", "90,60", "--from", "1,2,3"]
    run(*words[:2], "wanted.geojson", *words[3:])
    with interrupted_at(3, isochrone, "_save"), pytest.raises(InterruptedRun) as caught:
        run(*words)
    assert str(caught.value).startswith("interrupted; 2 of 3 sources are complete in")
    assert not (place / "out.geojson").exists()
    for other, differs in [
        ([*words[:-1], "1,2"], "sources"),
        ([*words[:4], "90,50", *words[5:]], "limits"),
        ([*words, "--reverse"], "graph, reverse"),
        ([*words, "--undirected"], "graph"),
    ]:
        with pytest.raises(InputError, match=f"a run in which {differs} differed"):
            run(*other, "--resume")
    result = run(*words, "--resume")
    assert result["solved_now"] == 1
    assert (place / "out.geojson").read_bytes() == (place / "wanted.geojson").read_bytes()
    assert not (place / "out.geojson.partial").exists()
    with pytest.raises(InputError, match="--resume: without --each the job is one solve"):
        run(*words[1:], "--resume")


def test_going_on_when_only_the_file_is_missing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_at_once(monkeypatch)
    words = ["--each", "-o", "out.csv", "--limits", "90", "--from", "1,2,3"]
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as change:
        change.setitem(tables._WRITERS, ".csv", raising_at(1, print, full))
        with pytest.raises(RunError, match=r"out.csv: cannot be written: No space left"):
            run(*words)
    assert listing(place) == ["it.co", "it.gr", "out.csv.partial"]
    assert run(*words, "--resume")["solved_now"] == 0
    assert (place / "out.csv").read_text().count("\n") == 8
    assert listing(place) == ["it.co", "it.gr", "out.csv"]


@pytest.mark.parametrize("name", ["out.csv", "out.geojson", "out.html"])
def test_the_progress_of_writing(place: Path, name: str) -> None:
    """Bands of many sources take longer than the solves."""
    result = groute_py.isochrone("it.gr", [1, 3], [60], each=True, device="cpu")
    assert result is not None
    done: list[tuple[int, int]] = []
    path = place / name
    listed = isochrone_files.check_form(path, None)
    isochrone_files.write(result, path, listed, None, lambda *n: done.append(n))
    assert done == [(1, 2), (2, 2)]


def test_parquet(place: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    run("--from", "1", "--limits", "60.5", "-o", "out.parquet")
    rows = pq.read_table(place / "out.parquet").to_pylist()
    assert rows[1] == {"vertex": 2, "distance": 60, "limit": 60.5, "lon": 0.001, "lat": 0.0}


def test_parquet_of_parts(place: Path) -> None:
    """The reach of c has no arc, and a name that is missing has no type of its own."""
    pq = pytest.importorskip("pyarrow.parquet")
    (place / "oneway.csv").write_text("from_node,to_node,length_m\na,b,5\nb,c,5\n")
    words = ["oneway.csv", "--from", "a,c", "--each", "--limits", "7", "--features", "arcs"]
    run_command("isochrone", *words, "--device", "cpu", "-o", "arcs.parquet")
    rows = pq.read_table(place / "arcs.parquet").select(["source", "tail", "end"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [("a", "a", 1.0), ("a", "b", 0.4)]
    ends = groute_py.Points({"lon": [0, 0.001], "lat": [0, 0], "name": ["x", None]}, "it.co")
    answer = groute_py.isochrone("it.gr", ends, 1, each=True, device="cpu")
    assert answer is not None
    answer.save("names.parquet")
    assert pq.read_table(place / "names.parquet")["source_name"].to_pylist() == ["x", None]


def features(path: Path) -> list[dict[str, Any]]:
    result = json.loads(path.read_text())
    assert result["type"] == "FeatureCollection"
    return list(result["features"])


def test_geojson(place: Path) -> None:
    run("--from", "1", "--limits", "30,90", "-o", "out.geojson")
    far, near = features(place / "out.geojson")  # the greater one below
    assert [far["properties"], near["properties"]] == [{"limit": 90}, {"limit": 30}]
    assert near["geometry"]["type"] == "MultiPolygon"
    (ring,) = near["geometry"]["coordinates"][0]
    assert 0.0004 < max(x for x, _ in ring) < 0.002
    run("--from", "1", "--limits", "30", "-o", "out.geojson", "--features", "arcs")
    (arc,) = features(place / "out.geojson")
    assert arc["geometry"] == {"type": "LineString", "coordinates": [[0, 0], [0.0005, 0]]}
    assert arc["properties"] == {"tail": 1, "head": 2, "limit": 30, "begin": 0, "end": 0.5}
    run("--from", "1", "--limits", "30", "-o", "out.geojson", "--features", "vertices")
    (vertex,) = features(place / "out.geojson")
    assert vertex["geometry"] == {"type": "Point", "coordinates": [0, 0]}


def test_answers_are_what_a_file_of_theirs_has(place: Path) -> None:
    coordinates = np.array([[0, 0], [0.001, 0], [0.001, 0.001], [0, -0.001]])
    graph = groute_py.read_graph("it.gr").changed(coordinates=coordinates, attribution="© it")
    reach = groute_py.isochrone(graph, [1], [30, 90], device="cpu")
    routes = groute_py.route(graph, [(1, 2), (2, 1)], paths=True, device="cpu")
    assert reach is not None
    assert routes is not None
    for answer in (reach, routes):
        answer.save(place / "out.geojson")
        saved = json.loads((place / "out.geojson").read_text())
        assert json.loads(json.dumps(answer.__geo_interface__)) == saved
        assert saved["attribution"] == "© it"
    plain = groute_py.route(graph, [(1, 2)], device="cpu")
    with pytest.raises(InputError, match="paths=True"):
        _ = plain.__geo_interface__  # type: ignore[union-attr]


def test_maps_of_points(place: Path) -> None:
    (place / "points.csv").write_text("name,lon,lat\nhome,0.0001,0.0\n")
    words = ["--from", "points.csv", "--snap-within", "20", "--limits", "30,90"]
    result = run(*words, "-o", "out.html", "--margin", "20")
    assert result["source_points"][0]["vertex"] == 1
    assert "within reach from home" in (place / "out.html").read_text()
    done = run_command("isochrone", "it.gr", *words, "-o", "out.png", "--device", "cpu")
    assert "limits         30, 90" in done.stdout
    assert (place / "out.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match=r"lies 11.1195 m from the nearest"):
        run(*words[:2], "--snap-within", "11", "--limits", "3", "-o", "other.html")
    assert listing(place) == ["it.co", "it.gr", "out.html", "out.png", "points.csv"]


@pytest.mark.mpi
def test_on_ranks(groute: Callable[..., Any], place: Path) -> None:
    graph = random_graph(60, 200, seed=3, greatest=9)
    write_graph(graph, place / "it.csr")
    words = ["--from", "40,3", "--limits", "9", "--device", "cpu", "-o", place / "out.csv"]
    done = groute("isochrone", place / "it.csr", *words, ranks=3)
    assert done.returncode == 0, done.stderr
    table = np.loadtxt(place / "out.csv", delimiter=",", skiprows=1, dtype=int)
    wanted = rows_from(graph, [40, 3]).min(axis=0)
    assert table[:, 0].tolist() == np.flatnonzero(wanted <= 9).tolist()
    assert table[:, 1].tolist() == wanted[wanted <= 9].tolist()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--limits", "fast"], "'fast' is no amount; write 300, or 5min"),
        (["--limits", "5-"], "--limits '5-': '5-' is not a number"),
        (["--limits", "-5min"], "'-5min' is no amount; write 300, or 5min"),
        (["--limits", f"{'9' * 310}.5min"], "is no amount; write 300, or 5min"),
        (["--limits", "5min"], "'5min': the unit of the weights of .* is not known"),
        (["--limits", "5foo"], "'5foo' is no amount; write 300, or 5min"),
        (["--limits", "3,,4"], "is not a number"),
        (["--limits", "3,-4"], "more than 0"),
        (["--from", "9"], "source 9 is not a vertex"),
        (["--from", ","], "names no source"),
        (
            ["-o", "out.npz"],
            "unknown suffix '.npz'; saved are .csv, .json, .parquet, .geojson",
        ),
        (["-o", "it.gr"], "is both GRAPH and --output"),
        (["-o", "no/x.csv"], "does not exist"),
        (["--features", "bands"], ".csv lists vertices or arcs; it has no features 'bands'"),
        (["-o", "x.html", "--features", "arcs"], ".html shows everything"),
        (["-o", "x.html", "--margin", "0"], "margin must be more than 0"),
        (["-o", "x.csv", "--margin", "9"], "--margin is of areas, and x.csv lists vertices"),
        (["-o", "x.html", "--coordinates", "no.co"], "no.co"),
        (["--snap-within", "4"], "are for points FILE.csv"),
    ],
)
def test_bad_input(place: Path, words: list[str], problem: str) -> None:
    usual = {"--from": "1", "--limits": "60", "-o": "out.csv"}
    usual |= dict(zip(words[::2], words[1::2], strict=True))
    with pytest.raises(InputError, match=problem):
        run(*(word for pair in usual.items() for word in pair))
    assert listing(place) == ["it.co", "it.gr"]


@pytest.mark.parametrize(
    ("title", "limits", "numbers"),
    [
        ("travel_time_min", "90s,.05h", [1.5, 3]),
        ("time (seconds)", "1.5min,3min", [90, 180]),
        ("length_m", "3.5km,4000", [3500, 4000]),
        ("km", "2500m,1mi", [1.609344, 2.5]),
    ],
)
def test_limits_with_units(place: Path, title: str, limits: str, numbers: list[float]) -> None:
    (place / "it.csv").write_text(f"from,to,{title}\n1,2,2\n2,3,3000\n")
    words = ["isochrone", "it.csv", "--from", "1", "--limits", limits, "-o", "out.csv"]
    result = as_json(run_command(*words, "--json", "--device", "cpu"))
    assert result["limits"] == numbers
    assert result["unit"] in {"min", "s", "m", "km"}
    given = [4000 if word == "4000" else word for word in limits.split(",")]
    answer = groute_py.isochrone("it.csv", [1], given, device="cpu")
    assert answer is not None
    assert list(answer.limits) == numbers
    other = "1km" if result["unit"] in {"min", "s"} else "1min"
    with pytest.raises(InputError, match=f"'{other}': the weights of .* are in {result['unit']}"):
        run_command(*words[:5], other, *words[6:])


def test_the_unit_is_of_the_weights_of_the_file(place: Path) -> None:
    """A .csr keeps it; other weights have none that is known."""
    (place / "it.csv").write_text("from,to,travel_time_min\n1,2,2\n2,3,3000\n")
    run_command("convert", "it.csv", "it.csr")
    graph = groute_py.read_graph("it.csr")
    answer = groute_py.isochrone(graph, [1], "5min", device="cpu")
    assert answer is not None
    assert answer.limits == (5,)
    problem = r"'5min': the unit of the weights of .* is not known"
    for other in (graph.with_weights(graph.weights * 60), graph.with_unit_weights()):
        with pytest.raises(InputError, match=problem):
            groute_py.isochrone(other, [1], "5min", device="cpu")
    with (
        groute_py.open("it.csv", device="cpu") as solver,
        solver.with_weights([1, 2]) as changed,
        pytest.raises(InputError, match=problem),
    ):
        changed.isochrone([1], "5min")


def test_amounts_in_files(place: Path) -> None:
    pytest.importorskip("contourpy")
    (place / "it.csv").write_text("from,to,time_s\n1,2,200\n2,1,200\n")
    (place / "places.csv").write_text("id,lon,lat\n1,0,0\n2,0.01,0\n")
    words = ["isochrone", "it.csv", "--from", "1", "--limits", "1.5min", "--device", "cpu"]
    for name in ("out.geojson", "out.html"):
        run_command(*words, "--coordinates", "places.csv", "-o", name)
    (band,) = json.loads((place / "out.geojson").read_text())["features"]
    assert band["properties"] == {"limit_s": 90, "label": "1.5 min"}
    assert '"1.5 min"' in (place / "out.html").read_text()


def test_maps_need_coordinates(place: Path) -> None:
    (place / "it.co").unlink()
    with pytest.raises(InputError, match="has no coordinates; name a file"):
        run("--from", "1", "--limits", "60", "-o", "out.html")
