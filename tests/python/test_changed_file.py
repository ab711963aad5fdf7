"""The file that a solver has mapped is written to, or replaced, between two calls."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command import run_command
from support.graphs import graph_of
from support.local_ranks import on_ranks
from support.opening import solver_on

import groute_py
from groute_py import RunError
from groute_py.comm.base import Channel
from groute_py.engine.solving import SourceSolving
from groute_py.jobs.solver import Solver

ARCS = 40

METHODS: dict[str, Callable[[Solver], object]] = {
    "sssp": lambda solver: solver.sssp(0),
    "bfs": lambda solver: solver.bfs(0),
    "apsp": lambda solver: solver.apsp([0]),
    "matrix": lambda solver: solver.matrix([0], [ARCS]),
    "nearest": lambda solver: solver.nearest([0]),
    "route": lambda solver: solver.route([(0, ARCS)]),
    "isochrone": lambda solver: solver.isochrone([0], 3),
    "closeness": lambda solver: solver.closeness([0]),
    "betweenness": lambda solver: solver.betweenness([0]),
    "with_weights": lambda solver: solver.with_weights([2] * ARCS),
    "reversed": lambda solver: solver.reversed(),
}


def line(length: int, path: Path) -> Path:
    """The file of a graph 0 → 1 → … whose arcs have this length."""
    graph = graph_of(ARCS + 1, [(vertex, vertex + 1, length) for vertex in range(ARCS)])
    result = groute_py.prepare(graph, device="cpu") if path.suffix == ".prepared" else graph
    groute_py.write_graph(result, path)
    return path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("suffix", ["csr", "prepared"])
def test_every_method_refuses(method: str, suffix: str, tmp_path: Path) -> None:
    path, other = line(1, tmp_path / f"line.{suffix}"), line(3, tmp_path / f"other.{suffix}")
    with groute_py.open(path, device="cpu") as solver:
        METHODS[method](solver)
        shutil.copyfile(other, path)
        with pytest.raises(RunError, match=rf"line\.{suffix}: was changed while it was in use"):
            METHODS[method](solver)


def test_a_change_during_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = line(1, tmp_path / "line.csr")
    with groute_py.open(path, device="cpu") as solver:
        solve = solver._opened.source_solver._solving.solve

        def late(*arguments: object) -> object:
            os.utime(path, ns=(0, 0))
            return solve(*arguments)

        monkeypatch.setattr(solver._opened.source_solver._solving, "solve", late)
        with pytest.raises(RunError, match="was changed"):
            solver.sssp(0)


def test_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, solve = line(1, tmp_path / "line.csr"), SourceSolving.solve

    def late(*arguments: Any) -> Any:
        os.utime(path, ns=(0, 0))
        return solve(*arguments)

    monkeypatch.setattr(SourceSolving, "solve", late)
    with pytest.raises(RunError, match="was changed"):
        run_command("sssp", path, "--device", "cpu", "-o", tmp_path / "a.npz")
    assert not (tmp_path / "a.npz").exists()


def test_a_solver_with_other_weights_refuses_too(tmp_path: Path) -> None:
    """Its tails and heads are those of the file."""
    path, other = line(1, tmp_path / "line.csr"), line(3, tmp_path / "other.csr")
    with groute_py.open(path, device="cpu") as solver, solver.with_weights([2] * ARCS) as doubled:
        shutil.copyfile(other, path)
        with pytest.raises(RunError, match="was changed"):
            doubled.sssp(0)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_solver_of_the_other_direction_refuses_too(tmp_path: Path, *, reverse: bool) -> None:
    path, other = line(1, tmp_path / "line.csr"), line(3, tmp_path / "other.csr")
    with (
        groute_py.open(path, device="cpu", reverse=reverse) as solver,
        solver.reversed() as turned,
    ):
        shutil.copyfile(other, path)
        with pytest.raises(RunError, match="was changed"):
            turned.sssp(0)


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_what_leaves_the_mapping_as_it_is(how: str, tmp_path: Path) -> None:
    path, other = line(1, tmp_path / "line.csr"), line(3, tmp_path / "other.csr")
    with groute_py.open(path, device="cpu") as solver:
        if how == "replaced":
            other.replace(path)
        else:
            path.unlink()
        result = solver.sssp(0)
    assert result is not None
    assert result.distances[ARCS] == ARCS


def test_the_error_comes_to_all_ranks(tmp_path: Path) -> None:
    path, other = line(1, tmp_path / "line.csr"), line(3, tmp_path / "other.csr")

    def work(channel: Channel) -> str:
        with solver_on(channel, path, device="cpu") as solver:
            solver.sssp(0)
            if channel.rank == 0:
                shutil.copyfile(other, path)
            with pytest.raises(RunError) as caught:
                solver.sssp(0)
        return str(caught.value)

    said = on_ranks(3, work)
    assert len(set(said)) == 1
    assert "was changed while it was in use" in said[0]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_file_stays_open(tmp_path: Path) -> None:
    path = line(1, tmp_path / "line.csr")
    groute_py.sssp(path, 0, device="cpu")
    before = open_files()
    for _ in range(3):
        groute_py.sssp(path, 0, device="cpu")
    assert open_files() <= before
