"""``--turns`` of every command: answers, files, and what is wrong in a file of turns."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.command import as_json, run_command
from support.keeping import interrupted_at, write_at_once
from support.line_graph import distances_by_arc, pairs_of

import groute_py
from groute_py import InputError, read_graph
from groute_py.cli.main import commands
from groute_py.errors import InterruptedRun
from groute_py.jobs import isochrone

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
    device = () if command == "verify" else ("--device", "cpu")
    how = ("--turns", "turns.csv", *device, "--json")
    return as_json(run_command(command, "town.csv", *words, *how))


def test_one_source(place: Path) -> None:
    result = run("sssp", "-s", "home", "-t", "station", "--verify")
    assert result["paths"] == [{"target": "station", "distance": 10, "path": AROUND}]
    assert (result["vertices"], result["arcs"]) == (4, 5)
    run("sssp", "-s", "home", "-o", "out.npz")
    assert run("verify", "out.npz")["verified"]
    back = run("sssp", "-s", "station", "-t", "home", "--reverse", "--verify", "-o", "out.csv")
    assert back["paths"] == [{"target": "home", "distance": 10, "path": AROUND}]
    assert (place / "out.csv").read_text().splitlines()[1:3] == ["home,10,", "square,1,"]


def test_undirected() -> None:
    """The row names one direction alone; now the way round is by a U-turn at the park."""
    result = run("sssp", "-s", "home", "-t", "station", "--undirected", "--verify")
    assert result["paths"][0]["path"] == ["home", "square", "park", "square", "station"]
    assert result["paths"][0]["distance"] == 9
    assert run("sssp", "-s", "station", "-t", "home", "--undirected")["paths"][0]["distance"] == 4


def test_rows_and_matrices(place: Path) -> None:
    run("apsp", "--sources", "home,park", "-o", "rows.npz")
    with np.load(place / "rows.npz") as result:
        assert result["distances"].tolist() == [[0, 3, 10, 6], [groute_py.UNREACHED] * 2 + [4, 0]]
        assert sorted(result) == ["distances", "first_id", "ids", "sources"]
        assert result["ids"].tolist() == ["home", "square", "station", "park"]
    found_json = run("matrix", "--from", "home,square", "--to", "station,home", "-o", "out.csv")
    assert (found_json["vertices"], found_json["targets"]) == (4, 2)
    assert (place / "out.csv").read_text() == (
        "source,target,distance_min\nhome,station,10\nhome,home,0\nsquare,station,1\nsquare,home,3\n"
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
    run("nearest", "--facilities", "home,park", "-k", "2", "-o", "two.csv")
    assert (place / "two.csv").read_text().splitlines()[5:7] == [
        "station,1,park,4,park", "station,2,home,10,park",
    ]  # fmt: skip


def test_isochrones(place: Path) -> None:
    run("isochrone", "--from", "home", "--limits", "6", "-o", "reach.csv")
    lines = (place / "reach.csv").read_text().splitlines()
    assert lines[1:] == ["home,0,6", "square,3,6", "park,6,6"]
    run("isochrone", "--from", "home", "--limits", "5", "--features", "arcs", "-o", "arcs.csv")
    lines = (place / "arcs.csv").read_text().splitlines()
    assert lines[1:] == [
        "home,square,5,0.0,1.0", "square,home,5,0.0,0.6666666666666666", "square,park,5,0.0,0.5",
    ]  # fmt: skip


def test_isochrones_that_go_on(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an interrupt between two sources; with other turns it refuses."""
    write_at_once(monkeypatch)
    words = ["isochrone", "--each", "--from", "home,park,square", "--limits", "6,3"]
    words += ["--features", "arcs"]
    run(*words, "-o", "wanted.csv")
    words += ["-o", "arcs.csv"]
    with interrupted_at(3, isochrone, "_save"), pytest.raises(InterruptedRun):
        run(*words)
    turns = (place / "turns.csv").read_text()
    (place / "turns.csv").write_text(turns.splitlines()[0] + "\n")
    with pytest.raises(InputError, match="a run in which graph differed"):
        run(*words, "--resume")
    (place / "turns.csv").write_text(turns)
    assert run(*words, "--resume")["solved_now"] == 1
    assert (place / "arcs.csv").read_text() == (place / "wanted.csv").read_text()


def test_query() -> None:
    question = '{"source": "home", "target": "station", "path": true}'
    words = ("query", "town.csv", "--turns", "turns.csv", "--device", "cpu")
    done = CliRunner().invoke(commands, words, question)
    assert json.loads(done.stdout) == {"unit": "min", "distance": 10, "path": AROUND}


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


ROADS = """link_id,from,to,cost,reverse_cost
7,0,1,3,3
8,1,2,5,-1
9,1,2,4,4
7,2,3,2,-1
11,3,1,-1,1
"""
"""Link 7 is two roads, 8 and 9 are parallel, and 11 leads back only."""

