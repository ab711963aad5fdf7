"""Whom a graph names is named by all that is made of it, in the form that each file has for it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.command import as_json, run_command
from support.graphs import graph_of

import groute_py
from groute_py import read_graph, write_graph
from groute_py.cli.main import commands
from groute_py.graph.geography import OPENSTREETMAP

JOBS = {
    "apsp": ("--sources", "2,0"),
    "matrix": ("--from", "0,1", "--to", "1,2"),
    "nearest": ("--facilities", "0"),
    "nearest -k": ("--facilities", "0,1", "-k", "2"),
    "route": ("--pairs", "pairs.csv"),
    "isochrone": ("--from", "0", "--limits", "4"),
    "centrality": (),
    "sssp": ("-s", "0"),
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a graph of data of OpenStreetMap."""
    monkeypatch.chdir(tmp_path)
    graph = graph_of(3, [(0, 1, 2), (1, 0, 2), (1, 2, 3), (2, 1, 3)])
    places = np.array([(0, 0), (0.01, 0), (0.01, 0.01)])
    write_graph(graph.changed(coordinates=places, attribution=OPENSTREETMAP), "city.csr")
    write_graph(graph.changed(coordinates=places), "plain.csr")
    (tmp_path / "pairs.csv").write_text("source,target\n0,2\n1,0\n")
    return tmp_path


def words_of(job: str, graph: str = "city.csr") -> list[str]:
    measure = ["closeness"] if job == "centrality" else []
    return [job.split()[0], *measure, graph, *JOBS[job], "--device", "cpu"]


def in_csv(path: Path) -> list[str]:
    with open(path, newline="", encoding="utf-8") as file:
        return [row["attribution"] for row in csv.DictReader(file)]


def in_npz(path: Path) -> list[str]:
    with np.load(path) as arrays:
        return [str(arrays["attribution"])]


def in_parquet(path: Path) -> list[str]:
    pq = pytest.importorskip("pyarrow.parquet")
    return [pq.read_schema(path).metadata[b"attribution"].decode()]


def in_zarr(path: Path) -> list[str]:
    zarr = pytest.importorskip("zarr")
    return [zarr.open_group(str(path), mode="r").attrs["attribution"]]


FORMS: dict[str, tuple[Callable[[Path], list[str]], tuple[str, ...]]] = {
    "csv": (in_csv, tuple(job for job in JOBS if job != "apsp")),
    "parquet": (in_parquet, tuple(job for job in JOBS if job != "apsp")),
    "npz": (in_npz, ("apsp", "matrix", "nearest", "nearest -k", "centrality", "sssp")),
    "zarr": (in_zarr, ("apsp", "matrix")),
}


@pytest.mark.parametrize("suffix", FORMS)
def test_files_and_json(place: Path, suffix: str) -> None:
    """In each row of a table, or beside the arrays."""
    read, jobs = FORMS[suffix]
    for number, job in enumerate(jobs):
        path = place / f"out{number}.{suffix}"
        result = as_json(run_command(*words_of(job), "-o", path, "--json"))
        assert result["attribution"] == OPENSTREETMAP, job
        assert set(read(path)) == {OPENSTREETMAP}, job


def test_a_measure_of_the_whole_graph() -> None:
    result = as_json(run_command("centrality", "mean", "city.csr", "--json"))
    assert result["attribution"] == OPENSTREETMAP


def test_arcs_within_reach(place: Path) -> None:
    run_command(*words_of("isochrone"), "--features", "arcs", "-o", "arcs.csv")
    assert in_csv(place / "arcs.csv")[0] == OPENSTREETMAP


def test_tables_for_people() -> None:
    lines = run_command(*words_of("apsp")).stdout.splitlines()
    assert ["attribution", *OPENSTREETMAP.split()] in [line.split() for line in lines]


def test_questions() -> None:
    question = '{"source": 0, "target": 2}\n{"source": 77, "target": 2}\n'
    done = CliRunner().invoke(commands, ["query", "city.csr", "--device", "cpu"], question)
    answer, problem = map(json.loads, done.stdout.splitlines())
    assert answer["attribution"] == OPENSTREETMAP
    assert "attribution" not in problem


@pytest.mark.parametrize(
    "words",
    [
        ("out.npz",),
        ("out.npz", "--coordinates", "city.csr"),
        ("out.npy", "--coordinates", "city.csr"),
        ("city.csr", "--parts", "2"),
    ],
)
def test_pictures(place: Path, words: tuple[str, ...]) -> None:
    """Where a result does not say whom to name, the graph of the coordinates does."""
    if words[0] != "city.csr":
        run_command(*words_of("sssp"), "-o", words[0])
    run_command("plot", *words, "-o", "out.svg", "--size", "300")
    assert f"<!-- {OPENSTREETMAP} -->" in (place / "out.svg").read_text(encoding="utf-8")


def test_a_table_of_a_result_can_be_drawn(place: Path) -> None:
    """Its columns behind the third are places, and whom to name."""
    run_command(*words_of("sssp"), "-o", "out.csv")
    run_command("plot", "out.csv", "-o", "out.png", "--size", "300")
    assert (place / "out.png").exists()


def test_nobody_is_named(place: Path) -> None:
    """Without an attribution files and answers have no place for one."""
    for job in ("matrix", "nearest"):
        for suffix in ("csv", "npz"):
            path = place / f"out.{suffix}"
            result = as_json(run_command(*words_of(job, "plain.csr"), "-o", path, "--json"))
            assert "attribution" not in result
            if suffix == "csv":
                assert "attribution" not in path.read_text()
            else:
                with np.load(path) as arrays:
                    assert "attribution" not in arrays


def test_each_row_names_it_whichever_part_has_it(place: Path) -> None:
    one_way = graph_of(3, [(0, 1, 2), (1, 2, 3)])
    write_graph(one_way.changed(attribution=OPENSTREETMAP), "ends.csr")
    words = ("--from", "2,0", "--limits", "4", "--each", "--features", "arcs", "-o", "arcs.csv")
    run_command("isochrone", "ends.csr", *words, "--device", "cpu")
    assert in_csv(place / "arcs.csv") == [OPENSTREETMAP] * 2


def test_arrays_in_memory() -> None:
    graph = read_graph("city.csr")
    assert groute_py.apsp(graph, device="cpu").attribution == OPENSTREETMAP  # type: ignore[union-attr]
    block = groute_py.matrix(graph, [0, 1], [2], device="cpu")
    assert block is not None
    assert block.attribution == OPENSTREETMAP


def test_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of the answer says it, and no column of its table."""
    monkeypatch.setattr("groute_py.cli.outputs.is_terminal", lambda: True)
    table, _, rows = run_command(*words_of("matrix")).output.partition("graph ")
    assert "attribution" in rows
    assert "attribution" not in table
    assert "distance" in table
