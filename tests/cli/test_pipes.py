"""A pipe as an input is refused at once, also where nobody will ever write to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.command import run_command

from groute_py import FormatError, read_graph, snap

NAMES = ("pipe", "pipe.csv", "pipe.ss", "pipe.co", "pipe.npz", "pipe.p2p", "pipe.parquet")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a graph, and pipes nobody writes to; the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("g.csv").write_text("1,2,5\n2,3,6\n")
    for name in NAMES:
        os.mkfifo(name)
    return tmp_path


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "words",
    [
        "sssp pipe",
        "info pipe.csv",
        "verify g.csv pipe",
        "verify g.csv pipe.npz",
        "apsp g.csv --sources @pipe",
        "apsp g.csv --sources pipe.ss",
        "apsp g.csv --sources pipe.csv",
        "apsp g.csv --turns pipe.csv -o y.npy",
        "apsp g.csv --turns pipe.parquet -o y.npy",
        "matrix g.csv --from @pipe --to 1 -o y.npy",
        "nearest g.csv --facilities @pipe -o y.csv",
        "route g.csv --pairs pipe.csv -o y.csv",
        "route g.csv --pairs pipe.p2p -o y.csv",
        "convert g.csv y.csr --coordinates pipe.co",
        "convert g.csv y.csr --coordinates pipe.csv",
        "convert g.csv y.csr --coordinates pipe.parquet",
        "centrality closeness g.csv --sources @pipe",
        "plot pipe.npz -o y.png",
        "plot g.csv --coordinates pipe.co -o y.png",
    ],
)
def test_a_pipe_as_an_input(place: Path, words: str) -> None:
    if "parquet" in words:
        pytest.importorskip("pyarrow")
    with pytest.raises(FormatError, match=r"pipe.*write what a pipe brings to a file first"):
        run_command(*words.split())


@pytest.mark.timeout(60)
def test_a_pipe_in_python(place: Path) -> None:
    with pytest.raises(FormatError, match="write what a pipe brings to a file first"):
        snap(read_graph("g.csv"), [(0, 0)], "pipe.co")
