"""Rows in files: complete or to be gone on with, whatever ends the run."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph
from support.keeping import failing
from support.kept_rows import Run, every, job_of, left, listing, row_file, solved

from groute_py import Graph, InputError, Result, RunError, verify, write_graph
from groute_py.cli.outputs import save_rows
from groute_py.comm.base import SoloChannel
from groute_py.many.storage import row_files
from groute_py.many.storage.folder import RunFolder
from groute_py.many.to_file import check_output

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def graph() -> Graph:
    return random_graph(40, 120, seed=3, greatest=9)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.mpi
@pytest.mark.one_mpi
def test_a_file_of_all_rows(groute: Command, tmp_path: Path, graph: Graph, ranks: int) -> None:
    write_graph(graph, tmp_path / "it.csr")
    (tmp_path / "out.npz").write_text("an older one")
    done = groute(
        "apsp", tmp_path / "it.csr", "-o", tmp_path / "out.npz", "--paths", "--json",
        "--device", "cpu", ranks=ranks,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["solved_now"] == 40
    rows = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(rows["distances"], every(graph))
    for source in rows["sources"]:
        tree = rows["predecessors"][source].astype(np.int64)
        verify(graph, Result(int(source), rows["distances"][source], tree))
    assert listing(tmp_path) == ["it.csr", "out.npz"]


def test_npy_by_a_problem_file(groute: Command, tmp_path: Path, graph: Graph) -> None:
    write_graph(graph, tmp_path / "it.gr")
    (tmp_path / "some.ss").write_text("p aux sp ss 2\ns 40\ns 3\n")
    done = groute(
        "apsp", tmp_path / "it.gr", "--sources", tmp_path / "some.ss", "--device", "cpu",
        "-o", tmp_path / "out.npy",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), every(graph)[[39, 2]])


def test_zarr(tmp_path: Path, graph: Graph) -> None:
    zarr = pytest.importorskip("zarr")
    job, path = job_of(graph, predecessors=True), tmp_path / "out.zarr"
    solved(path, job)
    np.testing.assert_array_equal(zarr.open_group(str(path))["distances"][:], every(graph))
    assert listing(tmp_path) == ["out.zarr"]


class Interrupting:
    """Hands rows on, and fails when it has so many blocks."""

    def __init__(self, run: Run, blocks: int, failure: BaseException) -> None:
        self.run, self.blocks, self.failure = run, blocks, failure
        self.positions: list[int] = []

    def take(self, positions: Any, block: Any) -> None:
        if self.blocks == 0:
            raise self.failure
        self.blocks -= 1
        self.positions += positions.tolist()
        self.run.rows.take(positions, block)


def test_a_finished_row_is_not_computed_twice(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groute_py.device.cpu.rows.BLOCK_BYTES", 1)
    job, path = job_of(graph, algorithm="heap"), tmp_path / "out.npy"
    first = Interrupting(Run(path, job), 3, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        first.run.deliver(sink=first)
    first.run.store.close()
    assert not path.exists()
    second = Interrupting(Run(path, job, resume=True), 1000, KeyboardInterrupt())
    second.run.deliver(sink=second)
    second.run.finish()
    assert first.positions
    assert sorted(first.positions + second.positions) == list(range(40))
    np.testing.assert_array_equal(np.load(path), every(graph))


@pytest.mark.parametrize(
    "what", ["rows", "distances", "run.json", "short", "empty", "named", "unnamed"]
)
def test_a_damaged_run_is_not_gone_on_with(tmp_path: Path, graph: Graph, what: str) -> None:
    path = tmp_path / "out.npy"
    left(path, job_of(graph))
    folder = tmp_path / "out.npy.partial"
    if what == "short":
        os.truncate(row_file(path, "distances"), 1000)
    elif what == "empty":
        (folder / "run.json").write_text("[1]")
    elif what in ("named", "unnamed"):
        record = json.loads((folder / "run.json").read_text())
        del record["files"]
        if what == "named":
            record["files"] = "../elsewhere"
        (folder / "run.json").write_text(json.dumps(record))
    else:
        (folder / what if what == "run.json" else row_file(path, what)).unlink()
    says = "no unfinished run" if what == "run.json" else "is damaged"
    with pytest.raises(InputError, match=f"{says}.*leave out --resume"):
        Run(path, job_of(graph), resume=True)


def test_what_a_finished_run_has_left_behind(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, path = job_of(graph), tmp_path / "out.npy"
    run = Run(path, job)
    run.deliver()
    monkeypatch.setattr(RunFolder, "remove", lambda _: None)
    run.finish()
    monkeypatch.undo()
    with pytest.raises(InputError, match="is complete"):
        Run(path, job, resume=True)
    np.testing.assert_array_equal(np.load(path), every(graph))


def test_a_signal_before_the_first_row_leaves_nothing(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(row_files, "_reserve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Run(tmp_path / "out.npy", job_of(graph))
    assert listing(tmp_path) == []


def test_what_changed_is_noticed(tmp_path: Path, graph: Graph) -> None:
    path = tmp_path / "out.npy"
    left(path, job_of(graph))
    other = random_graph(40, 120, seed=4, greatest=9)
    with pytest.raises(InputError, match=r"run in which graph differed; leave out --resume"):
        Run(path, job_of(other), resume=True)
    with pytest.raises(InputError, match="run in which algorithm differed"):
        Run(path, job_of(graph, algorithm="floyd"), resume=True)
    (tmp_path / "out.npy.partial" / "run.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        Run(path, job_of(graph), resume=True)
    with pytest.raises(InputError, match="no unfinished run"):
        Run(tmp_path / "new.npy", job_of(graph), resume=True)


def test_a_full_disk(tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    job, path = job_of(graph), tmp_path / "out.npy"
    run = Run(path, job)
    run.deliver(run.missing[:9])

    with monkeypatch.context() as change:
        change.setattr(row_files.os, "pwrite", failing(errno.ENOSPC))
        with pytest.raises(RunError, match=r"No space left .* --resume"):
            run.deliver()
    run.store.close()
    solved(path, job, resume=True)
    np.testing.assert_array_equal(np.load(path), every(graph))


def test_a_disk_that_cannot_be_reserved(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_files.os, "posix_fallocate", failing(errno.ENOSPC))
    with pytest.raises(RunError, match="No space left on device; nothing was written"):
        Run(tmp_path / "out.npy", job_of(graph))
    assert listing(tmp_path) == []


def test_a_disk_that_reserves_nothing(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems cannot; then the file only has its length."""

    monkeypatch.setattr(row_files.os, "posix_fallocate", failing(errno.EOPNOTSUPP))
    job, path = job_of(graph), tmp_path / "out.npy"
    solved(path, job)
    np.testing.assert_array_equal(np.load(path), every(graph))


