"""``--arc-weights``: other weights for all arcs of a graph or prepared file, in every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.command import as_json, run_command
from support.commands_on_ranks import run_on_ranks
from support.graphs import scipy_distances
from support.prepared_town import ROAD, write_town
from support.skips import require_metis

from groute_py import FormatError, InputError, read_graph, write_graph
from groute_py.cli.main import commands

OTHER = np.random.default_rng(8).integers(0, 1000, ROAD.arc_count)


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the town and other weights in all forms."""
    monkeypatch.chdir(tmp_path)
    write_town(tmp_path).rename("town.gr")
    np.save("other.npy", OTHER)
    table = "\n".join(["arc,weight", *(f"{k},{w}" for k, w in enumerate(OTHER.tolist()))])
    Path("other.csv").write_text(table)
    return tmp_path


def run(*words: object) -> dict[str, Any]:
    return as_json(run_command(*words, "--json"))


def expected(source: int) -> Any:
    whole = read_graph("town.gr")
    return scipy_distances(whole.with_weights(OTHER), source - whole.first_id)


@pytest.mark.usefixtures("town")
@pytest.mark.parametrize("form", ["npy", "csv", "parquet"])
@pytest.mark.parametrize("graph", ["town.gr", "town.csr", "town.prepared"])
def test_distances(graph: str, form: str) -> None:
    if form == "parquet":
        pa = pytest.importorskip("pyarrow")
        columns = {"weight": OTHER, "arc": np.arange(len(OTHER))}
        pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), "other.parquet")
    words: list[Any] = ["--arc-weights", f"other.{form}", "--device", "cpu"]
    if graph == "town.csr":
        write_graph(read_graph("town.gr"), graph)
    if graph == "town.prepared":
        require_metis()
        run("prepare", "town.gr", "-o", graph, "--device", "cpu", "--separators")
    run("apsp", graph, "--sources", "7,19", "-o", "rows.npz", *words)
    with np.load("rows.npz") as rows:
        assert rows["distances"].tolist() == [expected(7).tolist(), expected(19).tolist()]
    run("sssp", graph, "--source", "7", "-o", "tree.npz", *words)
    result = run("verify", graph, "tree.npz", *words[:2])
    assert result["verified"]
    matrix = ["matrix", graph, "--from", "7", "--to", "19,23", "-o", "m.npy", "--prepare", *words]
    run(*matrix)
    first = read_graph("town.gr").first_id
    assert np.load("m.npy").tolist() == [expected(7)[[19 - first, 23 - first]].tolist()]
    greatest = int(expected(7)[expected(7) < np.iinfo(np.int64).max].max())
    nearest = run("nearest", graph, "--facilities", "7", "-o", "near.csv", *words)
    assert nearest["greatest_distance"] == greatest
    assert run("info", graph, *words[:2])["greatest_weight"] == int(OTHER.max())


@pytest.mark.usefixtures("town")
def test_an_order_of_the_prepared_file_is_taken() -> None:
    require_metis()
    from groute_py.io.tables.columns import Columns
    from groute_py.source.graph_source import GraphSource

    run("prepare", "town.gr", "-o", "town.prepared", "--device", "cpu", "--separators")
    source = GraphSource("town.prepared", Columns(arc_weights="other.npy"))
    assert source.orders is not None
    assert source.orders.find(np.zeros(ROAD.vertex_count + 1, np.int64), None) is not None
    assert source.orders.find(np.zeros(ROAD.vertex_count, np.int64), None) is None


@pytest.mark.usefixtures("town")
def test_query() -> None:
    words = ["query", "town.gr", "--arc-weights", "other.npy", "--device", "cpu"]
    question = json.dumps({"source": 7, "targets": [19]})
    done = CliRunner().invoke(commands, words, input=question)
    first = read_graph("town.gr").first_id
    assert json.loads(done.stdout.splitlines()[-1]) == {"distances": [int(expected(7)[19 - first])]}


@pytest.mark.usefixtures("town")
def test_floats_and_integers() -> None:
    values = OTHER.tolist()
    for last, kind in (("7", "int64"), ("7.5", "float64"), ("1e30", "float64")):
        Path("w.tsv").write_text("\n".join(["weight", *map(str, values[:-1]), last]))
        assert run("info", "town.gr", "--arc-weights", "w.tsv")["weight_type"] == kind


def table(*values: object) -> str:
    return "\n".join(["weight", *map(str, values), ""])


