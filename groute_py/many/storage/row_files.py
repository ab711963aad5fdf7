"""The files of a run's rows: an ``.npy`` file for each array, and a byte for each complete row."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.many.storage.folder import ROWS, RunFolder

COMPLETE = b"\1"


class RowFiles:
    """Arrays with a row for each source, on the disk in full size from the beginning.

    Args:
        folder: where they lie.
        types: of the arrays, by name.
        shape: of each array, (sources, vertices).
    """

    def __init__(
        self, folder: RunFolder, types: dict[str, np.dtype[Any]], shape: tuple[int, int]
    ) -> None:
        self._folder, self._types, self._shape = folder, types, shape
        self._open = ExitStack()

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        row = sum(kind.itemsize for kind in self._types.values()) * self._shape[1]
        return row * self._shape[0]

    @property
    def missing(self) -> NDArray[np.int64]:
        """Positions of the rows that are not there yet."""
        state = np.frombuffer(self._folder.file(ROWS).read_bytes(), np.uint8)
        return np.flatnonzero(state != COMPLETE[0])

    def path(self, name: str) -> Path:
        """The file of an array."""
        return self._folder.file(f"{name}.npy")

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
        with open(self._folder.file(ROWS), "xb") as file:
            file.write(bytes(self._shape[0]))

    def are_whole(self) -> bool:
        """Whether all files are there, in the sizes that they had when they were made."""
        try:
            whole = self._folder.file(ROWS).stat().st_size == self._shape[0]
            for name, kind in self._types.items():
                array = self.array(name)
                whole &= (array.shape, array.dtype) == (self._shape, kind)
        except (OSError, ValueError):
            return False
        return whole

    def open(self) -> None:
        """Open them, to write rows until `close`."""
        self._starts = {name: self.array(name).offset for name in self._types}
        self._files = {name: self._opened(self.path(name)) for name in self._types}
        self._rows = self._opened(self._folder.file(ROWS))

    def _opened(self, path: Path) -> int:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._open.callback(os.close, descriptor)
        return descriptor

    def write(self, position: int, rows: dict[str, NDArray[Any] | None]) -> None:
        """Write one row of each array, and then that it is complete.

        Args:
            position: of the row.
            rows: by the name of the array, shape (vertices,); others are passed over.
        """
        for name, kind in self._types.items():
            row = rows[name]
            assert row is not None
            content = np.ascontiguousarray(row, kind)
            place = self._starts[name] + position * content.nbytes
            write_at(self._files[name], place, content.tobytes())
        write_at(self._rows, position, COMPLETE)

    def is_same(self) -> bool:
        """Whether the folder still has the files that are open."""
        try:
            rows = self._folder.file(ROWS).lstat()
        except OSError:
            return False
        return os.path.samestat(os.fstat(self._rows), rows)

    def close(self) -> None:
        """Close them; once more does nothing."""
        self._open.close()


def write_at(descriptor: int, place: int, content: bytes | memoryview) -> None:
    """Write bytes at a place of a file, however many the disk takes at once."""
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, place)
        view, place = view[written:], place + written


def _reserve(file: BinaryIO, size: int) -> None:
    file.flush()
    try:
        os.posix_fallocate(file.fileno(), file.tell(), size)
    except OSError as problem:
        if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        file.truncate(file.tell() + size)
