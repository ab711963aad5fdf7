"""``groute-py query``: a JSON answer to each line, whatever it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from support.graphs import graph_of, random_graph
from support.reference import rows_from

import groute_py
from groute_py.cli.main import commands
from groute_py.cli.query import LONGEST_LINE
from groute_py.graph.ids import Numbering
from groute_py.jobs import questions
from groute_py.jobs.questions import Questions
from groute_py.maps import areas as maps_areas

TOWN = "from,to,weight\nhome,work,5\nwork,pub,2\npub,home,1\nzoo,home,4\n"


@pytest.fixture
def town(tmp_path: Path) -> Path:
    (tmp_path / "town.csv").write_text(TOWN)
    return tmp_path / "town.csv"


def ask(graph: Path, text: str | bytes, *words: str) -> list[Any]:
    """The answers to an input, in this process."""
    done = CliRunner().invoke(commands, ["query", str(graph), "--device", "cpu", *words], text)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


KNOWN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"source": "zoo", "target": "pub"}, {"distance": 11}),
    (
        {"source": "zoo", "target": "pub", "path": True, "id": [1]},
        {"id": [1], "distance": 11, "path": ["zoo", "home", "work", "pub"]},
    ),
    ({"source": "pub", "target": "zoo", "path": True}, {"distance": None, "path": []}),
    ({"source": "zoo", "targets": ["zoo", "home"]}, {"distances": [0, 4]}),
    (
        {"pairs": [["zoo", "home"], ["pub", "zoo"]], "paths": True},
        {"distances": [4, None], "paths": [["zoo", "home"], []]},
    ),
    (
        {"sources": ["zoo", "pub"], "targets": ["work", "zoo"]},
        {"distances": [[9, 0], [6, None]]},
    ),
    (
        {"sources": ["zoo", "pub"], "limits": [1, 5]},
        {"vertices": ["home", "pub", "zoo"], "distances": [1, 0, 0]},
    ),
    (
        {"sources": ["zoo"], "limits": 6, "arcs": True, "areas": False},
        {
            "vertices": ["home", "zoo"],
            "distances": [4, 0],
            "arcs": [
                {"tail": "home", "head": "work", "limit": 6, "begin": 0, "end": 0.4},
                {"tail": "zoo", "head": "home", "limit": 6, "begin": 0, "end": 1},
            ],
        },
    ),
]


def test_every_kind_in_order(town: Path) -> None:
    text = "".join(f"{json.dumps(question)}\n" for question, _ in KNOWN)
    assert ask(town, text) == [answer for _, answer in KNOWN]
    assert ask(town, text.rstrip("\n"))[-1] == KNOWN[-1][1]  # the last line has no end
    assert ask(town, "") == []


def test_the_other_direction(town: Path) -> None:
    question = {"source": "pub", "target": "zoo", "path": True}
    assert ask(town, json.dumps(question), "--reverse") == [
        {"distance": 11, "path": ["zoo", "home", "work", "pub"]}
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "not a question"),
        ("x", "not a question"),
        ("[1]", "expected a JSON object, got list"),
        ("[" * 100_000, "nested too deep"),
        ("{}", "this one has nothing"),
        ('{"source": "zoo"}', "this one has source"),
        ('{"source": "zoo", "target": "pub", "paths": true}', "this one has paths, source, target"),
        ('{"source": "zoo", "target": "pub", "path": 1}', "path must be true or false"),
        ('{"source": "zoo", "target": "pier"}', "target pier is not a vertex of town"),
        ('{"source": "zoo", "target": null}', "target None is no id"),
        ('{"source": true, "target": "pub"}', "source True is no id"),
        ('{"source": 1e3, "target": "pub"}', "source 1000.0 is no id"),
        ('{"source": {"a": []}, "target": "pub"}', "is no id"),
        ('{"source": "zoo", "targets": []}', "targets must be a list of at least one"),
        ('{"source": "zoo", "targets": "pub"}', "targets must be a list"),
        ('{"pairs": [["zoo"]]}', "a pair must be a source and a target"),
        ('{"pairs": [["zoo", "pub"], null]}', "a pair must be a source and a target"),
        ('{"sources": ["zoo"], "targets": ["pub"], "paths": true}', "this one has paths, sources"),
        ('{"sources": ["zoo"], "limits": []}', "limits must be at least one number"),
        ('{"sources": ["zoo"], "limits": [true]}', "limit must be a number"),
        ('{"sources": ["zoo"], "limits": {"a": 1}}', "is no amount"),
        ('{"sources": ["zoo"], "limits": [-1]}', "a limit must be more than 0"),
        ('{"sources": [], "limits": [3]}', "sources must be a list of at least one"),
        ('{"sources": ["zoo"], "limits": [3], "areas": true}', "town has no coordinates"),
        ('{"sources": ["zoo"], "limits": [3], "arcs": 1}', "arcs must be true or false"),
        ('{"source": "zoo", "target": "pub", "id": NaN}', "NaN is no number in JSON"),
        ('{"source": "zoo", "target": "pub", "id": [-Infinity]}', "-Infinity is no number"),
        ('{"source": "zoo", "target": "pub", "id": 1e400}', "1e400 is out of range"),
        ('{"source": "zoo", "target": "pub", "id": {"a": -1e400}}', "-1e400 is out of range"),
        (f'{{"source": "zoo", "target": {"9" * 5000}}}', "an integer of more than 400 digits"),
        ('{"source": "zoo", "source": "pub", "target": "zoo"}', "'source' is there twice"),
        ('{"source": "zoo", "target": "pub", "id": {"a": 1, "a": 1}}', "'a' is there twice"),
        ("\x00\x7f", "not a question"),
    ],
)
def test_what_cannot_be_answered(town: Path, line: str, problem: str) -> None:
    """The next line is answered as if nothing had been."""
    question = json.dumps(KNOWN[0][0])
    first, second = ask(town, f"{line}\n{question}\n")
    assert problem in first.pop("error")
    assert first == {"kind": "InputError"}
    assert second == KNOWN[0][1]


def test_what_is_no_text(town: Path) -> None:
    first, second = ask(town, b'{"source": "\xff"}\n' + json.dumps(KNOWN[0][0]).encode())
    assert first["kind"] == "InputError"
    assert second == KNOWN[0][1]


def test_the_longest_line(town: Path) -> None:
    question = json.dumps(KNOWN[0][0])
    fits, too_long = question.ljust(LONGEST_LINE), question.ljust(LONGEST_LINE + 1)
    result = ask(town, f"{fits}\n{too_long}\n{too_long * 3}\n{question}\n{too_long}")
    assert [answer.get("distance") for answer in result] == [11, None, None, 11, None]
    assert result[1]["error"] == "a line of more than 1,048,576 bytes"


def test_areas(tmp_path: Path) -> None:
    """As a file has them."""
    pytest.importorskip("contourpy")
    graph = groute_py.generate("road:9x9").changed(
        coordinates=np.stack(np.divmod(np.arange(81), 9), axis=1) / 1000
    )
    groute_py.write_graph(graph, tmp_path / "it.csr")
    question = {"sources": [40], "limits": [3000, 1500], "areas": True}
    (answer,) = ask(tmp_path / "it.csr", json.dumps(question))
    result = groute_py.isochrone(graph, [40], [3000, 1500], device="cpu")
    assert result is not None
    result.save(tmp_path / "it.geojson")
    features = json.loads((tmp_path / "it.geojson").read_text())["features"]
    wanted = [feature["geometry"] for feature in features[::-1]]
    assert [area.pop("limit") for area in answer["areas"]] == [1500, 3000]
    assert answer["areas"] == wanted
    assert answer["vertices"] == result.reaches[0].vertices.tolist()


@pytest.mark.parametrize(("most", "asks"), [(80, {}), (81, {"arcs": True}), (200, {"areas": True})])
def test_the_longest_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, asks: dict[str, bool]
) -> None:
    """What has more entries is an error, and the next line is answered."""
    pytest.importorskip("contourpy")
    monkeypatch.setattr("groute_py.jobs.questions.MOST_ENTRIES", most)
    rows = [(v, w, 5) for v in range(81) for w in (v + 1, v + 9) if w < 81]
    graph = graph_of(81, rows).changed(
        coordinates=np.stack(np.divmod(np.arange(81), 9), axis=1) / 1000
    )
    groute_py.write_graph(graph, tmp_path / "it.csr")
    questions = [{"sources": [0], "limits": [99], **asks}, {"sources": [80], "limits": [9]}]
    first, second = ask(tmp_path / "it.csr", "\n".join(map(json.dumps, questions)))
    assert f"an answer lists up to {most}" in first["error"]
    assert first["kind"] == "InputError"
    assert second == {"vertices": [80], "distances": [0]}


@pytest.mark.parametrize("asks", [{"arcs": True}, {"areas": True}, {"arcs": True, "areas": True}])
def test_what_is_within_reach_ends_at_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asks: dict[str, bool]
) -> None:
    """Of time or of entries, between two limits: the others are not looked at."""
    pytest.importorskip("contourpy")
    graph = groute_py.generate("road:9x9").changed(
        coordinates=np.stack(np.divmod(np.arange(81), 9), axis=1) / 1000
    )
    groute_py.write_graph(graph, tmp_path / "it.csr")
    line = json.dumps({"sources": [40], "limits": list(range(500, 1500)), **asks}).encode()
    outlined: list[object] = []
    outlines = maps_areas._outlines
    monkeypatch.setattr(maps_areas, "_outlines", lambda *w: outlined.append(w) or outlines(*w))
    with groute_py.open(tmp_path / "it.csr", device="cpu") as solver:
        asked = Questions(solver, 600.0)
        monkeypatch.setattr(questions, "MOST_ENTRIES", 400)
        assert asked.answer(line)["kind"] == "InputError"
        assert len(outlined) < 100
        monkeypatch.setattr(questions, "MOST_PIECES", 400)
        assert asked.answer(line)["kind"] == "InputError"
        monkeypatch.setattr(questions, "deadline_in", lambda limit_s: limit_s - 600)
        outlined.clear()
        assert asked.answer(line)["kind"] == "TimeLimitError"
        assert not outlined


def test_a_limit_per_question(tmp_path: Path) -> None:
    groute_py.write_graph(groute_py.generate("road:1000x1000"), tmp_path / "large.csr")
    lines = [{"source": 1001, "target": 998_998}, {"source": 5, "target": 5}] * 2
    words = ("--limit-per-question", "1e-6")
    result = ask(tmp_path / "large.csr", "\n".join(map(json.dumps, lines)), *words)
    assert [answer.get("kind") for answer in result] == ["TimeLimitError", None] * 2
    done = CliRunner().invoke(commands, ["query", "road:9x9", "--limit-per-question", "0"])
    assert "must be more than 0" in str(done.exception)


def test_a_negative_cycle_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "loop.csv").write_text("from,to,weight\na,b,3\nb,c,-5\nc,b,1\nd,e,2\n")
    first, second = ask(
        tmp_path / "loop.csv",
        '{"source": "a", "target": "b"}\n{"source": "d", "target": "e"}\n',
    )
    assert first["kind"] == "NegativeCycleError"
    assert second == {"distance": 2}


def test_a_thousand_questions(tmp_path: Path) -> None:
    graph = random_graph(300, 1200, seed=2, greatest=50)
    groute_py.write_graph(graph, tmp_path / "it.csr")
    pairs = np.random.default_rng(5).integers(0, 300, (1000, 2))
    text = "".join(f'{{"source": {s}, "target": {t}}}\n' for s, t in pairs.tolist())
    result = [answer["distance"] for answer in ask(tmp_path / "it.csr", text)]
    rows = rows_from(graph, range(300))[pairs[:, 0], pairs[:, 1]].tolist()
    assert result == [None if d == groute_py.UNREACHED else d for d in rows]


@pytest.mark.mpi
def test_it_runs_on_one_rank(groute: Any, town: Path) -> None:
    done = groute("query", town, ranks=2)
    assert done.returncode == 2
    assert done.stderr.count("query runs on one rank; start it without mpirun") == 1


@pytest.mark.parametrize("ids", [None, [5, -3, 9], ["b", "a", "ü"], []])
def test_ids_in_order_are_found_alike(ids: list[Any] | None) -> None:
    names = None if ids is None else np.array(ids, np.int64 if not ids else None)
    numbering = Numbering(3 if ids is None else len(ids), 7, names)
    ordered = Numbering(numbering.count, 7, names)
    if names is not None:
        _ = ordered.order
    for vertex in (5, "5", 7, -3, "a", "ü", "", 2**70, "x" * 500):
        outcomes = []
        for find in (ordered.index_of, numbering.index_of):
            try:
                outcomes.append(find(vertex, "source", "it"))
            except groute_py.InputError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def test_points_in_the_place_of_ids(tmp_path: Path) -> None:
    """The nearest vertices by brute force; those of the .co file beside the graph."""
    draw = np.random.default_rng(5)
    places = draw.uniform(0, 0.02, (40, 2)).round(6)
    graph = random_graph(40, 200, 5, 50)
    groute_py.write_graph(graph, tmp_path / "it.gr")
    lines = [f"v {k} {x * 1e6:.0f} {y * 1e6:.0f}\n" for k, (x, y) in enumerate(places, 1)]
    (tmp_path / "it.co").write_text("p aux sp co 40\n" + "".join(lines))
    spots = draw.uniform(0, 0.02, (4, 2)).round(6)
    arcs = list(zip(graph.tails().tolist(), graph.heads.tolist(), strict=True))
    main = np.array(sorted(max(nx.strongly_connected_components(nx.DiGraph(arcs)), key=len)))
    assert len(main) > 20
    near = [int(main[((places[main] - spot) ** 2).sum(axis=1).argmin()]) + 1 for spot in spots]
    a, b, c, d = spots.tolist()
    questions = [
        {"source": a, "target": 7, "path": True},
        {"pairs": [[a, b], [3, c]]},
        {"sources": [a, 5], "targets": [b, d]},
        {"sources": [a], "limits": [90]},
        {"source": [0.0], "target": 1},
        {"source": [70, 20], "target": 1},
    ]
    named = [
        {"source": near[0], "target": 7, "path": True},
        {"pairs": [[near[0], near[1]], [3, near[2]]]},
        {"sources": [near[0], 5], "targets": [near[1], near[3]]},
        {"sources": [near[0]], "limits": [90]},
    ]
    text = "\n".join(map(json.dumps, questions + named))
    answers = ask(tmp_path / "it.gr", text)
    assert answers[:4] == answers[6:]
    assert "two numbers" in answers[4]["error"]
    assert "from the nearest vertex" in answers[5]["error"]
    tail, head = next(arc for arc in arcs if arc[0] != arc[1] and set(arc) <= set(main.tolist()))
    free = {"arcs": [[places[tail].tolist(), places[head].tolist()]], "weights": [0]}
    text = f'{json.dumps(free)}\n{{"source": {tail + 1}, "target": {head + 1}}}'
    assert ask(tmp_path / "it.gr", text) == [{"changed": 1}, {"distance": 0}]


def test_other_weights(town: Path) -> None:
    lines: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"source": "home", "target": "pub"}, {"distance": 7}),
        ({"arcs": [["work", "pub"], ["zoo", "home"]], "weights": [9, 0]}, {"changed": 2}),
        ({"source": "zoo", "target": "pub", "path": True}, {"distance": 14}),
        ({"sources": ["zoo"], "limits": 5}, {"vertices": ["home", "work", "zoo"]}),
        ({"weights": [1, 1, 1, 1]}, {"changed": 4}),
        ({"source": "zoo", "target": "pub"}, {"distance": 3}),
    ]
    answers = ask(town, "\n".join(json.dumps(question) for question, _ in lines))
    for answer, (question, expected) in zip(answers, lines, strict=True):
        assert expected.items() <= answer.items(), (question, answer)
    for question, problem in [
        ({"weights": [1]}, "must have one length"),
        ({"weights": []}, "at least one number"),
        ({"weights": ["a", 1, 1, 1]}, "weights must be numbers"),
        ({"weights": [True, 1, 1, 1]}, "weights must be numbers"),
        ({"weights": [1, 1, 1, 10**30]}, "weight"),
        ({"weights": [2**53 + 1, 0.5, 1, 1]}, "weight 9007199254740993 stands beside decimals"),
        ({"arcs": [["home", "work"], ["work", "pub"]], "weights": [0.5, 2**60]}, "beside decimals"),
        ({"arcs": [["home", "work"]], "weights": [10**30]}, "array of numbers"),
        ({"arcs": True, "weights": [1]}, "arcs must be a list of at least one pair"),
        ({"arcs": [["home", "zoo"]], "weights": [1]}, "no arc of town leads from"),
        ({"arcs": [["home", "work"]], "weights": [1, 2]}, "1 weights are needed"),
        ({"arcs": [["home"]], "weights": [1]}, "a pair must be"),
    ]:
        (error, after) = ask(town, f'{json.dumps(question)}\n{{"source": "zoo", "target": "pub"}}')
        assert problem in error["error"], (question, error)
        assert after == {"distance": 11}
