"""The file of a run's parts, one after the other: named arrays, as ``.npy`` files have them.

A kill may leave a part at the end that is torn. It is recognized by its length, and cut off.
"""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.many.storage.folder import RunFolder
from groute_py.many.storage.row_writer import write_at

UNITS = "units"
"""The array of a part with the numbers of its units."""

Part = dict[str, NDArray[Any]]
"""Arrays of one dimension or more by name, among them `UNITS`."""


class PartFile:
    """Parts on the disk, each behind those before; see `groute_py.many.storage.store.Files`.

    Attributes:
        complete: bool, shape (units,).
        parts: those that were there when the file was opened.
    """

    def __init__(self, total: int) -> None:
        self.complete = np.zeros(total, np.bool_)
        self.parts: list[Part] = []
        self._end = 0

    def attach(self, folder: RunFolder, token: str) -> None:
        self._folder, self._token = folder, token
        self.marker = folder.file(f"parts-{token}")

    def lay_out(self) -> None:
        open(self.marker, "xb").close()

    def open(self) -> None:
        with open(self.marker, "r+b") as file:
            while (part := _next_part(file)) is not None:
                self.parts.append(part)
                self.complete[_checked(part, len(self.complete))] = True
                self._end = file.tell()
            file.truncate(self._end)

    def append(self, part: Part) -> None:
        """Write a part behind the others.

        Raises:
            OSError: the disk is full, or fails.
        """
        self._end = self._write(f"parts-{self._token}", os.O_WRONLY, self._end, part)
        self.complete[part[UNITS]] = True

    def replace(self, part: Part) -> None:
        """Write a part in the place of all others; these are there until it is complete.

        Raises:
            OSError: the disk is full, or fails.
        """
        draft, flags = f"next-{self._token}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        self._end = self._write(draft, flags, 0, part)
        self._folder.file(draft).replace(self.marker)
        self.complete[:] = False
        self.complete[part[UNITS]] = True

    def close(self) -> None:
        """Nothing stays open."""

    def _write(self, name: str, flags: int, place: int, part: Part) -> int:
        """Write a part into a file at a place, and return the place behind it."""
        path = self._folder.file(name)
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            for array in (np.array(list(part)), *part.values()):
                for content in _contents(array):
                    write_at(descriptor, place, content)
                    place += len(content)
        finally:
            os.close(descriptor)  # some disks say only now that they are full
        return place


def join(parts: list[Part]) -> Part:
    """Parts of the same names as one, at least one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _next_part(file: BinaryIO) -> Part | None:
    try:
        names = np.load(file, allow_pickle=False)
        return {str(name): np.load(file, allow_pickle=False) for name in names}
    except (EOFError, ValueError, MemoryError):  # torn: what is not there has any length
        return None


def _checked(part: Part, total: int) -> NDArray[np.int64]:
    """The units of a part, from 0 and less than a total."""
    units: NDArray[np.int64] = part[UNITS].astype(np.int64)
    if len(units) and not 0 <= units.min() <= units.max() < total:
        raise ValueError(units)
    return units


def _contents(array: NDArray[Any]) -> tuple[bytes, memoryview]:
    """The head and the entries of an array, in bytes."""
    head, whole = io.BytesIO(), np.ascontiguousarray(array)
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(whole))
    return head.getvalue(), whole.reshape(-1).view(np.uint8).data
