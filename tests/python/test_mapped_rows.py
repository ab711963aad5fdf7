"""Rows that several threads write into a file that is mapped into memory."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from mmap import MADV_HUGEPAGE, PAGESIZE, mmap
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import numpy as np
import pytest
from support.keeping import failing

from groute_py import UNREACHED
from groute_py.device.rows import RowBlock
from groute_py.many.storage import row_files
from groute_py.many.storage.row_files import ArrayPlace, MappedRowWriter, RowFiles, boot_id
from groute_py.many.storage.row_files import write_at as pwritten

START, WIDTH, NARROW = 128, 1000, np.iinfo(np.int32).max

POSITIONS = {
    "one after the other": np.arange(3, 40),
    "in turn": np.arange(1, 100, 3),
    "falling": np.arange(90, 20, -4),
    "scattered": np.array([5, 6, 90, 17, 18, 19, 2]),
    "one": np.array([77]),
    "none": np.arange(0),
}


@pytest.fixture(autouse=True)
def mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk and on as many cores as mapped rows need."""
    monkeypatch.setattr(row_files, "thread_count", lambda: row_files.FEWEST)
    monkeypatch.setattr(row_files, "has_blocks", lambda _: True)


def place_in(folder: Path) -> ArrayPlace:
    """A file with room for 100 rows of 7."""
    path = folder / "rows.npy"
    content = np.full(100 * WIDTH, 7, np.int64)
    path.write_bytes(bytes(START) + content.tobytes())
    status = path.stat()
    same = boot_id(), status.st_dev, status.st_ino
    return ArrayPlace("distances", path, content.dtype, START, same)


def rows_of(count: int) -> Any:
    """As a GPU has them; some are not reached."""
    rows = np.random.default_rng(count).integers(0, 10**9, (count, WIDTH), np.int32)
    rows[rows % 5 == 0] = NARROW
    return rows


def written_in(place: ArrayPlace) -> Any:
    """All rows."""
    return np.fromfile(place.path, np.int64, offset=START).reshape(100, WIDTH)


@pytest.mark.parametrize("refused", [False, True], ids=["", "no mapping is left"])
@pytest.mark.parametrize("name", POSITIONS)
def test_rows_come_to_their_positions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, refused: bool
) -> None:
    def none_left(*_: Any, **__: Any) -> None:
        raise OSError(12, "Cannot allocate memory")

    if refused:
        monkeypatch.setattr(row_files, "mmap", none_left)
    else:
        monkeypatch.setattr(row_files, "write_at", none_left)
    positions, place = POSITIONS[name], place_in(tmp_path)
    rows = rows_of(len(positions))
    with closing(MappedRowWriter([place])) as writer:
        writer.take(positions, RowBlock(0, rows, None))
    wanted = np.full((100, WIDTH), 7)
    wanted[positions] = np.where(rows == NARROW, UNREACHED, rows.astype(np.int64))
    np.testing.assert_array_equal(written_in(place), wanted)
    assert not place.path.read_bytes()[:START].strip(b"\0")


def test_a_window_stays_for_the_next_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins at a multiple of its size, which large blocks exceed, and ends with the file."""
    opened: list[tuple[int, int]] = []

    def counted(file: int, length: int, *, offset: int) -> mmap:
        opened.append((offset, offset + length))
        return mmap(file, length, offset=offset)

    monkeypatch.setattr(row_files, "mmap", counted)
    monkeypatch.setattr(row_files, "WINDOW_BYTES", size := 1 << 18)
    place = place_in(tmp_path)
    wanted = np.full((100, WIDTH), 7)
    with closing(MappedRowWriter([place])) as writer:
        for first, last in [(0, 10), (10, 30), (30, 36), (36, 80), (80, 90), (90, 100)]:
            rows = rows_of(last - first)
            writer.take(np.arange(first, last), RowBlock(0, rows, None))
            wanted[first:last] = np.where(rows == NARROW, UNREACHED, rows.astype(np.int64))
        assert str(place.path) in Path("/proc/self/maps").read_text()
    assert str(place.path) not in Path("/proc/self/maps").read_text()
    np.testing.assert_array_equal(written_in(place), wanted)
    ends = [
        size,
        *(START + 8 * WIDTH * row for row in (36, 80)),
        3 * size,
        place.path.stat().st_size,
    ]
    assert opened == list(zip([0, 0, size, 2 * size, 2 * size], ends, strict=True))


def test_huge_pages_are_asked_for_and_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Without(mmap):
        """Of a kernel that has none."""

        def madvise(self, option: int, *_: int) -> None:
            asked.append(option)
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(row_files, "mmap", Without)
    place, rows = place_in(tmp_path), rows_of(50)
    with closing(MappedRowWriter([place])) as writer:
        writer.take(np.arange(50), RowBlock(0, rows, None))
    assert asked == [MADV_HUGEPAGE]
    wanted = np.where(rows == NARROW, UNREACHED, rows.astype(np.int64))
    np.testing.assert_array_equal(written_in(place)[:50], wanted)


def test_few_page_faults_are_major(tmp_path: Path) -> None:
    """A thread lets go of its locks in those; a new page of 4 KiB needs none."""
    path, kind, shape = tmp_path / "rows.npy", np.dtype(np.int64), (400, 10_000)
    with open(path, "wb") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, START + 8 * shape[0] * shape[1])
        except OSError:
            pytest.skip("the file system does not reserve blocks")
    status = path.stat()
    place = ArrayPlace("distances", path, kind, START, (boot_id(), status.st_dev, status.st_ino))
    rows = np.ones((100, shape[1]), np.int32)
    with closing(MappedRowWriter([place])) as writer:
        before = getrusage(RUSAGE_SELF).ru_majflt
        for first in range(0, shape[0], len(rows)):
            writer.take(np.arange(first, first + len(rows)), RowBlock(0, rows, None))
        major = getrusage(RUSAGE_SELF).ru_majflt - before
    assert major < status.st_size // PAGESIZE // 8


def open_files() -> int:
    """How many this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_nothing_stays_open_of_what_could_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_files, "has_blocks", failing(errno.EIO))
    place, before = place_in(tmp_path), open_files()
    with pytest.raises(OSError, match="Input/output"):
        MappedRowWriter([place, place])
    assert open_files() == before


def test_nothing_stays_open_of_what_was_written(tmp_path: Path) -> None:
    place, before = place_in(tmp_path), open_files()
    with closing(MappedRowWriter([place])) as writer:
        writer.take(np.arange(50), RowBlock(0, rows_of(50), None))
    assert open_files() == before


def test_rows_that_lie_together_are_marked_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Folder:
        path = tmp_path

        def file(self, name: str) -> Path:
            return tmp_path / name

    marks: list[tuple[int, int]] = []

    def counted(descriptor: int, place: int, content: Any) -> None:
        marks.append((place, len(content)))
        pwritten(descriptor, place, content)

    folder: Any = Folder()
    files = RowFiles(tmp_path / "out.npy", {"distances": np.dtype(np.int64)}, (10, 3))
    files.attach(folder, "0" * 16)
    files.lay_out()
    monkeypatch.setattr(row_files, "write_at", counted)
    with closing(files):
        files.open()
        files.mark(np.array([7, 8, 0, 2, 1]))
        files.mark(np.arange(0))
    assert marks == [(0, 3), (7, 2)]
    assert np.flatnonzero(files.complete).tolist() == [0, 1, 2, 7, 8]
