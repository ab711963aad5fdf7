"""Units in the titles of answers, as titles of tables say them."""

from __future__ import annotations

import csv
import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest
from support.command import as_json, run_command

import groute_py
from groute_py import centrality
from groute_py.graph.units import _unit_in
from groute_py.jobs.questions import Questions

ROADS = {"from": ["a", "b", "c"], "to": ["b", "c", "a"], "travel_time_min": [4, 3, 2]}
ON_CPU: Any = {"device": "cpu"}

ANSWERS = {
    "sssp": (lambda graph: graph.sssp("a"), {"distance"}),
    "apsp": (lambda graph: graph.apsp(), {"distance"}),
    "matrix": (lambda graph: graph.matrix(["a"], ["b"]), {"distance"}),
    "route": (lambda graph: graph.route([("a", "c")]), {"distance"}),
    "nearest": (lambda graph: graph.nearest(["a"], vertices=["c"]), {"distance"}),
    "k nearest": (lambda graph: graph.nearest(["a", "b"], k=2), {"distance"}),
    "isochrone": (lambda graph: graph.isochrone(["a"], ["4min"]), {"distance", "limit"}),
}


def titles(answer: Any, library: str = "pandas") -> list[str]:
    pytest.importorskip(library)
    table = answer.to_frame(library=library)
    return list(table.column_names if library == "pyarrow" else table.columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ANSWERS)
def test_titles_of_answers(name: str, library: str) -> None:
    ask, with_unit = ANSWERS[name]
    with groute_py.open(ROADS, **ON_CPU) as graph:
        answer = ask(graph)
    assert {f"{title}_min" for title in with_unit} <= {*titles(answer, library)}
    assert not with_unit & {*titles(answer, library)}
    assert all(f"{title}_min" in str(answer) for title in with_unit)
    assert titles(pickle.loads(pickle.dumps(answer))) == titles(answer)


def test_accessibility() -> None:
    ends = ["a", "b"], ["b", "c"]
    for reduce, title in (("nearest", "nearest_min"), ("count", "count")):
        answer = groute_py.accessibility(ROADS, *ends, reduce, **ON_CPU)
        assert titles(answer) == ["source", title]


def test_no_unit_where_none_is_known() -> None:
    arrays = ([0, 1, 2, 2], [1, 2], [4, 3])
    assert "distance" in titles(groute_py.sssp(arrays, 0, **ON_CPU))
    assert "distance" in titles(groute_py.bfs(ROADS, "a", **ON_CPU))
    with groute_py.open(ROADS, **ON_CPU) as graph:
        assert "distance" in titles(graph.bfs("a"))
        with graph.with_weights([7, 7, 7]) as other:
            for answer in (other.sssp("a"), other.matrix(["a"], ["b"])):
                assert "distance" in titles(answer)
    with groute_py.open(ROADS, hops=True, **ON_CPU) as graph:
        answers = graph.matrix(["a"], ["b"]), graph.nearest(["a"]), graph.route([("a", "b")])
        for answer in (graph.sssp("a"), *answers):
            assert "distance" in titles(answer)


def test_turns_keep_the_unit() -> None:
    with groute_py.open(ROADS, turns=[("a", "b", "c", 5)], **ON_CPU) as graph:
        for answer in (graph.sssp("a"), graph.matrix(["a"], ["c"]), graph.nearest(["a"])):
            assert "distance_min" in titles(answer)


def test_titles_stay_apart() -> None:
    """A column may be titled as the distances are."""
    roads = ROADS | {"distance_min": [1, 2, 3]}
    how: Any = {"weight": "travel_time_min", "carry": "distance_min", **ON_CPU}
    frame = groute_py.matrix(roads, ["a"], ["c"], **how).to_frame()
    assert frame.loc[0, ["distance_min", "carried_distance_min"]].tolist() == [7, 3]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_any_answer_is_saved_as_its_table(tmp_path: Path, suffix: str) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    read = {".csv": pd.read_csv, ".json": pd.read_json, ".parquet": pd.read_parquet}[suffix]
    with groute_py.open(ROADS, **ON_CPU) as graph:
        answers = graph.matrix(["a"], ["b", "c"]), graph.apsp(), graph.closeness()
    reach = groute_py.accessibility(ROADS, ["a", "b"], ["b", "c"], **ON_CPU)
    for answer in (*answers, reach):
        answer.save(tmp_path / f"out{suffix}")
        pd.testing.assert_frame_equal(
            read(tmp_path / f"out{suffix}"), answer.to_frame(), check_dtype=False
        )
    with pytest.raises(groute_py.InputError, match=r"unknown suffix '.xlsx'"):
        reach.save(tmp_path / "out.xlsx")
    with pytest.raises(groute_py.InputError, match=r"not one alone; write \[source\]"):
        groute_py.matrix(ROADS, "a", ["b"], **ON_CPU)


