"""The folder in which rows wait until they are a file: whose it is, and how it goes."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph
from support.keeping import failing
from support.kept_rows import Run, every, job_of, left, listing, solved

from groute_py import Graph, InputError, RunError
from groute_py.cli.outputs import save_rows
from groute_py.comm.base import SoloChannel
from groute_py.errors import InterruptedRun, signalled
from groute_py.many import to_file
from groute_py.many.delivery import deliver
from groute_py.many.storage import folder as many_folder
from groute_py.many.storage.row_files import RowFiles
from groute_py.system import file_lock


@pytest.fixture
def graph() -> Graph:
    return random_graph(40, 120, seed=3, greatest=9)


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_two_runs_of_one_output(tmp_path: Path, graph: Graph, suffix: str, *, resume: bool) -> None:
    """The second is refused at once, and the first loses nothing."""
    job, path = job_of(graph), tmp_path / f"out{suffix}"
    first = Run(path, job)
    with pytest.raises(InputError, match=f"another run is working on .*out{suffix}"):
        Run(path, job, resume=resume)
    first.deliver()
    first.finish()
    result = np.load(path)
    np.testing.assert_array_equal(result if suffix == ".npy" else result["distances"], every(graph))
    assert listing(tmp_path) == [f"out{suffix}"]


def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all disks be without locks."""

    def flock(_file: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(file_lock.fcntl, "flock", flock)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_two_runs_of_one_output_without_locks(
    tmp_path: Path, graph: Graph, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The later one begins anew; the earlier does not pass the later one's rows off as its own."""
    without_locks(monkeypatch)
    job, path = job_of(graph), tmp_path / f"out{suffix}"
    earlier = Run(path, job)
    later = Run(path, job)
    for goes_on in (earlier.deliver, earlier.rows.places, earlier.finish):
        with pytest.raises(RunError, match=f"another run has begun on .*out{suffix}"):
            goes_on()
    earlier.store.close()
    assert listing(tmp_path) == [f"out{suffix}.partial"]
    later.deliver()
    later.finish()
    result = np.load(path)
    np.testing.assert_array_equal(result if suffix == ".npy" else result["distances"], every(graph))
    assert listing(tmp_path) == [f"out{suffix}"]


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_a_run_that_begins_without_locks_while_another_ends(
    tmp_path: Path, graph: Graph, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that ends leaves the rows of the other where they are."""
    without_locks(monkeypatch)
    job, path = job_of(graph), tmp_path / f"out{suffix}"
    earlier, write, others = Run(path, job), to_file.write_output, []

    def written(*what: Any) -> None:
        write(*what)
        others.append(Run(path, job))

    earlier.deliver()
    monkeypatch.setattr(to_file, "write_output", written)
    earlier.finish()
    assert earlier.store.state == f"all rows are in {path}"
    monkeypatch.undo()
    (later,) = others
    later.deliver()
    later.finish()
    assert listing(tmp_path) == [f"out{suffix}"]


def test_a_run_after_one_that_was_lost(tmp_path: Path, graph: Graph) -> None:
    """Nobody holds the folder of a process that is gone."""
    job, path = job_of(graph), tmp_path / "out.npy"
    left(path, job, 9)
    resumed = Run(path, job, resume=True)
    assert len(resumed.missing) == len(job.sources) - 9
    resumed.store.close()
    (tmp_path / "out.npy.partial" / "run.json").write_text("[" * 60_000)
    with pytest.raises(InputError, match=r"run.json is damaged"):
        Run(path, job, resume=True)
    anew = Run(path, job)
    assert len(anew.missing) == len(job.sources)
    anew.store.close()
    assert listing(tmp_path) == []


@pytest.mark.parametrize("resume", [False, True])
def test_a_file_in_place_of_the_folder(tmp_path: Path, graph: Graph, *, resume: bool) -> None:
    (tmp_path / "out.npy.partial").write_text("mine")
    with pytest.raises(InputError, match=r"out.npy.partial: cannot be used: .*; remove it"):
        Run(tmp_path / "out.npy", job_of(graph), resume=resume)
    assert (tmp_path / "out.npy.partial").read_text() == "mine"


def test_no_room_for_the_folder(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that has room for the names alone: neither the folder nor the lock stays."""

    monkeypatch.setattr(many_folder.os, "pwrite", failing(errno.ENOSPC))
    with pytest.raises(RunError, match=r"out.npy.partial: No space left .*; nothing was written"):
        Run(tmp_path / "out.npy", job_of(graph))
    assert listing(tmp_path) == []


@pytest.mark.parametrize("step", [(many_folder.RunFolder, "is_same"), (many_folder, "_remove")])
def test_an_interrupt_while_the_folder_goes(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch, step: tuple[Any, str]
) -> None:
    done, signals = getattr(*step), [InterruptedRun("interrupted by SIGTERM; nothing was written")]

    def interrupted(*arguments: Any) -> Any:
        if signals and (tmp_path / "out.npy").exists():
            raise signalled(signals.pop())
        return done(*arguments)

    monkeypatch.setattr(*step, interrupted)
    with pytest.raises(InterruptedRun) as caught:
        save_rows(SoloChannel(), job_of(graph), tmp_path / "out.npy", False, None)
    assert str(caught.value) == f"interrupted; all rows are in {tmp_path}/out.npy"
    assert listing(tmp_path) == ["out.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), every(graph))


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_a_run_that_begins_while_the_folder_goes(
    tmp_path: Path, graph: Graph, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused as long as there is anything that the first one still removes."""
    job, path = job_of(graph), tmp_path / f"out{suffix}"
    remove, tries = many_folder._remove, 0

    def removed(name: str, folder: int) -> None:
        nonlocal tries
        tries += 1
        with pytest.raises(InputError, match="another run is working on"):
            Run(path, job)
        remove(name, folder)

    first = Run(path, job)
    first.deliver()
    monkeypatch.setattr(many_folder, "_remove", removed)
    first.finish()
    assert tries == (2 if suffix == ".npy" else 3)
    monkeypatch.undo()
    assert listing(tmp_path) == [f"out{suffix}"]
    solved(path, job)
    assert listing(tmp_path) == [f"out{suffix}"]


def test_nothing_is_open_that_is_removed(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On NFS what is open cannot be removed, and its folder neither."""
    remove = many_folder._remove

    def removed(name: str, folder: int) -> None:
        opened = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
        assert str(tmp_path / "out.npz.partial" / name) not in opened
        remove(name, folder)

    monkeypatch.setattr(many_folder, "_remove", removed)
    solved(tmp_path / "out.npz", job_of(graph, predecessors=True))
    assert listing(tmp_path) == ["out.npz"]


def test_a_run_that_fails_lets_go(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the same process may go on with it."""

    def failing(channel: Any, job: Any, missing: Any, rows: Any, *_: Any) -> str:
        deliver(channel, job, missing[:9], rows)
        raise RunError("no")

    monkeypatch.setattr(to_file, "deliver", failing)
    with pytest.raises(RunError):
        save_rows(SoloChannel(), job_of(graph), tmp_path / "out.npy", False, None)
    monkeypatch.undo()
    done = save_rows(SoloChannel(), job_of(graph), tmp_path / "out.npy", True, None)
    assert done["solved_now"] == 31


def test_two_runs_that_begin_together_without_locks(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock, "_lock", lambda *_: None)
    path, other = tmp_path / "out.npy", random_graph(40, 120, seed=4, greatest=9)
    later, begin = list[Run | None](), RowFiles.open

    def after_another(files: RowFiles) -> None:
        if not later:
            later.append(None)
            later[0] = Run(path, job_of(other))
        begin(files)

    monkeypatch.setattr(RowFiles, "open", after_another)
    with pytest.raises(RunError, match=r"another run has begun on .* meanwhile"):
        Run(path, job_of(graph))
    (second,) = later
    assert second is not None
    second.deliver()
    second.finish()
    np.testing.assert_array_equal(np.load(path), every(other))
