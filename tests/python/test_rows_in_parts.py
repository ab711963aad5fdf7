"""Rows of one file by several runs, each of which solves for a part of the sources."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.graphs import graph_of, random_graph
from support.kept_rows import every, job_of, left, listing
from support.reference import rows_from

import groute_py
from groute_py import Graph, InputError, RunError
from groute_py.cli.outputs import save_rows
from groute_py.comm.base import SoloChannel
from groute_py.many import to_file
from groute_py.many.storage import folder as many_folder
from groute_py.many.storage.store import RunPart, Store
from groute_py.many.to_file import UNIT, StoredRows
from groute_py.system import file_lock


def words(graph: Path, out: Path, part: str, *more: str) -> list[str]:
    return ["apsp", str(graph), "-o", str(out), "--rows", part, "--device", "cpu", "--json", *more]


@pytest.fixture
def town(tmp_path: Path) -> Path:
    path = tmp_path / "town.csr"
    groute_py.write_graph(groute_py.generate("road:12x12"), path)
    return path


def solve_part(path: Path, graph: Graph, part: RunPart, *, resume: bool = False) -> dict[str, Any]:
    return save_rows(SoloChannel(), job_of(graph), path, resume, None, part=part)


@pytest.mark.parametrize(
    "graph",
    [
        random_graph(40, 120, seed=3, greatest=9),
        random_graph(40, 120, seed=4, greatest=2**40, dtype="int64"),
        graph_of(3, [(0, 1, 0.5), (1, 2, 0.25)], "float64"),
        graph_of(4, [(0, 0, 3), (0, 1, 0), (0, 1, 5), (1, 0, 0)]),
        graph_of(3, []),
        graph_of(1, []),
    ],
    ids=["int32", "int64", "float64", "zeros", "no arcs", "one vertex"],
)
@pytest.mark.parametrize("parts", [1, 3, 5])
def test_the_file_is_there_with_the_last_part(tmp_path: Path, graph: Graph, parts: int) -> None:
    path = tmp_path / "out.npy"
    for number in np.random.default_rng(parts).permutation(np.arange(1, parts + 1)):
        assert not path.exists()
        said = solve_part(path, graph, RunPart(int(number), parts))
    assert said["rows"] == f"all rows are in {path}"
    np.testing.assert_array_equal(np.load(path), every(graph))
    assert listing(tmp_path) == ["out.npy"]


def test_parts_without_rows_leave_no_folder(tmp_path: Path) -> None:
    path, graph = tmp_path / "out.npy", graph_of(1, [])
    assert solve_part(path, graph, RunPart(2, 5))["rows"] == "nothing was written"
    assert listing(tmp_path) == []
    solve_part(path, graph, RunPart(1, 5))
    solve_part(path, graph, RunPart(3, 5))
    assert listing(tmp_path) == ["out.npy"]


def test_processes_side_by_side(tmp_path: Path, town: Path) -> None:
    """On one disk, begun at the same time."""
    out, count = tmp_path / "out.npy", 4
    command = [sys.executable, "-m", "groute_py"]
    runs = [
        subprocess.Popen([*command, *words(town, out, f"{number}/{count}")], stdout=-1, stderr=-1)
        for number in range(1, count + 1)
    ]
    for run in runs:
        assert run.wait(240) == 0, run.communicate()[1]
        run.communicate()
    graph = groute_py.read_graph(town)
    np.testing.assert_array_equal(np.load(out), rows_from(graph, range(144)))
    assert listing(tmp_path) == ["out.npy", "town.csr"]


def test_a_lost_part_is_repeated(tmp_path: Path, town: Path) -> None:
    out = tmp_path / "out.npy"
    said = as_json(run_command(*words(town, out, "1/3")))
    assert said["rows"].startswith("48 of 144 rows are complete in")
    graph = groute_py.read_graph(town)
    job, store = job_of(graph), Store(out, UNIT, part=RunPart(2, 3))
    rows = StoredRows(job, store, {})
    rows.begin(SoloChannel())
    assert store.missing.tolist() == list(range(48, 96))
    to_file.deliver(SoloChannel(), job, store.missing[:20], rows)
    store.close()  # it is lost
    assert as_json(run_command(*words(town, out, "3/3")))["solved_now"] == 48
    assert not out.exists()
    again = as_json(run_command(*words(town, out, "2/3", "--resume")))
    assert (again["solved_now"], again["rows"]) == (28, f"all rows are in {out}")
    np.testing.assert_array_equal(np.load(out), rows_from(graph, range(144)))
    with pytest.raises(InputError, match="there is no unfinished run"):
        run_command(*words(town, out, "2/3", "--resume"))


def test_a_whole_run_completes_what_parts_have_left(tmp_path: Path, town: Path) -> None:
    out = tmp_path / "out.npy"
    run_command(*words(town, out, "2/3"))
    done = run_command("apsp", str(town), "-o", str(out), "--resume", "--device", "cpu", "--json")
    assert as_json(done)["solved_now"] == 96
    np.testing.assert_array_equal(np.load(out), rows_from(groute_py.read_graph(town), range(144)))


def test_parts_go_on_with_what_a_whole_run_has_left(tmp_path: Path) -> None:
    path, graph = tmp_path / "out.npy", random_graph(40, 120, seed=3, greatest=9)
    left(path, job_of(graph), rows=9)
    assert solve_part(path, graph, RunPart(1, 2), resume=True)["solved_now"] == 11
    solve_part(path, graph, RunPart(2, 2))
    np.testing.assert_array_equal(np.load(path), every(graph))


def test_a_matrix_in_parts(tmp_path: Path, town: Path) -> None:
    out = tmp_path / "out.npy"
    for part in ("2/2", "1/2"):
        ends = ["--from", "3,1,4,100,5", "--to", "9,2,6"]
        done = run_command("matrix", *words(town, out, part, *ends)[1:])
        assert done.exit_code == 0, done.output
    rows = rows_from(groute_py.read_graph(town), [3, 1, 4, 100, 5])
    np.testing.assert_array_equal(np.load(out), rows[:, [9, 2, 6]])


def test_runs_of_other_rows_are_refused(tmp_path: Path, town: Path) -> None:
    out = tmp_path / "out.npy"
    run_command(*words(town, out, "1/3"))
    with pytest.raises(InputError, match="a run in which sources differed; remove it"):
        run_command(*words(town, out, "2/3", "--sources", "1,2,3"))
    job, store = job_of(groute_py.read_graph(town)), Store(out, UNIT, part=RunPart(2, 3))
    StoredRows(job, store, {}).begin(SoloChannel())
    with pytest.raises(InputError, match="another run is working on"):
        run_command("apsp", str(town), "-o", str(out), "--device", "cpu")
    store.close()
    claim = Store(out, UNIT, resume=True)
    StoredRows(job, claim, {}).begin(SoloChannel())
    with pytest.raises(InputError, match="another run is working on"):
        run_command(*words(town, out, "2/3"))
    claim.close()


@pytest.mark.parametrize(
    "part",
    ["0/3", "4/3", "3", "1/0", "a/b", "1/2/3", "-1/3", pytest.param("1/1" + "0" * 5000, id="long")],
)
def test_parts_that_are_none(town: Path, tmp_path: Path, part: str) -> None:
    done = run_command(*words(town, tmp_path / "out.npy", part))
    assert done.exit_code == 2
    assert "is no part i/n" in done.output
    assert part[:10] in done.output


@pytest.mark.parametrize("more", [["-o", "out.npz"], ["--reduce", "sum"], []])
def test_only_one_npy_is_shared(more: list[str]) -> None:
    with pytest.raises(InputError, match="--rows: several runs write one"):
        run_command("apsp", "road:9x9", "--rows", "1/2", *more)


def test_two_runs_that_end_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both find all rows complete; the output is made once, and neither fails."""
    path, graph = tmp_path / "out.npy", random_graph(40, 120, seed=3, greatest=9)
    job, write = job_of(graph), to_file.write_output
    stores = [Store(path, UNIT, part=RunPart(number, 2)) for number in (1, 2)]
    rows = [StoredRows(job, store, {}) for store in stores]
    for store, some in zip(stores, rows, strict=True):
        some.begin(SoloChannel())
        to_file.deliver(SoloChannel(), job, store.missing, some)

    def as_the_other_ends(*how: Any) -> None:
        monkeypatch.setattr(to_file, "write_output", write)
        rows[1].finish()
        write(*how)

    monkeypatch.setattr(to_file, "write_output", as_the_other_ends)
    rows[0].finish()
    for store in stores:
        assert store.state == f"all rows are in {path}"
        store.close()
    np.testing.assert_array_equal(np.load(path), every(graph))
    assert listing(tmp_path) == ["out.npy"]