@pytest.mark.parametrize("suffix", ["csv", "csr"])
def test_commands_write_what_readers_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = zip(*ROADS.values(), strict=True)
    Path("roads.csv").write_text("\n".join(",".join(map(str, r)) for r in [ROADS, *rows]) + "\n")
    run_command("convert", "roads.csv", "roads.csr")
    words = ("matrix", f"roads.{suffix}", "--from", "all", "--to", "all", "-o", "all.csv")
    for more in ((), ("--cutoff", "5min")):
        run_command(*words, *more, "--device", "cpu")
        with open("all.csv", newline="") as file:
            assert next(csv.reader(file)) == ["source", "target", "distance_min"]
    assert groute_py.read_graph("all.csv").unit == "min"
    result = groute_py.sssp(f"roads.{suffix}", "a", **ON_CPU)
    result.save("a.npz")
    assert (
        titles(groute_py.read_result("a.npz")) == titles(result) == ["distance_min", "predecessor"]
    )


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("osmium")
    from support.extracts import grid  # where osmium is

    return grid(5).write(tmp_path_factory.mktemp("town") / "town.osm.pbf")


def test_roads_of_openstreetmap(town: Path) -> None:
    graph = groute_py.read_graph(town)
    how: Any = {"carry": ["length", "time"], **ON_CPU}
    matrix = groute_py.matrix(graph, groute_py.Positions([0]), groute_py.Positions([7]), **how)
    assert titles(matrix)[2:] == ["distance_s", "length_m", "time_s"]
    how["weight"], how["carry"] = "length", None
    routes = groute_py.route(graph, groute_py.Positions([(0, 7)]), paths=True, **how)
    (line,) = routes.__geo_interface__["features"]
    assert [*line["properties"]] == ["source", "target", "distance_m"]
    within = groute_py.isochrone(graph, groute_py.Positions([0]), ["2min"], **ON_CPU)
    bands = json.loads(json.dumps(within.__geo_interface__))["features"]
    assert [band["properties"] for band in bands] == [{"limit_s": 120.0, "label": "2 min"}]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_milliseconds_are_saved_as_seconds(town: Path, tmp_path: Path, suffix: str) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    read = {".csv": pd.read_csv, ".json": pd.read_json, ".parquet": pd.read_parquet}[suffix]
    graph, file = groute_py.read_graph(town), tmp_path / f"out{suffix}"
    ends = groute_py.Positions([0, 3]), groute_py.Positions([7, 9])
    whole: Any = groute_py.matrix(graph, *ends, **ON_CPU)
    assert whole.distances.dtype.kind == "i"
    seconds = [ms / 1000 for ms in whole.distances.reshape(-1).tolist()]
    assert whole.to_frame()["distance_s"].tolist() == seconds
    whole.save(file)
    assert read(file)["distance_s"].tolist() == seconds
    words = ("--from", "11,1031", "--to", "1001,2001", "--device", "cpu")
    run_command("matrix", str(town), *words, "-o", str(file))
    own = groute_py.matrix(graph, [11, 1031], [1001, 2001], **ON_CPU).distances.reshape(-1)
    assert read(file)["distance_s"].tolist() == [ms / 1000 for ms in own.tolist()]


def test_where_no_path_leads(tmp_path: Path) -> None:
    roads: Any = {"from": [1, 3], "to": [2, 4], "time_ms": [1500, 7]}
    tree = groute_py.sssp(roads, 1, **ON_CPU)
    frame = tree.to_frame(library="polars")
    assert frame["distance_s"].to_list() == [0, 1.5, None, None]
    assert tree.to_frame()["distance_s"].tolist() == [0, 1.5, math.inf, math.inf]
    tree.save(tmp_path / "out.npz")  # arrays stay in the unit of the weights
    saved = groute_py.read_result(tmp_path / "out.npz")
    assert (saved.distances == tree.distances).all()
    assert saved.to_frame()["distance_s"].tolist() == tree.to_frame()["distance_s"].tolist()
    eccentric: Any = centrality.eccentricity(roads, **ON_CPU)
    assert eccentric.to_frame()["value_s"].tolist() == [1.5, 0, 0.007, 0]
    assert centrality.closeness(roads, **ON_CPU).to_frame()["value_per_s"][0] == pytest.approx(
        1 / 1.5
    )
    assert "value" in centrality.betweenness(roads, **ON_CPU).to_frame()


