"""The command line and results speak the ids of the file, whatever they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import groute_py
from groute_py import InputError, NegativeCycleError, read_graph
from groute_py.cli.main import commands
from groute_py.graph.ids import Numbering
from groute_py.results.result import read_result

TOWN = "from,to,minutes\nhome,work,5\nwork,pub,2\npub,home,1\nwork,home,9\nzoo,home,4\n"
NUMBERS = "# sparse ids\n-7 1000000000000 5\n1000000000000 3 2\n"
MATRIX = "3\n0 5 1000000\n1000000 0 7\n1000000 1000000 0\n"
CYCLE = "2\n0 -5\n4 0\n"

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder with the files above; the JSON that it prints."""
    monkeypatch.chdir(tmp_path)
    files = {"town.csv": TOWN, "numbers.txt": NUMBERS, "m.mat": MATRIX, "cycle.mat": CYCLE}
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def invoke(*words: object) -> dict[str, Any]:
        done = CliRunner().invoke(commands, [str(word) for word in words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return dict(json.loads(done.stdout)) if "--json" in words else {}

    return invoke


def solved(run: Run, *words: object) -> dict[str, Any]:
    return run("sssp", *words, "--device", "cpu", "--json")


def test_names(run: Run) -> None:
    result = solved(run, "town.csv", "-s", "work", "-t", "home", "-t", "zoo", "--verify")
    assert result["source"] == "work"
    assert result["paths"] == [
        {"target": "home", "distance": 3, "path": ["work", "pub", "home"]},
        {"target": "zoo", "distance": None, "path": []},
    ]


def test_sparse_numbers(run: Run) -> None:
    result = solved(run, "numbers.txt", "-s", "-7", "-t", "3")
    assert result["paths"] == [{"target": 3, "distance": 7, "path": [-7, 10**12, 3]}]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("town.csv", "-s", "pier"),
            "source pier is not a vertex of town; vertices are home, w",
        ),
        (("town.csv", "-t", "pier"), "target pier is not a vertex of town"),
        (("numbers.txt", "-s", "2"), "source 2 is not a vertex of numbers; vertices are -7, 3, 10"),
        (("numbers.txt", "-s", "two"), "source 'two' is no integer, but the graph's ids are"),
        (("town.csv", "-o", "out.npz", "--output-format", "xml"), "unknown output format 'xml'"),
        (("town.csv", "--output-format", "npz"), "--format npz needs --output FILE, or -o - for"),
    ],
)
def test_what_is_not_there(run: Run, words: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError) as caught:
        solved(run, *words)
    assert says in str(caught.value)
    assert not Path("out.npz").exists()


@pytest.mark.parametrize("ids", [range(90, 0, -1), "xyz", [-(2**63), 5, 2**63 - 1], None])
@pytest.mark.parametrize("count", [3, 40])
def test_many_at_once(ids: Any, count: int) -> None:
    names = np.array(list(ids)) if ids is not None else None
    numbering = Numbering(90 if names is None else len(names), 1, names)
    known = list(range(1, 91)) if names is None else names.tolist()
    asked = [str(vertex) for vertex in (known * 40)[:count]]
    assert numbering.indices_of(asked, "source", "town").tolist() == [
        numbering.index_of(vertex) for vertex in asked
    ]
    for wrong in ("91", "-5", str(2**63), str(-(2**63) - 1)):
        with pytest.raises(InputError, match=f"source {wrong} is not a vertex of town"):
            numbering.indices_of([*asked, wrong], "source", "town")


def test_many_of_none() -> None:
    nobody = Numbering(0, ids=np.zeros(0, np.int64))
    assert nobody.indices_of([]).tolist() == []
    with pytest.raises(InputError, match="is not a vertex"):
        nobody.indices_of(range(40))


@pytest.mark.parametrize("command", ["sssp", "apsp"])
def test_a_negative_cycle_by_its_ids(run: Run, command: str) -> None:
    Path("loop.csv").write_text("from,to,km\na,b,3\nb,c,-5\nc,b,1\n")
    with pytest.raises(NegativeCycleError, match=r"negative cycle of weight -4: [bc] → [bc] → "):
        run(command, "loop.csv", "--device", "cpu")


