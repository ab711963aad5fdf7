"""The benchmarks run, in a tiny form, and a wrong answer makes them fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from support.graphs import scipy_distances
from support.places import ROOT

from groute_py import generate, write_graph
from groute_py.engine.solver import SourceSolver

Bench = Callable[..., tuple[Result, list[dict[str, Any]]]]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Run the command with some cases; what it printed, and the records it wrote."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.__main__ import main

    def run(*cases: str, options: tuple[str, ...] = ()) -> tuple[Result, list[dict[str, Any]]]:
        before = set((tmp_path / "out").glob("*.json"))
        words = ["--output", str(tmp_path / "out"), "--repeat", "2", *options]
        done = CliRunner().invoke(
            main, words + [word for case in cases for word in ("--case", case)]
        )
        files = set((tmp_path / "out").glob("*.json")) - before
        return done, json.loads(files.pop().read_text())["records"] if files else []

    return run


def spoil(monkeypatch: pytest.MonkeyPatch, number: int, change: Callable[[Any], Any]) -> None:
    """Change the answer of the ``number``-th solve, counted from 0 with the tiny first one."""
    solve, calls = SourceSolver.sssp, iter(range(10**6))

    def spoiled(solver: SourceSolver, source: int) -> Any:
        result = solve(solver, source)
        return change(result) if next(calls) == number else result

    monkeypatch.setattr(SourceSolver, "sssp", spoiled)


def longer(result: Any) -> Any:
    distances = result.distances.copy()
    distances[np.flatnonzero(result.reached)[-1]] += 1
    return replace(result, distances=distances)


def uprooted(result: Any) -> Any:
    parents = result.predecessors.copy()
    children = np.flatnonzero(parents >= 0)
    parents[children[-1]] = children[-1]
    return replace(result, predecessors=parents)


def test_solving(bench: Bench, device: str) -> None:
    cases = ("road:30x30", "road:30x30/float32", "rmat:8", "random:50,300")
    done, records = bench(*cases, options=("--both", "--device", device))
    assert done.exit_code == 0, done.output
    assert [(r["case"], r["tree"]) for r in records] == [
        (c, t) for c in cases for t in (True, False)
    ]
    for record in records:
        assert len(record["runs"]) == 2
        assert record["answers_verified"] == 4
        assert record["medians"]["total"] > record["medians"]["solve"] > 0
        assert len(record["peers"]["scipy"]["seconds"]) == 2
        assert done.stdout.count(record["case"]) >= 2


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"trees": (True, False), "delta": 70.0, "repeat": 2},
        {"trees": (False,), "mode": "rounds", "order": "bfs", "prepare": True},
    ],
)
def test_a_job_of_more_ranks_measures_likewise(
    words: dict[str, Any], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import __main__ as command
    from benchmarks.cases import Case
    from benchmarks.plan import Plan
    from benchmarks.ranks import _arguments

    asked: list[Any] = []
    monkeypatch.setattr(command, "measure_all", lambda cases, plan, _: asked.extend([*cases, plan]))
    monkeypatch.setattr(command.Book, "shown", lambda _: "")
    plan, case = Plan("cuda", **words), Case.parse("rmat:8").on(1)
    command.main(_arguments([case], plan, "out"), standalone_mode=False)
    assert asked == [case, plan]


def test_the_table_says_what_was_prepared(bench: Bench) -> None:
    from benchmarks.report import SOLVE_COLUMNS

    for label, shown in (
        ("cpu: some processor", "cpu"),
        ("cuda: H200 #0, prepared", "cuda, prepared"),
        ("cuda: H200 #0, without room to prepare", "cuda"),
    ):
        row: dict[str, Any] = {"runs": [{"statistics": {"devices": [label]}}]}
        assert SOLVE_COLUMNS["on"](row, []) == shown


def test_a_shuffled_road_in_an_order(bench: Bench) -> None:
    for case, order in (
        ("road:30x20", "none"),
        ("shuffled:30x20", "none"),
        ("shuffled:30x20", "bfs"),
    ):
        done, records = bench(case, options=("--order", order, "--no-predecessors"))
        assert done.exit_code == 0, done.output
        assert records[-1]["runs"][0]["statistics"]["order"] == order


def test_a_shuffled_road_is_the_road(bench: Bench) -> None:
    """The same distances from its source, in another order."""
    assert bench  # puts the benchmarks on the path
    from benchmarks.cases import Case, Shelf

    result = []
    for name in ("road:30x20", "shuffled:30x20"):
        case = Case.parse(name)
        graph = Shelf().take(case)
        result.append(scipy_distances(graph, case.kind.source(graph)))
    assert not np.array_equal(result[0], result[1])
    np.testing.assert_array_equal(np.sort(result[0]), np.sort(result[1]))


def test_copies_of_a_road_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the arcs of the one, and pairs next to each other the roads between, both ways."""
    from benchmarks import cases, tiles

    road = generate("road:5x4")
    monkeypatch.setattr(tiles, "topology", lambda _: road)
    graph = cases.KINDS["tiles"].load("tiles:2x3x4:NW")
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    arcs = list(zip(tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True))
    own = set(zip(road.tails().tolist(), road.heads.tolist(), road.weights.tolist(), strict=True))
    within = [(tail, head, weight) for tail, head, weight in arcs if tail // 20 == head // 20]
    assert len(within) == 6 * road.arc_count
    assert {(tail % 20, head % 20, weight) for tail, head, weight in within} == own
    between = sorted(arc for arc in arcs if arc[0] // 20 != arc[1] // 20)
    assert between == sorted((head, tail, weight) for tail, head, weight in between)
    pairs = [(tail // 20, head // 20) for tail, head, _ in between if tail < head]
    beside = [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]
    assert sorted(pairs) == sorted(4 * beside)


@pytest.mark.parametrize("name", ["tiles", "tiles:2x3:NW", "tiles:2x3x4"])
def test_tiles_of_another_form(bench: Bench, name: str) -> None:
    done, _ = bench(name)
    assert done.exit_code == 2
    assert "ROWSxCOLUMNSxROADS" in done.output


def test_the_raw_numbers_say_where_they_come_from(bench: Bench, tmp_path: Path) -> None:
    bench("road:9x9", options=("--commit", "abc", "--delta", "70", "--no-predecessors"))
    (file,) = (tmp_path / "out").iterdir()
    assert file.name.startswith("cpu-1-20")
    content = json.loads(file.read_text())
    assert content["commit"] == "abc"
    assert {"groute-py", "python", "numpy", "numba", "scipy", "mpi"} <= content["versions"].keys()
    (record,) = content["records"]
    assert record["runs"][0]["statistics"]["delta"] == 70
    assert not record["tree"]


def test_two_commands_of_one_second_write_two_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.raw import RawNumbers

    monkeypatch.setattr("time.strftime", lambda _: "now")
    files = [RawNumbers(tmp_path / "out", "cpu-1") for _ in range(3)]
    for round_ in range(2):
        for number, file in enumerate(files):
            file.write({"command": number, "round": round_})
    assert [file.name for file in files] == [
        "cpu-1-now.json",
        "cpu-1-now-2.json",
        "cpu-1-now-3.json",
    ]
    written = {path.name: json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()}
    assert written == {
        file.name: {"command": number, "round": 1} for number, file in enumerate(files)
    }


def test_reading(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import cases, reading

    (tmp_path / cases.NY_FILE).parent.mkdir()
    write_graph(generate("road:20x20"), tmp_path / cases.NY_FILE)
    monkeypatch.setenv("GROUTE_PY_TEST_DATA", str(tmp_path))
    monkeypatch.setattr(reading, "GENERATED", "road:30x30")
    monkeypatch.setattr(reading, "SUFFIXES", (".gr", ".parquet"))
    done, (compressed, plain, other) = bench("reading")
    assert done.exit_code == 0, done.output
    assert len(compressed["read_s"]) == len(compressed["gzip_s"]) == len(plain["read_s"]) == 7
    assert [plain["file"], other["file"]] == ["road:30x30.gr", "road:30x30.parquet"]

    monkeypatch.setattr(reading, "read_graph", lambda *_, **__: generate("road:20x20", seed=2))
    done, _ = bench("reading")
    assert done.exit_code == 3
    assert "WRONG ANSWER" in done.output


def test_reading_another_graph(bench: Bench) -> None:
    done, records = bench("reading:road:9x9")
    assert done.exit_code == 0, done.output
    assert {record["arcs"] for record in records} == {generate("road:9x9").arc_count}


def test_a_missing_file_is_skipped_with_the_reason(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUTE_PY_TEST_DATA", str(tmp_path))
    done, records = bench("NY", "road:9x9")
    assert done.exit_code == 0
    assert "GROUTE_PY_TEST_DATA" in records[0]["skipped"]
    assert "NY: skipped" in done.stdout
    assert "runs" in records[1]


def test_new_york(bench: Bench, data_folder: Path) -> None:
    done, records = bench("NY")
    assert done.exit_code == 0, done.output
    assert records[0]["verified"] == "certificate and digest"


@pytest.mark.parametrize("number", [1, 2, 4], ids=["first", "warm-up", "last"])
def test_a_wrong_distance_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    spoil(monkeypatch, number, longer)
    done, records = bench("road:20x20", "road:9x9")
    assert done.exit_code == 3
    assert "WRONG ANSWER" in records[0]["failed"]
    assert "road:20x20: FAILED" in done.stdout
    assert "runs" in records[1]


@pytest.mark.parametrize("number", [1, 2, 4], ids=["first", "warm-up", "last"])
def test_a_wrong_tree_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    spoil(monkeypatch, number, uprooted)
    done, records = bench("road:20x20")
    assert done.exit_code == 3
    assert "WRONG ANSWER" in records[0]["failed"]


def test_another_digest_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import cases

    kind = cases.KINDS["road"]._replace(digest=cases.NY_DIGEST)
    monkeypatch.setitem(cases.KINDS, "road", kind)
    done, _ = bench("road:20x20")
    assert done.exit_code == 3
    assert "digest" in done.output


def test_a_peer_that_disagrees_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import peers

    def wrong(graph: Any, source: int, device: str) -> Any:
        solve, distances = peers.scipy_dijkstra(graph, source, device)
        return solve, lambda result: distances(result) + 1

    monkeypatch.setattr(peers, "PEERS", {"scipy": wrong})
    done, _ = bench("road:20x20")
    assert done.exit_code == 3
    assert "scipy" in done.output


@pytest.mark.parametrize("case", ["mesh:3", "", "road:9x9@0", "road:9x9/int64"])
def test_an_unknown_case_is_refused(bench: Bench, case: str) -> None:
    done, records = bench(case)
    assert done.exit_code == 2
    assert records == []


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_ranks_run_in_a_job_of_their_own(bench: Bench) -> None:
    done, records = bench("road:40x40", "road:40x40@2")
    assert done.exit_code == 0, done.output
    assert [record["ranks"] for record in records] == [1, 2]
    assert records[1]["runs"][0]["statistics"]["mode"] != "alone"


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_a_failure_on_several_ranks_is_passed_on(bench: Bench) -> None:
    done, records = bench("random:0,5@2")
    assert done.exit_code == 2
    assert "need a vertex" in records[0]["failed"]


def test_methods_are_cases(bench: Bench) -> None:
    names = ("road:30x30=heap-dijkstra", "road:30x30/unit=bfs", "dense:20=dense-bellman-ford")
    done, records = bench(*names)
    assert done.exit_code == 0, done.output
    assert [record["case"] for record in records] == list(names)
    ran = [record["runs"][0]["statistics"]["algorithm"] for record in records]
    assert ran == ["heap-dijkstra", "bfs", "dense-bellman-ford"]
    assert records[1]["medians"]["solve"] > 0
    assert "peers" not in records[0]


def test_the_set_of_methods() -> None:
    from benchmarks.cases import Case, methods
    from groute_py.engine.algorithms.methods import algorithms

    for device in ("cpu", "cuda"):
        cases = [Case.parse(name) for name in methods(device)]
        assert {case.method for case in cases} == {"auto", *algorithms()}
        assert len(set(cases)) == len(cases)