def test_a_disk_with_too_little_room(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        row_files.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000})()
    )
    with pytest.raises(RunError, match=r"take 12,800 bytes .* 1,000 are free"):
        Run(tmp_path / "out.npy", job_of(graph))
    assert listing(tmp_path) == []


def test_wrong_outputs(tmp_path: Path) -> None:
    for name, paths, problem in [
        ("out.txt", False, "unknown suffix"),
        ("out.npy", True, "one array"),
        ("none/out.npy", False, "does not exist"),
    ]:
        with pytest.raises(InputError, match=problem):
            check_output(tmp_path / name, predecessors=paths)


@pytest.mark.parametrize("name", ["out.npy", "out.npz"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_link_and_a_mode_stay(
    tmp_path: Path, graph: Graph, name: str, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far").mkdir()
    real, out = tmp_path / "far" / name, tmp_path / name
    real.write_text("old")
    real.chmod(0o640)
    out.symlink_to(real)
    replace = Path.replace

    def other_disk(self: Path, target: Path) -> Path:
        if elsewhere and self.parent != target.parent:
            raise OSError(errno.EXDEV, "another disk")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", other_disk)
    save_rows(SoloChannel(), job_of(graph), out, False, None)
    assert out.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    result = np.load(out)
    assert (result if name == "out.npy" else result["distances"]).shape == (40, graph.vertex_count)
    assert listing(tmp_path) == sorted(["far", name])
    assert listing(tmp_path / "far") == [name]


@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_negative_cycle(groute: Command, tmp_path: Path, ranks: int) -> None:
    (tmp_path / "it.gr").write_text("p sp 3 3\na 1 2 4\na 2 3 -3\na 3 2 1\n")
    out = tmp_path / "out.npy"
    done = groute("apsp", tmp_path / "it.gr", "-o", out, "--device", "cpu", ranks=ranks)
    assert done.returncode == 4
    assert "negative cycle of weight -2" in done.stderr
    assert listing(tmp_path) == ["it.gr"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--sources", "9"], "9"),
        (["--sources", "0,x"], "x"),
        (["--sources", "random:5"], "5 sources cannot be drawn from 4"),
        (["--sources", ","], "names no source"),
        (["--reduce", "mean"], "none, sum, max, histogram"),
        (["--reduce", "sum", "-o", "out.npy"], "drop it, or --output"),
        (["--resume"], "--resume goes on with an --output"),
        (["--memory-limit", "much"], "write it as 20G"),
        (["-o", "out.doc"], "unknown suffix"),
        (["--algorithm", "dijkstra"], "floyd, heap, batch"),
    ],
)
def test_bad_input(groute: Command, tmp_path: Path, words: list[str], problem: str) -> None:
    (tmp_path / "it.el").write_text("0 1 3\n1 2 3\n2 3 1\n")
    done = groute("apsp", tmp_path / "it.el", *words)
    assert done.returncode == 2
    assert problem in done.stderr
