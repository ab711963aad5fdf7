"""``--turns`` of every command: answers, files, and what is wrong in a file of turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.command import as_json, run_command

import groute_py
from groute_py import InputError
from groute_py.cli.main import commands

TOWN = """from,to,minutes
home,square,3
square,home,3
square,station,1
square,park,2
park,station,4
"""

TITLES = "tail,via,head,cost\n"

TURNS = TITLES + "home,square,station,forbidden\nhome,square,park,1\n"

AROUND = ["home", "square", "park", "station"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a small town and its turns."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "town.csv").write_text(TOWN)
    (tmp_path / "turns.csv").write_text(TURNS)
    return tmp_path


def run(command: str, *words: object) -> dict[str, Any]:
    how = ("--turns", "turns.csv", "--device", "cpu", "--json")
    return as_json(run_command(command, "town.csv", *words, *how))


def test_one_source(place: Path) -> None:
    found = run("sssp", "-s", "home", "-t", "station", "--verify")
    assert found["paths"] == [{"target": "station", "distance": 10, "path": AROUND}]
    assert (found["vertices"], found["arcs"]) == (4, 5)
    back = run("sssp", "-s", "station", "-t", "home", "--reverse", "--verify", "-o", "out.csv")
    assert back["paths"] == [{"target": "home", "distance": 10, "path": AROUND}]
    assert (place / "out.csv").read_text().splitlines()[1:3] == ["home,10,", "square,1,"]


def test_undirected() -> None:
    """The row names one direction alone; now the way round is by a U-turn at the park."""
    found = run("sssp", "-s", "home", "-t", "station", "--undirected", "--verify")
    assert found["paths"][0]["path"] == ["home", "square", "park", "square", "station"]
    assert found["paths"][0]["distance"] == 9
    assert run("sssp", "-s", "station", "-t", "home", "--undirected")["paths"][0]["distance"] == 4


def test_rows_and_matrices(place: Path) -> None:
    run("apsp", "--sources", "home,park", "-o", "rows.npz")
    with np.load(place / "rows.npz") as found:
        assert found["distances"].tolist() == [[0, 3, 10, 6], [groute_py.UNREACHED] * 2 + [4, 0]]
        assert sorted(found) == ["distances", "first_id", "ids", "sources"]
        assert found["ids"].tolist() == ["home", "square", "station", "park"]
    found_json = run("matrix", "--from", "home,square", "--to", "station,home", "-o", "out.csv")
    assert (found_json["vertices"], found_json["targets"]) == (4, 2)
    assert (place / "out.csv").read_text() == (
        "source,target,distance\nhome,station,10\nhome,home,0\nsquare,station,1\nsquare,home,3\n"
    )
    run("matrix", "--from", "home", "--to", "station", "-o", "out.npz")
    with np.load(place / "out.npz") as kept:
        assert (kept["targets"].tolist(), kept["distances"].tolist()) == ([2], [[10]])


def test_routes_and_facilities(place: Path) -> None:
    (place / "pairs.csv").write_text("home,station\nsquare,station\n")
    assert run("route", "--pairs", "pairs.csv", "--paths", "-o", "out.csv")["vertices"] == 4
    lines = (place / "out.csv").read_text().splitlines()
    assert lines[1] == 'home,station,10,"[""home"", ""square"", ""park"", ""station""]"'
    run("nearest", "--facilities", "home,park", "-o", "near.csv")
    assert (place / "near.csv").read_text().splitlines()[1:] == [
        "home,home,0,", "square,home,3,home", "station,park,4,park", "park,park,0,",
    ]  # fmt: skip


def test_query() -> None:
    question = '{"source": "home", "target": "station", "path": true}'
    words = ("query", "town.csv", "--turns", "turns.csv", "--device", "cpu")
    done = CliRunner().invoke(commands, words, question)
    assert json.loads(done.stdout) == {"distance": 10, "path": AROUND}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TITLES + "home,square,zoo,3\n", "turns.csv:2: head zoo is not a vertex of town"),
        (TITLES + "\nhome,station,park,3\n", "turns.csv:3: no arc of town leads from home to st"),
        ("home,square,park,2.5\n", "turns.csv:1: cost 2.5 is no integer"),
        ("home,square,park,1_0\n", "turns.csv:1: a cost must be a number, or forbidden"),
        ("home,square,park,nan\n", "turns.csv:1: a cost must be a number, or forbidden"),
        ("home,square,park\n", "turns.csv:1: expected tail,via,head,cost, got 'home,square,park'"),
        (TURNS + "home,square,park,\n", "turns.csv:4: the same turn is at cost 1 in a line above"),
        ('"home\n', "turns.csv:1: unexpected end of data"),
        ("", "turns.csv: has no turns"),
    ],
)
def test_bad_files(place: Path, text: str, problem: str) -> None:
    (place / "turns.csv").write_text(text)
    with pytest.raises(InputError, match=problem.replace("(", r"\(")):
        run("sssp", "-s", "home")


def test_spellings(place: Path) -> None:
    """All of these forbid; what a file lists twice alike is no problem; titles alone list none."""
    for cost in ("", "inf", "Infinity", " forbidden "):
        line = f"home,square,station,{cost}\n"
        (place / "turns.csv").write_text(line + line)
        assert run("sssp", "-s", "home", "-t", "station")["paths"][0]["distance"] == 9
    (place / "turns.csv").write_text(TITLES)
    assert run("sssp", "-s", "home", "-t", "station")["paths"][0]["distance"] == 4


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("apsp",), "name an --output"),
        (("apsp", "--reduce", "sum"), "name an --output"),
        (("apsp", "--paths", "-o", "out.npz"), "no predecessors"),
        (("sssp", "-o", "turns.csv"), "both"),
    ],
)
def test_what_turns_do_not_go_with(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        run(*words)


@pytest.mark.parametrize("words", [("bfs", "town.csv"), ("centrality", "closeness", "town.csv")])
def test_commands_without_turns(words: tuple[str, ...]) -> None:
    done = run_command(*words, "--turns", "turns.csv")
    assert done.exit_code == 2
    assert "knows no turns; sssp, apsp, matrix" in done.output
