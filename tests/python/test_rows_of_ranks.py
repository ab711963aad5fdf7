"""Rows of a file that every rank writes itself, and graphs that stay for the next rows."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.kept_rows import row_file
from support.local_ranks import on_ranks
from support.opening import job_on, solver_on
from support.reference import rows_from

from groute_py import (
    InputError,
    RunError,
    matrix,
)
from groute_py.comm.agree import collective
from groute_py.comm.base import Channel, SoloChannel
from groute_py.engine.options import Options
from groute_py.many import solve, to_file
from groute_py.many.storage import row_files
from groute_py.many.storage.row_files import MappedRowWriter, RowWriter, has_blocks
from groute_py.many.storage.row_files import write_at as pwritten
from groute_py.many.storage.store import Store
from groute_py.many.to_file import UNIT, save_rows
from groute_py.system.paths import file_system

GRAPH = random_graph(200, 900, seed=3, greatest=50)
SOURCES = np.arange(0, 200, 2)


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as mapped rows need."""
    monkeypatch.setattr(row_files, "thread_count", lambda: row_files.FEWEST)


def saved(channel: Channel, path: Path, *, resume: bool = False, **choices: Any) -> int:
    """How many rows this run has solved."""
    job = job_on(channel, GRAPH, SOURCES, device="cpu", destination="nowhere", **choices)
    with closing(Store(path, UNIT, resume=resume)) as store:
        save_rows(channel, job, store)
    return len(store.missing)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_each_rank_writes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("rows were sent to rank 0")

    if ranks > 1:
        monkeypatch.setattr(to_file, "deliver", refused)
    on_ranks(ranks, lambda channel: saved(channel, tmp_path / "a.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), rows_from(GRAPH, SOURCES))
    on_ranks(ranks, lambda channel: saved(channel, tmp_path / "b.npz", predecessors=True))
    with np.load(tmp_path / "b.npz") as result:
        np.testing.assert_array_equal(result["distances"], rows_from(GRAPH, SOURCES))
        assert result["predecessors"].shape == result["distances"].shape


@pytest.mark.parametrize("ranks", [2, 3])
def test_rows_of_sweeps_lie_together(tmp_path: Path, ranks: int) -> None:
    job = job_on(SoloChannel(), GRAPH, SOURCES, device="cpu", algorithm="sweep")
    positions = np.arange(0, 100, 3)
    parts = [job.part(positions, rank, ranks) for rank in range(ranks)]
    np.testing.assert_array_equal(np.concatenate(parts), positions)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    on_ranks(ranks, lambda channel: saved(channel, tmp_path / "a.npy", algorithm="sweep"))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), rows_from(GRAPH, SOURCES))


