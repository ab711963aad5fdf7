"""Text of any origin in messages and tables: cut, and without what controls a terminal."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.command import Run, as_json
from support.processes import Job

from groute_py import Graph, InputError, read_graph, write_graph
from groute_py.errors import MOST_QUOTED, FormatError, printable, quote, quoted
from groute_py.io.formats import native

EVIL = "red\x1b[31m\r\x07\u202eback\u2066\x85 \u2028tab\tline\nnext"
"""Colours, a bell, carriage return, bidirectional controls and line ends."""


def is_tame(text: str) -> bool:
    return all(character.isprintable() for character in text.replace("\n", ""))


def test_functions() -> None:
    assert printable("Grüße → 東京") == "Grüße → 東京"
    assert is_tame(printable(EVIL))
    assert "\n" not in printable(EVIL)
    assert printable("\ud800") == "\\ud800"
    assert len(quoted("a" * 10_000)) == len(quote("\x1b" * 10_000)) == MOST_QUOTED
    assert quoted("a" * MOST_QUOTED) == "a" * MOST_QUOTED


def test_messages_of_errors() -> None:
    error = FormatError("a/path", f"expected {EVIL}")
    assert is_tame(str(error))
    assert str(error).count("\n") == 1  # a message of ours may have lines
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    graph = Graph.from_arrays([0, 1, 1], [1], [5], name=EVIL)
    native.write(graph, tmp_path / "evil.csr")
    return tmp_path / "evil.csr"


def test_the_name_of_a_graph(evil: Path, groute: Job) -> None:
    for words in (("info", evil), ("sssp", evil, "-s", "0", "-t", "1")):
        done = groute(*words)
        assert done.returncode == 0, done.stderr
        assert is_tame(done.stdout)
        assert "\\x1b[31m" in done.stdout
        assert json.loads(groute(*words, "--json").stdout)["graph"] == EVIL
    done = groute("sssp", evil, "-s", "9")
    assert done.returncode == 2
    assert is_tame(done.stderr)
    assert done.stderr.count("\n") == 1


def test_a_long_name_of_a_graph(tmp_path: Path, groute: Job) -> None:
    graph = Graph.from_arrays([0, 1, 1], [1], [5], name="n" * 60_000)
    native.write(graph, tmp_path / "long.csr")
    done = groute("sssp", tmp_path / "long.csr", "-s", "9")
    assert done.returncode == 2
    assert len(done.stderr) < 400


def test_ids(tmp_path: Path, run: Run) -> None:
    """In a table they are tame, in --json and in files they are whole."""
    ids = np.array([EVIL, "b" * 3_000])
    graph = Graph(np.array([0, 1, 1]), np.array([1], np.int32), np.array([5], np.int32), ids=ids)
    write_graph(graph, tmp_path / "ids.csr")
    assert read_graph(tmp_path / "ids.csr").ids is not None
    done = run("sssp", tmp_path / "ids.csr", "-s", EVIL, "-t", "b" * 3_000)
    assert done.exit_code == 0, done.output
    assert is_tame(done.stdout)
    assert "b" * 3_000 in done.stdout
    result = as_json(run("sssp", tmp_path / "ids.csr", "-s", EVIL, "-t", "b" * 3_000, "--json"))
    assert result["paths"][0]["path"] == [EVIL, "b" * 3_000]
    with pytest.raises(InputError) as caught:
        run("sssp", tmp_path / "ids.csr", "-s", "c" * 3_000)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    "words",
    [
        "sssp {}",
        "sssp road:5x5 --device {}",
        "sssp road:5x5 --partition {}",
        "sssp road:5x5 -s {}",
        "apsp road:5x5 --sources {}",
        "apsp road:5x5 --memory-limit {}",
        "generate road:{} out.csr",
        "launch slurm -- {}",
    ],
)
def test_long_arguments(words: str, groute: Job) -> None:
    done = groute(*words.format("x" * 5_000).split())
    assert done.returncode == 2
    assert is_tame(done.stderr)
    assert len(done.stderr) < 800 or words == "sssp {}"  # paths stay whole


def test_items_that_would_be_options(tmp_path: Path, groute: Job) -> None:
    (tmp_path / "items").write_text("a.gr\n--output=/etc/passwd\n")
    done = groute("launch", "slurm", "--each", tmp_path / "items", "--", "sssp", "{}")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "the item '--output=/etc/passwd' would be an option of the command" in done.stderr
    (tmp_path / "items").write_text("a.gr\n./--output\n")
    done = groute("launch", "slurm", "--each", tmp_path / "items", "--", "sssp", "{}")
    assert done.returncode == 0, done.stderr
