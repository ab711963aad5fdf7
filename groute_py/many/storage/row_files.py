"""The files of a run's rows, and their writers on rank 0 and its neighbours.

There is an ``.npy`` file for each array, and one with a byte for each complete row.
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

import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from mmap import MADV_HUGEPAGE, mmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.errors import RunError
from groute_py.many.put_rows import Put, put_rows
from groute_py.many.storage.folder import RunFolder
from groute_py.results.distances import put_public
from groute_py.system.paths import file_system
from groute_py.system.threads import thread_count

COMPLETE = b"\1"

ROWS_AT_ONCE = 16  # written before they are marked; a full disk costs no more of them

WINDOW_BYTES = 1 << 28
"""Bytes of a window, unless a write takes more. The system counts its pages as the process's."""

KEEPING = ("tmpfs", "ext4")
"""File systems of one host whose reserved blocks are there when they are written."""

FEWEST, MOST = 4, 8
"""Threads of a rank that write.

With fewer cores nothing is mapped: the page faults take longer than the wait for the lock."""

BLOCK = 512  # bytes of a block, as stat(2) counts them


class RowFiles:
    """Arrays with a row for each source, on the disk in full size from the beginning."""

    def __init__(
        self, output: Path, types: dict[str, np.dtype[Any]], shape: tuple[int, int]
    ) -> None:
        self.output, self._types, self._shape = output, types, shape
        self.complete = np.zeros(shape[0], np.bool_)
        self._open = ExitStack()

    def attach(self, folder: RunFolder, token: str) -> None:
        self._folder, self._token = folder, token
        self.marker = folder.file(f"rows-{token}")

    def path(self, name: str) -> Path:
        """The file of an array."""
        return self._folder.file(f"{name}-{self._token}.npy")

    @property
    def draft(self) -> Path:
        """The folder in which a Zarr group is made."""
        return self._folder.file(f"zarr-{self._token}")

    def arrays(self) -> dict[str, Any]:
        """All arrays by name, mapped into memory."""
        return {name: np.load(self.path(name), mmap_mode="r") for name in self._types}

    def lay_out(self) -> None:
        """Make the files, with room for all rows; what another process has laid out stays.

        Those that have rows are not made again: the output may be made of them this moment.
        """
        if self.marker.exists() and COMPLETE in self.marker.read_bytes():
            return
        self._check_room()
        for name, kind in self._types.items():
            with open(open_file(self.path(name), os.O_CREAT), "r+b") as file:
                head = {"descr": kind.str, "fortran_order": False, "shape": self._shape}
                npy.write_array_header_1_0(file, head)
                _reserve(file, self._shape[0] * self._shape[1] * kind.itemsize)
        with open(open_file(self.marker, os.O_CREAT), "r+b") as file:
            file.truncate(self._shape[0])

    def are_complete(self) -> bool:
        """Return whether all rows are, by whichever process; the files are closed."""
        self.complete[:] = np.fromfile(self.marker, np.uint8) == COMPLETE[0]
        return bool(self.complete.all())

    def open(self) -> None:
        kinds = {name: (array.shape, array.dtype) for name, array in self.arrays().items()}
        marks = np.fromfile(self.marker, np.uint8)
        layout = {name: (self._shape, kind) for name, kind in self._types.items()}
        if kinds != layout or marks.shape != self.complete.shape:
            raise ValueError(kinds)
        self.complete[:] = marks == COMPLETE[0]
        self._writer = self._open.enter_context(closing(RowWriter(self._places)))
        self._marks = open_file(self.marker)
        self._open.callback(os.close, self._marks)

    @property
    def neighbour_places(self) -> list[ArrayPlace]:
        """Return where the arrays lie, for other processes of the host."""
        where = self._folder.path.resolve()
        return [replace(place, path=where / place.path.name) for place in self._places]

    @property
    def _places(self) -> list[ArrayPlace]:
        places, arrays = [], self.arrays()
        for name, kind in self._types.items():
            status = self.path(name).stat()
            same = boot_id(), status.st_dev, status.st_ino
            places.append(ArrayPlace(name, self.path(name), kind, arrays[name].offset, same))
        return places

    def take(self, numbers: NDArray[np.int64], block: RowBlock) -> None:
        """Write rows of each array, some at a time, and then that they are complete."""
        trees = block.predecessors
        for first in range(0, len(numbers), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            part = None if trees is None else trees[some]
            self._writer.take(numbers[some], RowBlock(first, block.distances[some], part))
            self.mark(numbers[some])

    def mark(self, numbers: NDArray[np.int64]) -> None:
        """Write that some rows are complete, which they are."""
        for first, count in runs(np.sort(numbers)):
            write_at(self._marks, first, COMPLETE * count)
            self.complete[first : first + count] = True

    def close(self) -> None:
        self._open.close()

    def _check_room(self) -> None:
        row = sum(kind.itemsize for kind in self._types.values()) * self._shape[1]
        # once row by row, once in the form asked for
        needed = row * self._shape[0] * (1 if self.output.suffix == ".npy" else 2)
        for path in map(self.path, self._types):
            needed -= path.stat().st_blocks * BLOCK if path.exists() else 0
        free = shutil.disk_usage(self._folder.file(".")).free
        if needed > free:
            raise RunError(
                f"{self._shape[0]:,} rows of {self._shape[1]:,} vertices take {needed:,} "
                f"bytes while they are written, and {free:,} are free at {self.output}; name "
                "another disk, or fewer sources"
            )


def runs(numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The first of consecutive numbers, and how many there are, of numbers that do not fall.

    >>> runs(np.array([3, 4, 5, 9]))
    [(3, 3), (9, 1)]
    """
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    return [(int(part[0]), len(part)) for part in parts if len(part)]


def _reserve(file: BinaryIO, size: int) -> None:
    file.flush()
    try:
        os.posix_fallocate(file.fileno(), file.tell(), size)
    except OSError as problem:
        if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        file.truncate(file.tell() + size)


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
            put_of(place)(content, row)
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
        step, put = -(-len(rows) // self._count), put_of(self._places[number])

        def put_part(first: int) -> None:
            part = slice(first, first + step)
            put_rows(put, content, positions[part] - low, rows[part])

        list(self._threads.map(put_part, range(0, len(rows), step)))

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


def has_blocks(file: int) -> bool:
    """Return whether the disk has all blocks of an open file, which is not empty, for it alone."""
    status = os.fstat(file)
    there = 0 < status.st_size <= status.st_blocks * BLOCK
    return there and file_system(status.st_dev) in KEEPING


def put_of(place: ArrayPlace) -> Put:
    """Return how rows are put into memory as they stand in the file of their array."""
    return put_public if place.name == "distances" else np.copyto


def open_file(path: Path, flags: int = 0) -> int:
    """A file's descriptor, for reading and writing; not through a link."""
    return os.open(path, flags | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


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