def test_rank_0_writes_for_ranks_that_see_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(to_file, "MappedRowWriter", Elsewhere)
    on_ranks(3, lambda channel: saved(channel, tmp_path / "a.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), rows_from(GRAPH, SOURCES))


class Elsewhere(MappedRowWriter):
    """On another host, of which the names lead to other files."""

    def __init__(self, places: list[Any]) -> None:
        super().__init__([replace(place, same=("elsewhere", 0, 0)) for place in places])


@pytest.mark.parametrize("kept", [True, False])
def test_rows_are_mapped_only_where_the_disk_has_their_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    written: list[int] = []

    def counted(descriptor: int, place: int, content: Any) -> None:
        if len(content) > len(SOURCES):  # else it marks rows
            written.append(len(content))
        pwritten(descriptor, place, content)

    monkeypatch.setattr(row_files, "write_at", counted)
    monkeypatch.setattr(row_files, "has_blocks", lambda _: kept)
    on_ranks(2, lambda channel: saved(channel, tmp_path / "a.npz", predecessors=True))
    assert len(written) == (0 if kept else 2 * len(SOURCES))
    with np.load(tmp_path / "a.npz") as result:
        np.testing.assert_array_equal(result["distances"], rows_from(GRAPH, SOURCES))


def test_which_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(tmp_path / "a", "w+b") as file:
        monkeypatch.setattr(row_files, "file_system", lambda _: "tmpfs")
        assert not has_blocks(file.fileno())
        file.truncate(1 << 20)
        assert not has_blocks(file.fileno())
        file.write(bytes(1 << 20))
        os.fsync(file.fileno())
        assert has_blocks(file.fileno())
        monkeypatch.setattr(row_files, "file_system", lambda _: "nfs4")
        assert not has_blocks(file.fileno())


def test_file_systems(tmp_path: Path) -> None:
    assert file_system(Path("/proc").stat().st_dev) == "proc"
    assert file_system(os.makedev(4000, 1)) == ""


def test_a_full_disk_and_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, take, blocks = tmp_path / "a.npy", RowWriter.take, 0

    def full(writer: RowWriter, positions: Any, block: Any) -> None:
        nonlocal blocks
        blocks += 1
        if blocks > 3:
            raise OSError(28, "No space left on device")
        take(writer, positions, block)

    monkeypatch.setattr("groute_py.device.cpu.rows.BLOCK_BYTES", 1)
    with monkeypatch.context() as change:
        change.setattr(RowWriter, "take", full)
        with pytest.raises(RunError, match="go on with --resume"):
            on_ranks(2, lambda channel: saved(channel, path))
    complete = np.fromfile(row_file(path, "rows"), np.uint8) == 1
    assert 0 < complete.sum() < len(SOURCES)
    part, right = np.load(row_file(path, "distances")), rows_from(GRAPH, SOURCES)
    np.testing.assert_array_equal(part[complete], right[complete])
    left = on_ranks(3, lambda channel: saved(channel, path, resume=True))
    assert set(left) == {len(SOURCES) - complete.sum()}
    np.testing.assert_array_equal(np.load(path), right)


def test_a_disk_that_is_full_when_files_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ranks raise the error of the one whose disk it is."""
    close, said = MappedRowWriter.close, list[MappedRowWriter]()

    def full(writer: MappedRowWriter) -> None:
        close(writer)
        if not said:
            said.append(writer)
            raise OSError(28, "No space left on device")

    def work(channel: Channel) -> str:
        with pytest.raises(RunError) as error:
            saved(channel, tmp_path / "a.npy")
        assert error.value.on_all_ranks
        return str(error.value)

    monkeypatch.setattr(MappedRowWriter, "close", full)
    (says,) = set(on_ranks(3, work))
    assert "No space left on device" in says
    assert says.endswith("go on with --resume")


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_graph_stays(monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    loaded: list[str] = []
    opened = solve.Solving.opened

    def counted(solving: solve.Solving, kind: Any) -> Any:
        loaded.append(str(kind))
        return opened(solving, kind)

    monkeypatch.setattr(solve.Solving, "opened", counted)

    def work(channel: Channel) -> list[int]:
        counts = []
        with solver_on(channel, GRAPH, device="cpu", predecessors=False) as solver:
            for sources, targets in (([1, 2], [3]), ([4] * 9, [5, 6]), ([7], [8])):
                result = solver.matrix(sources, targets)
                if result is not None:
                    right = rows_from(GRAPH, np.array(sources))[:, targets]
                    np.testing.assert_array_equal(result.distances, right)
                channel.gather(None)
                counts.append(len(loaded))
            solver.sssp(0)
            channel.gather(None)
            solver.apsp([1, 2, 3])
            channel.gather(None)
            counts.append(len(loaded))
        return counts

    first, second, third, last = on_ranks(ranks, work)[0]
    assert first <= second == third == last


def test_nothing_stays_of_an_answer_that_failed() -> None:
    wide = graph_of(4, [(0, 1, 2**31 - 2), (1, 2, 2**31 - 2), (2, 3, 5)])
    with solver_on(SoloChannel(), wide, device="cpu", predecessors=False) as solver:
        for _ in range(2):
            for sources in ([2], [0, 2], [2]):
                result = solver.matrix(sources, [2, 3])
                assert result is not None
                right = rows_from(wide, np.array(sources))[:, [2, 3]]
                np.testing.assert_array_equal(result.distances, right)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_matrix_in_a_file(tmp_path: Path, ranks: int) -> None:
    path, targets = tmp_path / "m.npy", [5, 3, 5]

    def work(channel: Channel) -> None:
        with solver_on(channel, GRAPH, device="cpu", predecessors=False) as solver:
            for sources in (SOURCES, SOURCES[:7]):
                result = solver.matrix(sources, targets, output=path)
                assert (result is None) == (channel.rank > 0)
                if result is not None:
                    right = rows_from(GRAPH, sources)[:, targets]
                    np.testing.assert_array_equal(result.distances, right)
                    np.testing.assert_array_equal(np.load(path), right)
                    assert result.statistics["device"]
                    assert [file.name for file in tmp_path.iterdir()] == ["m.npy"]

    on_ranks(ranks, work)


def test_outputs_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown suffix"):
        matrix(GRAPH, [0], [1], output=tmp_path / "m.csv")
    with pytest.raises(InputError, match="predecessors are another"):
        matrix(GRAPH, [0], [1], output=tmp_path / "m.npy", predecessors=True)
    result = matrix(GRAPH, [0, 7], [1], output=tmp_path / "m.npy", device="cpu")
    assert result is not None
    np.testing.assert_array_equal(np.load(tmp_path / "m.npy"), result.distances)


def test_a_matrix_that_one_gpu_has_no_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error comes to all ranks before they exchange what they close the matrix with."""
    closed: list[int] = []

    class Closed:
        label = "GPUs"

        def __init__(self, channel: Channel) -> None:
            self._channel = channel

        def blocks(self, *_: Any) -> Any:
            closed.extend(self._channel.gather(self._channel.rank))
            yield from ()

    def work(channel: Channel) -> str:
        options, choice = Options(device="cuda"), solve.Choice("floyd", "cuda", "")
        solving = solve.Solving(GRAPH, None, options, choice, channel)

        def opened(_: Any) -> Any:
            if channel.rank == 1:
                raise InputError("this rank's part of the matrix does not fit")
            return Closed(channel)

        monkeypatch.setattr(solving, "opened", opened)
        with pytest.raises(InputError) as caught, collective(channel):
            next(solving.blocks(SOURCES))
        return str(caught.value)

    assert on_ranks(3, work) == ["this rank's part of the matrix does not fit"] * 3
    assert not closed
