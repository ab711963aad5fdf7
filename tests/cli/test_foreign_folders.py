"""A folder OUT.partial that is not of a run: it is refused, and nothing in it changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.graphs import random_graph
from support.kept_rows import Run, every, job_of, listing, solved
from support.local_ranks import on_ranks
from support.one_error import Bad, check
from support.processes import Job as Command

from groute_py import Graph, InputError, RunError
from groute_py.cli.outputs import save_rows
from groute_py.many.storage.folder import SIGNATURE
from groute_py.many.to_file import check_output

RECORD = json.dumps({"graph": "0", "sources": "0", "algorithm": "heap", "paths": False})
ROWS = f"rows-{16 * '0'}"


@pytest.fixture
def graph() -> Graph:
    return random_graph(20, 60, seed=3, greatest=9)


def _link(path: Path) -> None:
    real = path.parent / "real"
    real.mkdir()
    (real / "keep").write_text("mine")
    (real / "run.json").write_text(RECORD)
    path.symlink_to(real)


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def _with(**files: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        for name, text in files.items():
            (path / name.replace("_", ".")).write_text(text)

    return make


FOREIGN: dict[str, tuple[Callable[[Path], None], str]] = {
    "link": (_link, "is a link, which is not followed"),
    "dangling link": (_dangling, "is a link, which is not followed"),
    "plain folder": (_with(keep="mine"), "is not of a run"),
    "empty folder": (_with(), "is not of a run"),
    "names of ours": (_with(**{"run_json": RECORD, ROWS: "mine", "lock": ""}), "is not of a run"),
    "no lock": (_with(run_json=RECORD), "is not of a run"),
    "another program's lock": (_with(run_json=RECORD, lock="groute-py apsp\n"), "is not of a run"),
}


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All below a folder: what it is, and its content."""
    result = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        plain = path.is_file() and not path.is_symlink()
        result[str(path)] = (status.st_mode, path.read_bytes() if plain else b"")
    return result


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("kind", FOREIGN)
def test_it_is_refused(tmp_path: Path, graph: Graph, kind: str, *, resume: bool) -> None:
    make, says = FOREIGN[kind]
    make(tmp_path / "out.npy.partial")
    before = state_of(tmp_path)
    with pytest.raises(InputError, match=rf"out.npy.partial: .*{says}"):
        check_output(tmp_path / "out.npy", predecessors=False)
    with pytest.raises(InputError, match=rf"out.npy.partial: .*{says}.*name another --output"):
        Run(tmp_path / "out.npy", job_of(graph), resume=resume)
    assert state_of(tmp_path) == before


def test_on_two_ranks(tmp_path: Path, graph: Graph) -> None:
    _link(tmp_path / "out.npy.partial")
    before, job = state_of(tmp_path), job_of(graph)
    with pytest.raises(InputError, match="is a link"):
        on_ranks(2, lambda channel: save_rows(channel, job, tmp_path / "out.npy", False, None))
    assert state_of(tmp_path) == before


@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize("kind", ["link", "plain folder"])
def test_the_command_on_two_ranks(tmp_path: Path, groute: Command, kind: str) -> None:
    make, says = FOREIGN[kind]
    make(tmp_path / "o.npy.partial")
    before = state_of(tmp_path)
    done = groute("apsp", "road:5x5", "-o", tmp_path / "o.npy", ranks=2)
    check(Bad("", 2, says), done.returncode, done.stdout, done.stderr)
    assert state_of(tmp_path) == before


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".zarr"])
def test_a_folder_that_is_replaced_meanwhile(tmp_path: Path, graph: Graph, suffix: str) -> None:
    """The run ends; whatever has taken the name of its folder stays."""
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    job, path = job_of(graph), tmp_path / f"out{suffix}"
    run = Run(path, job)
    run.deliver(run.missing[:9])
    folder = tmp_path / f"out{suffix}.partial"
    folder.rename(tmp_path / "moved")
    _link(folder)
    before = state_of(tmp_path / "real")
    for goes_on in (run.deliver, run.finish):
        with pytest.raises(RunError, match="another run has begun"):
            goes_on()
    run.store.close()
    assert folder.is_symlink()
    assert state_of(tmp_path / "real") == before
    result = np.load(next((tmp_path / "moved").glob("distances-*.npy")))
    np.testing.assert_array_equal(result[:9], every(graph)[:9])


def test_what_a_lost_run_left_is_taken_over(tmp_path: Path, graph: Graph) -> None:
    """One that ended before its record was written."""
    _with(**{"lock": SIGNATURE.decode(), ROWS: ""})(tmp_path / "out.npy.partial")
    solved(tmp_path / "out.npy", job_of(graph))
    assert listing(tmp_path) == ["out.npy"]


def test_a_users_file_in_the_folder_of_a_run_stays(tmp_path: Path, graph: Graph) -> None:
    folder = tmp_path / "out.npy.partial"
    _with(lock=SIGNATURE.decode(), keep="mine")(folder)
    solved(tmp_path / "out.npy", job_of(graph))
    assert listing(tmp_path) == ["out.npy", "out.npy.partial"]
    assert listing(folder) == ["keep"]
    assert (folder / "keep").read_text() == "mine"