def test_parts_are_all_but_equal() -> None:
    for total, of in [(0, 1), (0, 3), (1, 3), (7, 3), (9, 3), (2, 5)]:
        parts = [RunPart(number, of).units(total) for number in range(1, of + 1)]
        for part, known in zip(parts, np.array_split(np.arange(total), of), strict=True):
            np.testing.assert_array_equal(part, known)
    assert RunPart(10**12, 10**12).units(5).tolist() == []  # at once, however many there are


def test_a_part_that_comes_while_the_output_is_made(tmp_path: Path) -> None:
    """Its folder has marks of all rows, and their file is the output: nothing replaces that."""
    path, graph = tmp_path / "out.npy", random_graph(40, 120, seed=3, greatest=9)
    job, stores = job_of(graph), [Store(path, UNIT, part=RunPart(1, 1)) for _ in range(2)]
    rows = [StoredRows(job, store, {}) for store in stores]
    for some in rows:
        some.begin(SoloChannel())
        to_file.deliver(SoloChannel(), job, np.arange(40), some)
    to_file.write_output(rows[0]._files, job, {})
    with pytest.raises(InputError, match=r"is complete, and .* remove that folder"):
        solve_part(path, graph, RunPart(1, 1))
    np.testing.assert_array_equal(np.load(path), every(graph))
    rows[1].finish()  # the folder is there, and the output is
    np.testing.assert_array_equal(np.load(path), every(graph))
    assert listing(tmp_path) == ["out.npy"]
    with pytest.raises(RunError, match=f"is gone, as other runs have completed {path}"):
        to_file.deliver(SoloChannel(), job, np.arange(40), rows[0])
    for store in stores:
        store.close()


