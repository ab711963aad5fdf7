"""Files whose names are no UTF-8: every command takes them, and what it writes can be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.command import run_command

from groute_py import GraphError
from groute_py.io.graph_file import read_graph

NAME = os.fsdecode(b"s\xfcd")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a graph and its coordinates."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{NAME}.gr").write_text("p sp 3 2\na 1 2 5\na 2 3 4\n")
    places = "p aux sp co 3\nv 1 0 0\nv 2 1000000 0\nv 3 1000000 1000000\n"
    (tmp_path / f"{NAME}.co").write_text(places)
    return tmp_path


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures(place: Path, suffix: str) -> None:
    run_command("plot", f"{NAME}.gr", "-o", f"map.{suffix}", "--size", "300")
    assert (place / f"map.{suffix}").exists()


@pytest.mark.parametrize("suffix", ["png", "html"])
def test_maps(place: Path, suffix: str) -> None:
    reach = ("--from", "1", "--limits", "5", "--device", "cpu")
    run_command("isochrone", f"{NAME}.gr", *reach, "-o", f"map.{suffix}")
    assert (place / f"map.{suffix}").exists()


@pytest.mark.parametrize("target", ["out.csr", f"{NAME}.csr", "out.prepared"])
def test_binary_files(place: Path, target: str) -> None:
    command = "prepare" if target.endswith("prepared") else "convert"
    run_command(command, f"{NAME}.gr", *(("-o",) if command == "prepare" else ()), target)
    assert read_graph(place / target).name == r"s\udcfcd"


def test_a_cache(place: Path) -> None:
    """A copy is believed the second time."""
    first, second = (read_graph(place / f"{NAME}.gr", cache=place / "copies") for _ in range(2))
    assert first.name == second.name == r"s\udcfcd"
    assert len(list((place / "copies").iterdir())) == 1


def test_columns(place: Path) -> None:
    graph = read_graph(place / f"{NAME}.gr")
    with pytest.raises(GraphError, match="characters in UTF-8"):
        graph.changed(columns={"\udce9": graph.weights})