BY_LINK = "from_link_id,to_link_id,cost\n7,9,forbidden\n8,7,1\n9,7,6\n"


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("undirected", [False, True])
def test_by_ids_of_arcs(place: Path, names: bool, undirected: bool) -> None:
    """The same as by the numbers of the arcs, which are found one by one."""
    roads, turns = ROADS, BY_LINK
    if undirected:
        roads = roads.replace("11,3,1,-1,1", "11,3,1,1,1")
    if names:
        for number in ("7", "8", "9", "11"):
            roads = re.sub(f"^{number},", f"way {number},", roads, flags=re.M)
        turns = re.sub(r"\b([789])(?=,(?!1$|6$))", r"way \1", turns)
        turns = re.sub(r",([79]),", r",way \1,", turns)
    (place / "roads.csv").write_text(roads)
    (place / "turns.csv").write_text(turns)
    words = ("sssp", "roads.csv", "-s", "0", "-t", "3", "--turns", "turns.csv", "--device", "cpu")
    how = ["--undirected"] if undirected else []
    result = as_json(run_command(*words, *how, "--verify", "--json"))
    graph = read_graph(place / "roads.csv", undirected=undirected)
    links = _links(graph)
    listed = {(7, 9): None, (8, 7): 1, (9, 7): 6}
    costs = {
        pair: listed[links[pair[0]], links[pair[1]]]
        for pair in pairs_of(graph)
        if (links[pair[0]], links[pair[1]]) in listed
    }
    assert len(costs) >= 3
    wanted = distances_by_arc(graph, costs, 0)
    assert result["paths"][0]["distance"] == wanted[3]


def _links(graph: groute_py.Graph) -> list[int]:
    """The link of each arc, by its ends and, of the parallel ones, by its weight."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    known = {(0, 1): 7, (2, 3): 7, (1, 3): 11}
    arcs = zip(tails, graph.heads.tolist(), graph.weights.tolist(), strict=True)
    return [known.get((min(arc[:2]), max(arc[:2])), 8 if arc[2] == 5 else 9) for arc in arcs]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("7,8,1\n7,12,1\n", "turns.csv:3: '12' is no link_id of an arc of roads"),
        ("7,8,1\n7,9223372036854775808,1\n", "turns.csv:3: '9223372036854775808' is no link_id"),
        ("8,11,1\n", "turns.csv:2: no link_id 11 of roads begins where link_id 8 ends"),
        ("7,8\n", "turns.csv:2: expected from_link_id,to_link_id,cost, got '7,8'"),
        ("7,8,1\n7,8,2\n", "turns.csv:3: the same turn is at cost 1 in a line above"),
    ],
)
def test_bad_files_by_arc(place: Path, text: str, problem: str) -> None:
    (place / "roads.csv").write_text(ROADS)
    (place / "turns.csv").write_text(f"from_link_id,to_link_id,cost\n{text}")
    words = ("sssp", "roads.csv", "-s", "0", "--turns", "turns.csv", "--device", "cpu")
    with pytest.raises(InputError, match=re.escape(problem)):
        run_command(*words)


def test_titles_alone_list_no_turns(place: Path) -> None:
    (place / "roads.csv").write_text(ROADS)
    (place / "turns.csv").write_text(BY_LINK.splitlines()[0])
    words = ("sssp", "roads.csv", "-s", "0", "-t", "3", "--turns", "turns.csv", "--device", "cpu")
    assert as_json(run_command(*words, "--json"))["paths"][0]["distance"] == 4


def test_graphs_without_ids_of_arcs(place: Path) -> None:
    (place / "turns.csv").write_text(BY_LINK)
    for name, problem in (
        ("town.csv", "has no column 'link_id'"),
        ("road:9x9", "was not read with ids of arcs"),
    ):
        with pytest.raises(InputError, match=problem):
            run_command("sssp", name, "-s", "0", "--turns", "turns.csv", "--device", "cpu")


def test_other_tables_by_arc(place: Path) -> None:
    """Frames and Parquet, of roads and of turns."""
    (place / "turns.csv").write_text(BY_LINK)
    roads = {"a_id": [0, 1, 1, 2], "b_id": [1, 2, 2, 3], "m": [3, 5, 4, 2], "link_id": [7, 8, 9, 7]}
    arrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(arrow.table(roads), place / "roads.parquet")
    turns = {"from_link_id": [7, 8, 9], "to_link_id": [9, 7, 7], "cost": [None, 1, 6]}
    pq.write_table(arrow.table(turns), place / "turns.parquet")
    for graph in (roads, place / "roads.parquet"):
        for listed in ("turns.csv", "turns.parquet"):
            result = groute_py.sssp(graph, 0, turns=place / listed, device="cpu")
            assert result is not None
            assert result.distances.tolist() == [0, 3, 8, 11]


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