def test_disks_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(_file: int, _operation: int) -> None:
        raise OSError(file_lock.NO_LOCKS[0], "No locks available")

    monkeypatch.setattr(file_lock.fcntl, "flock", flock)
    path, graph = tmp_path / "out.npy", random_graph(40, 120, seed=3, greatest=9)
    job, stores = (
        job_of(graph),
        [Store(tmp_path / "out.npy", UNIT, part=RunPart(n, 2)) for n in (1, 2)],
    )
    rows = [StoredRows(job, store, {}) for store in stores]
    for some in rows:
        some.begin(SoloChannel())
    for store, some in zip(stores, rows, strict=True):
        to_file.deliver(SoloChannel(), job, store.missing, some)
        some.finish()
        store.close()
    np.testing.assert_array_equal(np.load(path), every(graph))


def test_a_folder_that_another_part_has_just_made(tmp_path: Path) -> None:
    """It is signed a moment later; a folder of somebody else never is."""
    path, graph = tmp_path / "out.npy", random_graph(40, 120, seed=3, greatest=9)
    folder = many_folder.folder_of(path)
    folder.mkdir()

    def sign() -> None:
        time.sleep(0.2)
        (folder / "lock").write_bytes(many_folder.SIGNATURE)

    signing = threading.Thread(target=sign)
    signing.start()
    solve_part(path, graph, RunPart(1, 1))
    signing.join()
    np.testing.assert_array_equal(np.load(path), every(graph))
    folder.mkdir()
    (folder / "letter").touch()
    with pytest.raises(InputError, match="is not of a run of groute-py"):
        solve_part(path, graph, RunPart(1, 1))


def test_a_method_is_chosen_for_the_rows_of_a_part(tmp_path: Path) -> None:
    """All pairs of a dense graph suit Floyd–Warshall, a few of them Dijkstra."""
    graph = ["apsp", "random:300,80000", "--device", "cpu", "--json"]
    assert as_json(run_command(*graph))["algorithm"] == "floyd"
    part = as_json(run_command(*graph, "-o", str(tmp_path / "out.npy"), "--rows", "1/60"))
    assert part["algorithm"] == "heap"
