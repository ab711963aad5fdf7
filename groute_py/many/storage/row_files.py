"""The files of a run's rows: an ``.npy`` file for each array, and a byte for each complete row."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.many.storage.folder import ROWS, RunFolder
from groute_py.many.storage.row_writer import ArrayPlace, RowWriter, boot_id, opened, write_at

COMPLETE = b"\1"

ROWS_AT_ONCE = 16
"""Written before they are marked; a full disk costs no more of them."""


class RowFiles:
    """Arrays with a row for each source, on the disk in full size from the beginning.

    Args:
        folder: where they lie.
        types: of the arrays, by name.
        shape: of each array, (sources, vertices).
        token: in the names of the files; see `groute_py.many.storage.folder.TOKEN`.
    """

    def __init__(
        self,
        folder: RunFolder,
        types: dict[str, np.dtype[Any]],
        shape: tuple[int, int],
        token: str,
    ) -> None:
        self._folder, self._types, self._shape, self._token = folder, types, shape, token
        self._open = ExitStack()

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        row = sum(kind.itemsize for kind in self._types.values()) * self._shape[1]
        return row * self._shape[0]

    @property
    def missing(self) -> NDArray[np.int64]:
        """Positions of the rows that are not there yet."""
        state = np.frombuffer(self._state.read_bytes(), np.uint8)
        return np.flatnonzero(state != COMPLETE[0])

    def path(self, name: str) -> Path:
        """The file of an array."""
        return self._folder.file(f"{name}-{self._token}.npy")

    @property
    def _state(self) -> Path:
        return self._folder.file(f"{ROWS}-{self._token}")

    def array(self, name: str) -> Any:
        """An array, mapped into memory."""
        return np.load(self.path(name), mmap_mode="r")

    def arrays(self) -> dict[str, Any]:
        """All of them, by name."""
        return {name: self.array(name) for name in self._types}

    def lay_out(self) -> None:
        """Make the files, with room for all rows, of which none is complete."""
        for name, kind in self._types.items():
            with open(self.path(name), "xb") as file:
                head = {"descr": kind.str, "fortran_order": False, "shape": self._shape}
                npy.write_array_header_1_0(file, head)
                _reserve(file, self._shape[0] * self._shape[1] * kind.itemsize)
        with open(self._state, "xb") as file:
            file.write(bytes(self._shape[0]))

    def are_whole(self) -> bool:
        """Whether all files are there, in the sizes that they had when they were made."""
        try:
            whole = self._state.stat().st_size == self._shape[0]
            for name, kind in self._types.items():
                array = self.array(name)
                whole &= (array.shape, array.dtype) == (self._shape, kind)
        except (OSError, ValueError):
            return False
        return whole

    def open(self) -> None:
        """Open them, to write rows until `close`."""
        self._writer = self._open.enter_context(closing(RowWriter(self._places)))
        self._rows = opened(self._state)
        self._open.callback(os.close, self._rows)
        self._opened = os.fstat(self._rows)

    @property
    def neighbour_places(self) -> list[ArrayPlace]:
        """Where the arrays lie, for other processes of the host."""
        where = self._folder.path.resolve()
        return [replace(place, path=where / place.path.name) for place in self._places]

    @property
    def _places(self) -> list[ArrayPlace]:
        found = []
        for name, kind in self._types.items():
            status = self.path(name).stat()
            same = boot_id(), status.st_dev, status.st_ino
            found.append(ArrayPlace(name, self.path(name), kind, self.array(name).offset, same))
        return found

    def take(self, positions: NDArray[np.int64], block: RowBlock) -> None:
        """Write rows of each array, some at a time, and then that they are complete."""
        trees = block.predecessors
        for first in range(0, len(positions), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            part = None if trees is None else trees[some]
            self._writer.take(positions[some], RowBlock(first, block.distances[some], part))
            self.mark(positions[some])

    def mark(self, positions: NDArray[np.int64]) -> None:
        """Write that some rows are complete, which they are."""
        for first, count in runs(np.sort(positions)):
            write_at(self._rows, first, COMPLETE * count)

    def is_same(self) -> bool:
        """Whether the folder still has the files that were opened, closed by now or not."""
        try:
            rows = self._state.lstat()
        except OSError:
            return False
        return os.path.samestat(self._opened, rows)

    def close(self) -> None:
        """Close them; once more does nothing."""
        self._open.close()


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
