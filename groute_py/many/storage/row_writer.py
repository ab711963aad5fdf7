"""Writers of rows into the files of a run, on rank 0 and on its neighbours.

Rows of a file that was laid out in full do not touch each other, so each rank of a host writes its
own. That a row is complete is written by the rank that holds the claim on the folder, afterwards.

A write holds the lock of the file until it is done, so writers would wait for each other; those
that map the file into memory do not. But a mapping has no error for a full disk: the signal SIGBUS
ends the process. So only a file that has all its blocks, on a file system that keeps them for it,
is mapped.

A write to new mapped pages costs a page fault for each. So a window of the file begins where a huge
page may, stays for all writes to its part, and is advised to use huge pages: ext4 (since Linux
6.16) then fills 2 MiB of its cache at one fault and maps them as one page. Where a file system or
kernel has none, readahead fills as many pages of 4 KiB, so that their faults are short. Two other
ways are slow. The advice against readahead (MADV_RANDOM) makes each page of 4 KiB a major fault,
whose thread lets go of the locks and begins again. And windows of a few rows cut huge pages into
pieces: each 4 KiB takes a fault, and each fault of ext4 goes through all blocks of the page.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from mmap import MADV_HUGEPAGE, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.results.result import put_public
from groute_py.system.paths import file_system
from groute_py.system.threads import thread_count

WINDOW_BYTES = 1 << 28
"""Bytes of a window, unless a write takes more. The system counts its pages as the process's."""

KEEPING = ("tmpfs", "ext4")
"""File systems of one host whose reserved blocks are there when they are written."""

FEWEST, MOST = 4, 8
"""Threads of a rank that write.

With fewer cores nothing is mapped: the page faults take longer than the wait for the lock."""

BLOCK = 512
"""Bytes of a block, as stat(2) counts them."""


@dataclass(frozen=True)
class ArrayPlace:
    """The place of an array of rows in its file."""

    name: str
    path: Path
    type: np.dtype[Any]  # of an entry
    start: int  # of the first row, in bytes
    same: tuple[str, int, int]  # identifies the host until it is started again, and there the file


class RowWriter:
    """Open files of arrays, for rows."""

    def __init__(self, places: list[ArrayPlace]) -> None:
        self._places, self._files = places, list[int]()
        with ExitStack() as files:
            for place in places:
                file = open_file(place.path)
                files.callback(os.close, file)
                status = os.fstat(file)
                if place.same != (boot_id(), status.st_dev, status.st_ino):
                    raise FileNotFoundError(f"{place.path} is another file here")
                self._files.append(file)
            self._open = files.pop_all()

    def take(self, positions: NDArray[np.int64], block: RowBlock) -> None:
        """Write the rows of a block, which belong at some positions."""
        arrays = {"distances": block.distances, "predecessors": block.predecessors}
        for number, place in enumerate(self._places):
            rows = arrays[place.name]
            assert rows is not None
            if rows.size:
                self._put(number, positions, rows)

    def _put(self, number: int, positions: NDArray[np.int64], rows: NDArray[Any]) -> None:
        """Write rows of the array of a number."""
        place, file = self._places[number], self._files[number]
        content = np.empty(rows.shape[1], place.type)
        for row, position in zip(rows, positions.tolist(), strict=True):
            convert(place, content, row)
            write_at(file, place.start + position * content.nbytes, content.data.cast("B"))

    def close(self) -> None:
        """Close the files; once more does nothing."""
        self._open.close()


