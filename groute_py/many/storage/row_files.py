"""The files of a run's rows: an ``.npy`` file for each array, and a byte for each complete row."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.errors import RunError
from groute_py.many.storage.folder import RunFolder
from groute_py.many.storage.row_writer import ArrayPlace, RowWriter, boot_id, open_file, write_at

COMPLETE = b"\1"

ROWS_AT_ONCE = 16
"""Written before they are marked; a full disk costs no more of them."""


class RowFiles:
    """Arrays with a row for each source, on the disk in full size from the beginning.

    See `groute_py.many.storage.store.Files`.
    """

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
        """Make the files, with room for all rows, of which none is complete."""
        self._check_room()
        for name, kind in self._types.items():
            with open(self.path(name), "xb") as file:
                head = {"descr": kind.str, "fortran_order": False, "shape": self._shape}
                npy.write_array_header_1_0(file, head)
                _reserve(file, self._shape[0] * self._shape[1] * kind.itemsize)
        with open(self.marker, "xb") as file:
            file.write(bytes(self._shape[0]))

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