@pytest.mark.usefixtures("town")
@pytest.mark.parametrize("shift", [0, 0.5, 2**54])
def test_a_column_without_titles(shift: float) -> None:
    weights = OTHER + shift
    Path("w.csv").write_text("\n".join(map(str, weights.tolist())))
    run("sssp", "town.gr", "--source", "7", "-o", "one.npz", "--arc-weights", "w.csv")
    np.save("w.npy", weights)
    run("sssp", "town.gr", "--source", "7", "-o", "other.npz", "--arc-weights", "w.npy")
    with np.load("one.npz") as one, np.load("other.npz") as other:
        assert one["distances"].tolist() == other["distances"].tolist()


REFUSED = {
    "two columns without titles": ("1,2\n3,4\n", "expected one column of weights, got 1, 2"),
    "one too few": (OTHER[1:], r"has .* weights of shape .* arcs; give one for each"),
    "two rows": (OTHER.reshape(1, -1), "give one for each"),
    "not a number": (np.where(OTHER[5] == OTHER, np.nan, OTHER), "the weight of arc 5 is nan"),
    "infinite": (np.where(OTHER[5] == OTHER, np.inf, OTHER), "the weight of arc 5 is inf"),
    "beyond int64": (np.uint64(2**63) + OTHER.astype(np.uint64), "arc 0 .* integer of 64 bits"),
    "text": (OTHER.astype(np.str_), "is no array of numbers from numpy.save"),
    "objects": (OTHER.astype(object), "is no array of numbers from numpy.save"),
    "no array": (b"weights", "is no array of numbers from numpy.save"),
    "a word": (table(1, 2, "three"), r"w\.csv:4: expected a finite number, got 'three'"),
    "nan in a table": (table(1, "nan"), r"w\.csv:3: expected a finite number"),
    "a great integer": (table(2**63), r"w\.csv:2: expected an integer of 64 bits"),
    "rounded": (table(0.5, 2**53 + 1), r"w\.csv:3: weight 9007199254740993 stands beside"),
    "a field too many": (table(1, "2,3"), r"w\.csv:3: expected 1 fields, got 2"),
    "two columns": ("weight,cost\n1,2\n", "expected one column of weights, got weight, cost"),
    "no titles": ("", "expected one column|has .* arcs"),
    "too few rows": (table(1, 2), "has 2 weights"),
}


@pytest.mark.usefixtures("town")
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    content, problem = REFUSED[name]
    if isinstance(content, str):
        Path("w.csv").write_text(content)
    elif isinstance(content, bytes):
        Path("w.npy").write_bytes(content)
    else:
        np.save("w.npy", content)
    file = "w.csv" if isinstance(content, str) else "w.npy"
    with pytest.raises(FormatError, match=problem) as caught:
        run("sssp", "town.gr", "--arc-weights", file, "--device", "cpu")
    assert str(caught.value).startswith(file)


@pytest.mark.usefixtures("town")
def test_wrong_use() -> None:
    for words, problem in (
        (["sssp", "town.gr", "--arc-weights", "w.txt"], "unknown suffix '.txt'"),
        (["sssp", "town.gr", "--arc-weights", "no.npy"], "no.npy"),
        (["bfs", "town.gr", "--arc-weights", "other.npy"], "where arcs are counted"),
        (["sssp", "town.gr", "--arc-weights", "other.npy", "-o", "other.npy"], "is both"),
        (["assign", "town.gr", "x.csv", "--arc-weights", "other.npy"], "No such option"),
    ):
        done = CliRunner().invoke(commands, words)
        assert done.exit_code != 0
        assert problem in done.output or problem in str(done.exception)
    np.save("less.npy", -1 - OTHER)
    with pytest.raises(InputError, match="negative"):
        run("isochrone", "town.gr", "--from", "7", "--limits", "9", "-o", "i.csv",
            "--arc-weights", "less.npy", "--device", "cpu")  # fmt: skip


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks(ranks: int, town: Path) -> None:
    write_graph(read_graph("town.gr"), "town.csr")
    np.save("less.npy", OTHER[1:])
    words = ["--source", "7", "--device", "cpu", "--arc-weights"]
    lines = [
        [
            "sssp",
            str(town / "town.csr"),
            *words,
            str(town / "other.npy"),
            "-o",
            str(town / "t.npz"),
        ],
        ["sssp", str(town / "town.csr"), *words, str(town / "less.npy")],
    ]
    done = run_on_ranks(lines, ranks, town)
    assert [one.code for one in done] == [0, 2], done
    with np.load("t.npz") as tree:
        assert tree["distances"].tolist() == expected(7).tolist()
    assert done[1].err.count("give one for each") == 1
