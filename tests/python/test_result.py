"""The result: what is reached, paths, and every form it is saved in."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of
from support.keeping import failing

from groute_py import UNREACHED, InputError, Result, RunError, VerificationError, sssp
from groute_py.graph.ids import Positions
from groute_py.results.distances import public_distances
from groute_py.results.result import check_output, read_result

WHOLE = Result(
    source=1,
    distances=np.array([7, 0, UNREACHED, 3]),
    predecessors=np.array([3, -1, -1, 1]),
    first_id=1,
)
FLOATS = Result(
    source=0,
    distances=np.array([0, 0.1, np.inf]),
    predecessors=np.array([-1, 0, -1]),
)
BARE = Result(source=0, distances=np.array([0, UNREACHED]))


def test_reached() -> None:
    assert WHOLE.reached.tolist() == [True, True, False, True]
    assert FLOATS.reached.tolist() == [True, True, False]


def test_path_to() -> None:
    assert WHOLE.path_to(1) == [2, 4, 1]
    assert json.dumps(WHOLE.path_to(np.int64(1))) == "[2, 4, 1]"  # type: ignore[arg-type]
    assert WHOLE.path_to(2) == [2]
    assert WHOLE.path_to(3) == []
    assert WHOLE.positions_to(1) == WHOLE.positions_to(Positions(0)) == [1, 3, 0]
    assert [WHOLE.distance_to(vertex) for vertex in (1, 2, 3)] == [7, 0, None]


@pytest.mark.parametrize("vertex", [0, -1, 5, 2**40])
def test_path_to_nowhere(vertex: int) -> None:
    with pytest.raises(InputError, match=rf"vertex {vertex} is not a vertex .* 1\.\.4"):
        WHOLE.path_to(vertex)


def test_no_paths_without_predecessors() -> None:
    with pytest.raises(InputError, match="solve with predecessors=True"):
        BARE.path_to(0)


def test_public_distances() -> None:
    narrow = np.array([0, 5, np.iinfo(np.int32).max], dtype=np.int32)
    wide = public_distances(narrow)
    np.testing.assert_array_equal(public_distances(narrow[np.newaxis]), wide[np.newaxis])
    assert wide.dtype == np.int64
    assert wide.tolist() == [0, 5, UNREACHED]
    for same in (np.array([1], dtype=np.int64), np.array([1], dtype=np.float32)):
        assert public_distances(same) is same


def test_public_distances_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = np.arange(7, dtype=np.int32)
    narrow[[2, 6]] = np.iinfo(np.int32).max
    monkeypatch.setattr("groute_py.results.distances.WIDENED_AT_ONCE", 2)
    alone = public_distances(narrow)
    monkeypatch.setattr("groute_py.results.distances.WIDENED_ALONE", 0)
    parts = narrow[:3], narrow[3:3], narrow[3:]
    for wide in (alone, public_distances(narrow), public_distances(*parts)):
        assert wide.tolist() == [0, 1, UNREACHED, 3, 4, 5, UNREACHED]


def test_parts_of_ranks_are_widened_by_one_pool_in_few_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = [np.full(count, count, np.int32) for count in (2**20, 3, 2**20 + 1, 0)]
    calls = []

    def in_slices(count: int, length: int, work: Callable[[slice], object]) -> None:
        calls.append((count, length))
        for first in range(0, count, length):
            work(slice(first, first + length))

    monkeypatch.setattr("groute_py.results.distances.in_slices", in_slices)
    assert np.array_equal(public_distances(*parts), np.concatenate(parts))
    assert calls == [(4, 1)]


def test_npz(tmp_path: Path) -> None:
    WHOLE.save(tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as saved:
        assert sorted(saved.files) == ["distances", "first_id", "predecessors", "source"]
        assert saved["source"] == 1
        assert saved["source"].dtype == saved["distances"].dtype == np.int64
        assert saved["predecessors"].dtype == np.int64
        np.testing.assert_array_equal(saved["distances"], WHOLE.distances)
        np.testing.assert_array_equal(saved["predecessors"], WHOLE.predecessors)


def test_npz_without_predecessors(tmp_path: Path) -> None:
    BARE.save(tmp_path / "out.npz")
    again = read_result(tmp_path / "out.npz")
    assert again.predecessors is None
    np.testing.assert_array_equal(again.distances, BARE.distances)


@pytest.mark.parametrize("whole", [WHOLE, FLOATS], ids=["integers", "floats"])
def test_load_is_the_inverse_of_save(tmp_path: Path, whole: Result) -> None:
    whole.save(tmp_path / "out.npz")
    again = read_result(tmp_path / "out.npz")
    assert again.source == whole.source
    assert again.distances.dtype == whole.distances.dtype
    np.testing.assert_array_equal(again.distances, whole.distances)
    np.testing.assert_array_equal(again.predecessors, whole.predecessors)


@pytest.mark.parametrize("bound", [2**53 + 1, 0.1])
def test_the_bound_of_targets_is_kept(tmp_path: Path, bound: int | float) -> None:
    Result(0, np.array([0, 3]), statistics={"bound": bound}).save(tmp_path / "out.npz")
    assert read_result(tmp_path / "out.npz").statistics == {"bound": bound}
    Result(0, np.array([0, 3]), statistics={"bound": None}).save(tmp_path / "out.npz")
    assert read_result(tmp_path / "out.npz").statistics == {}


@pytest.mark.parametrize(
    ("bound", "says"),
    [(-1, "its bound -1 is no distance"), (np.nan, "its bound nan"), ("a", "other shapes or")],
)
def test_a_bound_that_is_none(tmp_path: Path, bound: Any, says: str) -> None:
    np.savez(tmp_path / "out.npz", distances=np.array([0, 3]), source=0, bound=bound)
    with pytest.raises(InputError, match=says):
        read_result(tmp_path / "out.npz")


def test_npy(tmp_path: Path) -> None:
    FLOATS.save(tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), FLOATS.distances)


TEXTS = [
    (WHOLE, ".txt", "1 7\n2 0\n3 inf\n4 3\n"),
    (WHOLE, ".csv", "vertex,distance,predecessor\n1,7,4\n2,0,\n3,inf,\n4,3,2\n"),
    (FLOATS, ".txt", "0 0.0\n1 0.1\n2 inf\n"),
    (FLOATS, ".csv", "vertex,distance,predecessor\n0,0.0,\n1,0.1,0\n2,inf,\n"),
    (BARE, ".txt", "0 0\n1 inf\n"),
    (BARE, ".csv", "vertex,distance,predecessor\n0,0,\n1,inf,\n"),
]


@pytest.mark.parametrize(("whole", "suffix", "text"), TEXTS)
def test_text(tmp_path: Path, whole: Result, suffix: str, text: str) -> None:
    whole.save(tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").read_bytes() == text.encode()


def test_floats_come_back_from_text(tmp_path: Path) -> None:
    third = Result(0, np.array([0.0, 1 / 3, np.inf]))
    third.save(tmp_path / "out.txt")
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "out.txt")[:, 1], third.distances)


def test_the_umask_counts(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        WHOLE.save(tmp_path / "out.npy")
    finally:
        os.umask(before)
    assert (tmp_path / "out.npy").stat().st_mode & 0o777 == 0o640


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WHOLE.save(tmp_path / "out.npz")
    monkeypatch.setattr("groute_py.results.files.save_arrays", failing(errno.ENOSPC))
    with pytest.raises(RunError, match=r"out\.npz: cannot be written: No space left"):
        BARE.save(tmp_path / "out.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]
    assert read_result(tmp_path / "out.npz").source == 1


@pytest.mark.parametrize("act", [check_output, WHOLE.save], ids=["check", "save"])
class TestWhereItCannotBe:
    def test_unknown_suffix(self, act, tmp_path: Path) -> None:
        for name in ("out", "out.doc", "out.npz.gz", ".npz"):
            with pytest.raises(InputError, match=r"saved as \.npz, \.npy, \.csv, \.txt"):
                act(tmp_path / name)

    def test_missing_folder(self, act, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"none/out\.npz"):
            act(tmp_path / "none" / "out.npz")

    def test_folder(self, act, tmp_path: Path) -> None:
        (tmp_path / "out.npz").mkdir()
        with pytest.raises(InputError, match=r"out\.npz"):
            act(tmp_path / "out.npz")
        assert not list((tmp_path / "out.npz").iterdir())

    def test_nothing_is_left(self, act, tmp_path: Path) -> None:
        with pytest.raises(InputError):
            act("/proc/out.npz")


def test_check_output_writes_nothing(tmp_path: Path) -> None:
    check_output(tmp_path / "out.npz")
    check_output("out.npz")
    assert not list(tmp_path.iterdir())


def not_results(folder: Path) -> dict[Path, str]:
    """Files that are no results, and what is said of them."""
    np.savez(folder / "a.npz", source=0)
    np.savez(folder / "b.npz", distances=np.zeros(2))
    np.save(folder / "c.npy", np.zeros(2))
    (folder / "d.npz").write_text("text")
    (folder / "e.npz").touch()
    np.save(folder / "f.npy", np.array([{}]), allow_pickle=True)
    whole = (folder / "a.npz").read_bytes()
    (folder / "g.npz").write_bytes(whole[: len(whole) // 2])
    np.savez(folder / "i.npz", source=np.zeros(3), distances=np.zeros(2))
    np.savez(folder / "j.npz", source=0, distances=np.array(["a", "b"]))
    return {
        folder / "a.npz": "it lacks distances",
        folder / "b.npz": "it lacks source",
        folder / "c.npy": "an .npy file has no source",
        folder / "d.npz": "not a saved result",
        folder / "e.npz": "not a saved result",
        folder / "f.npy": "not a saved result",
        folder / "g.npz": "not a saved result",
        folder / "h.npz": "cannot be read: No such file",
        folder / "i.npz": "not a saved result",
        folder / "j.npz": "not a saved result",
        folder: "cannot be read: Is a directory",
    }


@pytest.mark.parametrize("number", range(11))
def test_what_is_no_result(tmp_path: Path, number: int) -> None:
    path, says = list(not_results(tmp_path).items())[number]
    with pytest.raises(InputError, match=says):
        read_result(path)


def test_statistics_are_plain_values() -> None:
    import json

    solved = sssp(graph_of(3, [(0, 1, 2), (1, 2, 2)]), 0, device="cpu")
    assert solved is not None
    again = json.loads(json.dumps(solved.statistics))
    assert again == solved.statistics
    assert {"algorithm", "bytes_sent", "relaxations", "rounds", "seconds"} <= again.keys()
    assert again["relaxations"] == 2
    assert again["useless_relaxations"] == 0


def test_nothing_is_on_a_device_that_was_not_left_there() -> None:
    result = sssp(([0, 0], [], []), 0, device="cpu")
    assert result is not None
    for name in ("distances_device", "predecessors_device"):
        with pytest.raises(InputError, match="download=False"):
            getattr(result, name)


def test_a_cpu_keeps_nothing_on_a_gpu() -> None:
    with pytest.raises(InputError, match="one rank solves, on a GPU"):
        sssp(([0, 0], [], []), 0, device="cpu", download=False)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"source": np.int64(3)}, "source 3 is none of 3"),
        ({"source": np.int64(-1)}, "source -1 is none of 3"),
        ({"predecessors": np.array([-1, 0, 7])}, "a predecessor is none of 3 vertices"),
        ({"predecessors": np.array([-1, 0, -2])}, "a predecessor is none of 3 vertices"),
        ({"predecessors": np.array([-1, 0])}, "other shapes or types"),
        ({"ids": np.array(["a", "b", "a"])}, "two vertices have the same id"),
    ],
)
def test_damaged_results(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    right = {"distances": np.array([0, 1, 2]), "predecessors": np.array([-1, 0, 1])}
    np.savez(tmp_path / "r.npz", **{**right, "source": np.int64(0), **changes})
    with pytest.raises(InputError, match=says):
        read_result(tmp_path / "r.npz")


def test_flipped_bits(tmp_path: Path) -> None:
    """Each is one clear error, or changes nothing: the archive has checksums."""
    result = Result(0, np.array([0, 1, 2]), np.array([-1, 0, 1]))
    result.save(tmp_path / "r.npz")
    whole = (tmp_path / "r.npz").read_bytes()
    noticed = []
    for bit in range(0, 8 * len(whole), 3):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        (tmp_path / "r.npz").write_bytes(flipped)
        try:
            answer = read_result(tmp_path / "r.npz")
        except InputError as error:
            noticed.append(str(error))
        else:
            np.testing.assert_array_equal(answer.distances, result.distances)
    assert len(noticed) > 1000
    assert all("r.npz: " in said for said in noticed)


@pytest.mark.parametrize("parents", [[-1, 2, 1], [-1, 1, 1], [-1, 2, -1]])
def test_predecessors_that_lead_nowhere(parents: list[int]) -> None:
    result = Result(0, np.array([0, 1, 2]), np.array(parents), first_id=7)
    with pytest.raises(VerificationError, match="predecessors of vertex 8 do not lead to source 7"):
        result.path_to(8)


def test_output_to_a_link_that_leads_to_itself(tmp_path: Path) -> None:
    (tmp_path / "out.csv").symlink_to(tmp_path / "out.csv")
    for write in (check_output, WHOLE.save):
        with pytest.raises(InputError, match=r"out\.csv: cannot be written"):
            write(tmp_path / "out.csv")


def test_output_to_a_device() -> None:
    check_output("/dev/null", "csv")
    WHOLE.save("/dev/null", "csv")
    assert Path("/dev/null").is_char_device()