class MappedRowWriter(RowWriter):
    """Open files of arrays, mapped into memory where that is safe, for rows by several threads."""

    def __init__(self, places: list[ArrayPlace]) -> None:
        super().__init__(places)
        with ExitStack() as failed:
            failed.callback(self.close)
            self._count = min(thread_count(), MOST)
            enough = self._count >= FEWEST
            self._is_mapped = [enough and has_blocks(file) for file in self._files]
            self._windows = dict[int, Window]()
            self._open.callback(self._windows.clear)
            self._threads = ThreadPoolExecutor(self._count)
            self._open.callback(self._threads.shutdown)
            failed.pop_all()

    def _put(self, number: int, positions: NDArray[np.int64], rows: NDArray[Any]) -> None:
        if not self._is_mapped[number]:
            super()._put(number, positions, rows)
            return
        low, high = int(positions.min()), int(positions.max())
        try:
            content = self._mapped(number, low, (high - low + 1, rows.shape[1]))
        except OSError:
            super()._put(number, positions, rows)
            return
        step = -(-len(rows) // self._count)

        def put(first: int) -> None:
            part = slice(first, first + step)
            put_rows(self._places[number], content, positions[part] - low, rows[part])

        list(self._threads.map(put, range(0, len(rows), step)))

    def _mapped(self, number: int, low: int, shape: tuple[int, int]) -> NDArray[Any]:
        """Rows of an array from a position on, by a window that stays for the next ones."""
        place = self._places[number]
        row = shape[1] * place.type.itemsize
        begin, end = (place.start + position * row for position in (low, low + shape[0]))
        window = self._windows.get(number)
        if window is None or not window.has(begin, end):
            window = self._windows[number] = Window.of(self._files[number], begin, end)
        return window.array(begin, place.type, shape)


@dataclass(frozen=True, eq=False)
class Window:
    """A part of a file; what is written to it reaches the file."""

    first: int
    memory: mmap

    @classmethod
    def of(cls, file: int, begin: int, end: int) -> Window:
        """Map the bytes from ``begin`` to ``end`` of an open file, which has them, and others."""
        first = begin - begin % WINDOW_BYTES
        last = min(max(first + WINDOW_BYTES, end), os.fstat(file).st_size)
        memory = mmap(file, last - first, offset=first)
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(MADV_HUGEPAGE)
        return cls(first, memory)

    def has(self, begin: int, end: int) -> bool:
        """Return whether the bytes from ``begin`` to ``end`` are in it."""
        return self.first <= begin and end <= self.first + len(self.memory)

    def array(self, begin: int, kind: np.dtype[Any], shape: tuple[int, int]) -> NDArray[Any]:
        """Entries of a type, the first of which is at ``begin`` in the file."""
        count = shape[0] * shape[1]
        return np.frombuffer(self.memory, kind, count, begin - self.first).reshape(shape)


def put_rows(
    place: ArrayPlace, content: NDArray[Any], positions: NDArray[np.int64], rows: NDArray[Any]
) -> None:
    """Put rows of an array at some positions of what has been mapped of it."""
    if stride := stride_of(positions):
        convert(place, content[positions[0] : positions[-1] + 1 : stride], rows)
        return
    for row, position in zip(rows, positions.tolist(), strict=True):
        convert(place, content[position], row)


def stride_of(positions: NDArray[np.int64]) -> int:
    """Return how far positions are apart if all are equally far, and rising; else 0.

    >>> stride_of(np.array([3, 5, 7])), stride_of(np.array([3, 5, 6])), stride_of(np.array([9]))
    (2, 0, 1)
    """
    if len(positions) == 1:
        return 1
    apart = np.diff(positions)
    return int(apart[0]) if apart[0] > 0 and (apart == apart[0]).all() else 0


def has_blocks(file: int) -> bool:
    """Return whether the disk has all blocks of an open file, which is not empty, for it alone."""
    status = os.fstat(file)
    there = 0 < status.st_size <= status.st_blocks * BLOCK
    return there and file_system(status.st_dev) in KEEPING


def convert(place: ArrayPlace, content: NDArray[Any], row: NDArray[Any]) -> None:
    """Put a row of an array, or several, into memory as they stand in the file."""
    if place.name == "distances":
        put_public(content, row)
    else:
        content[...] = row


def open_file(path: Path) -> int:
    """A file's descriptor, for reading and writing; not through a link."""
    return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)


def boot_id() -> str:
    """Identify the running system of this host; by its name where that is all one may see."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        return os.uname().nodename


def write_at(descriptor: int, place: int, content: bytes | memoryview) -> None:
    """Write bytes at a place of a file, however many the disk takes at once."""
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, place)
        view, place = view[written:], place + written
