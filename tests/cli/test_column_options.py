"""The columns of a file by name, in every command and in the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from groute_py import InputError, read_graph
from groute_py.cli.main import commands

ROADS = "u,v,key,length,travel_time\n1,2,0,5,50\n2,3,0,6,40\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    Path("g.csv").write_text(ROADS)

    def invoke(*words: str) -> Any:
        done = CliRunner().invoke(commands, words)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.stdout

    return invoke


def test_every_command(run: Callable[..., Any]) -> None:
    length, time = ["--weight", "length"], ["--weight", "travel_time"]
    for words, farthest in ((length, 11), (time, 90)):
        result = json.loads(run("sssp", "g.csv", "-s", "1", "--device", "cpu", "--json", *words))
        assert result["greatest_distance"] == farthest
        run("sssp", "g.csv", "-s", "1", "--device", "cpu", "-o", "r.npz", *words)
        assert json.loads(run("verify", "g.csv", "r.npz", "--json", *words))["verified"]
        command = ["apsp", "g.csv", "--reduce", "max", "--device", "cpu", "--json"]
        assert json.loads(run(*command, *words))["greatest_distance"] == farthest
        run("convert", "g.csv", "g.csr", *words)
        assert int(read_graph("g.csr").weights.sum()) == farthest
    command = ["bfs", "g.csv", "-s", "3", "--tail", "v", "--head", "u", "--device", "cpu", "--json"]
    assert json.loads(run(*command, *length))["greatest_distance"] == 2
    with pytest.raises(InputError, match="weights may be length or travel_time"):
        run("info", "g.csv")


def test_a_copy_of_other_columns_is_not_believed(run: Callable[..., Any]) -> None:
    for weight, total in (("length", 11), ("travel_time", 90)) * 2:
        assert int(read_graph("g.csv", cache="kept", weight=weight).weights.sum()) == total
    assert len(list(Path("kept").iterdir())) == 2
    plan = ["plan", "g.csv", "--cache", "kept", "--gpu-memory", "9", "--json"]
    assert json.loads(run(*plan, "--weight", "length"))["arcs"] == 2
    with pytest.raises(InputError):
        run(*plan)


def test_info_says_what_was_read(run: Callable[..., Any]) -> None:
    Path("g.csv").write_text(f"# of a town\n{ROADS}")
    command = ["info", "g.csv", "--cache", "kept", "--weight", "length"]
    for _ in range(2):  # the second time from the copy
        result = json.loads(run(*command, "--json"))
        assert result["columns"] == {"tail": "u", "head": "v", "weight": "length"}
        assert result["comments_skipped"] == 1
    assert "tail u, head v, weight length" in run(*command)
    Path("h.csv").write_text("from,to\n1,2\n")
    assert "tail from, head to, every arc weighs 1" in run("info", "h.csv")


def test_convert_counts_comments(run: Callable[..., Any]) -> None:
    Path("h.csv").write_text("# one\n1,2,3\n#4,5,6\n")
    done = CliRunner().invoke(commands, ["convert", "h.csv", "h.csr"])
    assert "2 lines of comments were skipped in h.csv" in done.output


def test_a_column_is_ignored(run: Callable[..., Any]) -> None:
    Path("h.csv").write_text("source,target,length_m,cost,reverse_cost\n1,2,5,1,9\n2,3,6,1,9\n")
    solve = ("sssp", "h.csv", "-s", "1", "--device", "cpu", "--json", "--weight", "length_m")
    with pytest.raises(InputError, match="leave it out with --ignore-column"):
        run(*solve)
    assert json.loads(run(*solve, "--ignore-column", "reverse_cost"))["greatest_distance"] == 11
    graph = read_graph("h.csv", ignore_columns=["length_m", "reverse_cost"], cache="kept")
    assert graph.weights.tolist() == [1, 1]
    both = read_graph("h.csv", weight="cost", cache="kept")
    assert sorted(both.weights) == [1, 1, 9, 9]  # not the copy without the arcs back
    with pytest.raises(InputError, match="no column 'reverse'"):
        run(*solve, "--ignore-column", "reverse_cost", "--ignore-column", "reverse")
    with pytest.raises(InputError, match="'length_m' cannot be both read and ignored"):
        run(*solve, "--ignore-column", "length_m")
    with pytest.raises(InputError, match="leave out ignored column 'cost'"):
        run("info", "road:3x3", "--ignore-column", "cost")


def test_an_empty_name_is_refused() -> None:
    for option in ("--weight", "--ignore-column"):
        done = CliRunner().invoke(commands, ["info", "road:3x3", option, ""])
        assert done.exit_code == 2
        assert "names no column" in done.output