TABLES = {
    "out.csv": "vertex,distance_min,predecessor\nhome,3,pub\nwork,0,\npub,2,work\nzoo,inf,\n",
    "out.txt": "home 3\nwork 0\npub 2\nzoo inf\n",
    "out.sol": "p sol sp 4\ns work\nd home 3 pub\nd work 0\nd pub 2 work\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(run: Run, name: str) -> None:
    solved(run, "town.csv", "-s", "work", "-o", name)
    assert Path(name).read_text() == TABLES[name]


def test_parquet(run: Run) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    solved(run, "town.csv", "-s", "work", "-o", "out.parquet")
    rows = [tuple(row.values()) for row in pq.read_table("out.parquet").to_pylist()]
    assert rows == [("home", 3, "pub"), ("work", 0, None), ("pub", 2, "work"), ("zoo", None, None)]
    solved(run, "numbers.txt", "-s", "3", "-o", "few.parquet", "--no-predecessors")
    assert pq.read_table("few.parquet").to_pylist()[1] == {"vertex": 3, "distance": 0}


def test_npz_comes_back_with_its_ids(run: Run) -> None:
    solved(run, "town.csv", "-s", "work", "-o", "out.npz")
    again = read_result("out.npz")
    assert again.numbering.ids_of(np.array([again.source])).tolist() == ["work"]
    assert run("verify", "town.csv", "out.npz", "--json")["source"] == "work"


def test_ids_stay_when_vertices_are_reordered(run: Run) -> None:
    result = solved(run, "town.csv", "-s", "work", "-t", "home", "--order", "bfs", "--verify")
    assert result["paths"][0]["path"] == ["work", "pub", "home"]


def test_a_converted_graph_keeps_its_ids(run: Run) -> None:
    for before, after in (
        ("town.csv", "a.csr"),
        ("a.csr", "b.parquet"),
        ("b.parquet", "c.wel.zst"),
    ):
        run("convert", before, after)
        result = solved(run, after, "-s", "work", "-t", "home")
        assert result["paths"][0]["path"] == ["work", "pub", "home"]


def test_the_cached_copy_keeps_ids(run: Run) -> None:
    for _ in range(2):
        result = solved(run, "town.csv", "-s", "work", "-t", "home", "--cache", "kept")
        assert result["paths"][0]["path"] == ["work", "pub", "home"]
    assert len(list(Path("kept").iterdir())) == 1


def test_undirected(run: Run) -> None:
    result = solved(run, "town.csv", "-s", "work", "-t", "zoo", "--undirected", "--verify")
    assert result["paths"][0]["path"] == ["work", "pub", "home", "zoo"]
    assert run("info", "town.csv", "--undirected", "--json")["arcs"] == 10


def test_the_answer_to_a_matrix(run: Run) -> None:
    solved(run, "m.mat", "-s", "1", "-o", "out.txt", "--output-format", "matrix-distances")
    assert Path("out.txt").read_text() == "1000000\n0\n7\n"


def test_the_answer_to_a_matrix_with_a_negative_cycle(run: Run) -> None:
    with pytest.raises(NegativeCycleError):
        solved(run, "cycle.mat", "-o", "out.txt", "--output-format", "matrix-distances")
    assert Path("out.txt").read_text() == "FOUND NEGATIVE CYCLE!\n"


def test_a_negative_cycle_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "loop.csv").write_text("a,b,1\nb,c,-4\nc,b,1\n")
    with pytest.raises(NegativeCycleError, match=r"b → c → b|c → b → c"):
        groute_py.sssp(read_graph(tmp_path / "loop.csv"), "a", device="cpu")


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_names_on_two_ranks(run: Run, groute: Any) -> None:
    words = ["sssp", "town.csv", "-s", "work", "-t", "home", "--device", "cpu", "--json"]
    done = groute(*words, ranks=2)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["paths"][0]["path"] == ["work", "pub", "home"]
    done = groute(*words[:3], "pier", ranks=2)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("source pier is not a vertex") == 1


@pytest.mark.parametrize("vertex", ["1_0", "2.7", 2.7, " 2", "\u0662", "", "+-2"])
def test_what_is_no_integer(vertex: Any) -> None:
    with pytest.raises(InputError, match="is no integer"):
        Numbering(20).index_of(vertex)


def test_integers_of_any_kind() -> None:
    assert [Numbering(20, 1).index_of(v) for v in (2, "2", "+2", np.int32(2))] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("town.csv", "t.gr", "vertices home, work, pub, … (4 in all) are 1..4 in t.gr"),
        ("m.mat", "m.mtx", "vertices 0..2 are 1..3 in m.mtx"),
        ("m.mat", "m.wsg", None),
        ("town.csv", "t.parquet", None),
    ],
)
@pytest.mark.usefixtures("run")
def test_convert_says_when_ids_change(source: str, target: str, says: str | None) -> None:
    done = CliRunner().invoke(commands, ["convert", source, target])
    assert done.exit_code == 0, done.output
    said = " ".join(done.stderr.split())
    assert (says in said) if says else ("vertices 0..2 are" not in said and "home" not in said)
