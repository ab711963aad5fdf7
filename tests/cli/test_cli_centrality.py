"""``groute-py centrality``: answers, files, messages and exit codes."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import Run
from support.keeping import write_at_once
from support.processes import Job

from groute_py import InputError
from groute_py.cli.centrality import COUNTED, MEASURES, NUMBERS
from groute_py.errors import InterruptedRun, signalled
from groute_py.many import reduce
from groute_py.many.storage.store import Store


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure(run: Run, small: Path, measure: str) -> None:
    done = run("centrality", measure, small, "--device", "cpu", "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert (answer["measure"], answer["vertices"], answer["sources"]) == (measure, 4, 4)
    if measure == "diameter":
        assert (answer["diameter"], answer["from"], answer["to"]) == (8, 4, 3)
    if measure == "radius":
        assert (answer["radius"], answer["from"], answer["to"]) == (8, 4, 3)
    if measure == "mean":
        assert (answer["mean"], answer["pairs"]) == (pytest.approx((4 + 7 + 3 + 1 + 5 + 8) / 6), 6)
    if measure == "betweenness":
        assert answer["top"][0] == {"vertex": 1, "betweenness": 2.0}
        assert answer["exact_counts"]
    if measure == "edge-betweenness":
        assert answer["top"][0] == {"tail": 1, "head": 2, "edge_betweenness": 4.0}
    if measure == "closeness":
        assert answer["top"][0] == {"vertex": 2, "closeness": 1 / 3}
        assert answer["reaches_all"] is False


@pytest.mark.parametrize("measure", MEASURES)
def test_a_single_vertex(run: Run, tmp_path: Path, measure: str) -> None:
    (tmp_path / "one.gr").write_text("p sp 1 0\n")
    done = run("centrality", measure, tmp_path / "one.gr", "--device", "cpu", "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    if measure in NUMBERS:
        assert answer[measure] == (None if measure == "mean" else 0)
    elif measure == "edge-betweenness":
        assert answer["top"] == []
    else:
        assert answer["top"] == [{"vertex": 1, measure: 0}]


def test_the_radius(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text("tail,head,weight\na,b,3\nb,c,4\nc,a,5\n")
    done = run("centrality", "radius", tmp_path / "ring.csv", "--device", "cpu", "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert (answer["radius"], answer["from"], answer["to"]) == (7, "a", "c")


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_files(run: Run, small: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scores.{suffix}"
    words = ("--sources", "1,4", "--device", "cpu", "-o", path)
    done = run("centrality", "betweenness", small, *words)
    assert done.exit_code == 0, done.output
    if suffix == "csv":
        rows = list(csv.DictReader(path.read_text().splitlines()))
        table = {title: [float(row[title]) for row in rows] for title in rows[0]}
    elif suffix == "npz":
        table = {title: column.tolist() for title, column in np.load(path).items()}
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(path).to_pydict()
    assert list(table) == ["vertex", "betweenness", "standard_error"]
    assert table["vertex"] == [1, 2, 3, 4]
    assert table["betweenness"] == [6.0, 3.0, 0.0, 0.0]


def test_arcs_in_a_file(run: Run, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "arcs.csv"
    words = ("--unweighted", "--normalized", "-o", path)
    done = run("centrality", "edge-betweenness", small, *words, "--top", 0)
    assert done.exit_code == 0, done.output
    assert path.read_text().splitlines()[0] == "tail,head,edge_betweenness"
    assert len(path.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("measure", "text"),
    [("diameter", "diameter,from,to\n8,4,3\n"), ("mean", "mean\n4.666666666666667\n")],
)
def test_a_number_in_a_file(run: Run, small: Path, measure: str, text: str) -> None:
    done = run("centrality", measure, small, "--device", "cpu", "-o", small.parent / "number.csv")
    assert done.exit_code == 0, done.output
    assert (small.parent / "number.csv").read_text() == text


@pytest.mark.parametrize("measure", ["mean", "betweenness"])
def test_a_run_that_goes_on(
    run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measure: str
) -> None:
    """An interrupt says what is kept; the next run ends with the file that one run would make."""
    write_at_once(monkeypatch)
    monkeypatch.setattr(reduce, "EVERY_S", 0.0)
    monkeypatch.setattr(reduce, "FIRST", {"cpu": 1})
    monkeypatch.setattr(reduce, "at_once", lambda _: 1)
    save, words = Store.replace, ("centrality", measure, small, "--device", "cpu", "-o")
    alone, ended = tmp_path / "alone.csv", tmp_path / "ended.csv"
    assert run(*words, alone).exit_code == 0

    def interrupted(store: Store, *units: Any, **arrays: Any) -> None:
        save(store, *units, **arrays)
        raise signalled(InterruptedRun("interrupted; nothing was written"))

    with monkeypatch.context() as patch:
        patch.setattr(Store, "replace", interrupted)
        with pytest.raises(InterruptedRun, match=r"1 of 4 sources are complete.*--resume"):
            run(*words, ended)
    assert not ended.exists()
    with pytest.raises(InputError, match="a run in which graph, weighted differed"):
        run(*words, ended, "--resume", "--unweighted")
    done = run(*words, ended, "--resume", "--json")
    assert json.loads(done.stdout)["solved_now"] == 3
    assert ended.read_text() == alone.read_text()
    assert not ended.with_name("ended.csv.partial").exists()


def test_the_table(run: Run, small: Path) -> None:
    done = run("centrality", "harmonic", small, "--reverse", "--top", 2)
    assert done.exit_code == 0, done.output
    assert "reaches all  no" in done.stdout
    assert "harmonic" in done.stdout.split("time")[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["spread", "GRAPH"], "measure 'spread' is unknown"),
        (["betweenness", "GRAPH", "--reverse"], "betweenness does not take --reverse"),
        (["diameter", "GRAPH", "--normalized"], "diameter does not take --normalized"),
        (["mean", "GRAPH", "--resume"], "--resume goes on with an --output"),
        (["mean", "GRAPH", "--resume", "-o", "m.csv"], "there is no unfinished run"),
        (["radius", "GRAPH", "--top", "3"], "radius does not take --top"),
        (["closeness", "GRAPH", "-o", "scores.txt"], "unknown suffix '.txt'"),
        (["closeness", "GRAPH", "-o", "nowhere/scores.csv"], "does not exist"),
        (["closeness", "GRAPH", "-o", "GRAPH"], "is both GRAPH and --output"),
        (["closeness", "GRAPH", "--sources", "9"], "source 9 is not a vertex"),
        (["closeness", "GRAPH", "--sources", "p.csv"], "'p.csv': points are not taken"),
        (["closeness", "GRAPH", "--sources", "2.,4;1,1.5"], "'2.,4;1,1.5': points are not taken"),
        (["closeness", "GRAPH", "--memory-limit", "much"], "is no size"),
        (["closeness", "GRAPH", "--device", "tpu"], "device 'tpu' is unknown"),
    ],
)
def test_wrong_usage(run: Run, small: Path, words: list[str], says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        run("centrality", *(str(small) if word == "GRAPH" else word for word in words))
    assert caught.value.exit_code == 2
    assert not list(small.parent.glob("*.csv"))


def test_the_measures_are_parted() -> None:
    assert not set(COUNTED) & set(NUMBERS)


@pytest.mark.mpi
@pytest.mark.parametrize("measure", ["harmonic", "betweenness", "edge-betweenness"])
def test_the_same_file_on_ranks(groute: Job, tmp_path: Path, measure: str) -> None:
    """Values do not depend on the number of ranks, to the last bit."""
    texts = []
    for ranks in (1, 3):
        path = tmp_path / f"{ranks}.csv"
        words = ("road:30x30", "--sources", "random:100", "--device", "cpu", "-o", str(path))
        done = groute("centrality", measure, *words, ranks=ranks)
        assert done.returncode == 0, done.stderr
        texts.append(path.read_text())
    assert texts[0] == texts[1]