def rows_of(*words: str) -> dict[str, Any]:
    return as_json(run_command(*words, "--device", "cpu", "--json"))


def test_commands_show_seconds(town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    graph, file = groute_py.read_graph(town), str(town)
    tree: Any = groute_py.sssp(graph, 11, **ON_CPU)
    far = tree.distances[tree.reached].max() / 1000
    rows = rows_of("sssp", file, "-s", "11", "-o", "tree.npz")
    assert as_json(run_command("verify", file, "tree.npz", "--json"))["verified"]
    assert (rows["unit"], rows["greatest_distance"]) == ("s", far)
    assert rows["sum_of_distances"] == tree.distances[tree.reached].sum() / 1000
    (path,) = rows_of("sssp", file, "-s", "11", "-t", "1001", "--with", "time")["paths"]
    assert path["distance"] == tree.distance_to(1001) / 1000 == path["carried"]["time_s"]
    rows = rows_of("apsp", file, "--sources", "11", "--reduce", "max")
    assert (rows["unit"], rows["greatest_distance"]) == ("s", far)
    rows = rows_of("apsp", file, "--sources", "11", "--reduce", "histogram")
    assert rows["histogram"][-1][0] <= far <= rows["histogram"][-1][1]
    rows = rows_of("nearest", file, "--facilities", "11", "-o", "near.csv")
    assert (rows["unit"], rows["greatest_distance"]) == ("s", far)
    rows = rows_of("isochrone", file, "--from", "11", "--limits", "1min,1500", "-o", "near.csv")
    assert (rows["unit"], rows["limits"]) == ("s", [1.5, 60])
    for measure, more in (("eccentricity", {}), ("diameter", {"diameter": far})):
        rows = rows_of("centrality", measure, file, "--sources", "11", "-o", "out.csv")
        assert {"unit": "s", **more}.items() <= rows.items()
        assert f"{measure}_s" in Path("out.csv").read_text()
    assert rows_of("centrality", "closeness", file)["unit"] == "per s"


def test_questions_are_answered_in_seconds(town: Path) -> None:
    graph = groute_py.read_graph(town)
    distances = groute_py.sssp(graph, 11, **ON_CPU).distances
    far = int(distances[graph.numbering.index_of(1001)])
    asks = (
        {"source": 11, "target": 1001},
        {"sources": [11], "targets": [1001]},
        {"sources": [11], "limits": [far], "arcs": True},
    )
    with groute_py.open(graph, **ON_CPU) as solver:
        questions = Questions(solver)
        one, rows, within = (questions.answer(json.dumps(ask).encode()) for ask in asks)
        assert questions.answer(b'{"source": 11, "target": 77}').keys() == {"error", "kind"}
    assert {one["unit"], rows["unit"], within["unit"]} == {"s"}
    assert one["distance"] == far / 1000 == rows["distances"][0][0]
    assert max(within["distances"]) == far / 1000 == within["arcs"][0]["limit"]


def test_units_are_read_from_the_titles_of_answers() -> None:
    for unit in ("ms", "s", "min", "h", "m", "km", "mi"):
        assert _unit_in(f"distance_{unit}") == unit


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_legends_of_saved_answers(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pyarrow")
    groute_py.sssp(ROADS, "a", **ON_CPU).save(tmp_path / f"out{suffix}")
    for unit, words in (({}, "distance in min"), ({"unit": "blocks"}, "distance in blocks")):
        groute_py.plot(tmp_path / f"out{suffix}", tmp_path / "out.svg", **unit)
        assert words in (tmp_path / "out.svg").read_text()


def test_a_file_of_ids_without_its_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roads.csv").write_text("from,to,time_s\na,b,3\n")
    Path("homes").write_text("a\n")
    words = ("matrix", "roads.csv", "--from", "homes", "--to", "b", "-o", "out.csv")
    with pytest.raises(groute_py.InputError, match="for the ids in the file homes write @homes"):
        run_command(*words)
    with pytest.raises(groute_py.InputError, match="are in s; minutes are min"):
        run_command(*words[:3], "a", *words[4:], "--cutoff", "5m")


def test_rates_are_in_no_unit_of_distances() -> None:
    assert [_unit_in(title) for title in ("cost_per_km", "Cost per minute")] == ["", ""]
