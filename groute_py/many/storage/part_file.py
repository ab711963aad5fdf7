"""The file of a run's parts: arrays one after the other, each as an ``.npy`` file has them.

A kill may leave a part at the end that is torn. It is found by its length, and cut off.
"""

from __future__ import annotations

import io
import os
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.many.storage.folder import NEXT_PARTS, PARTS, RunFolder
from groute_py.many.storage.row_writer import write_at

Part = tuple[NDArray[np.generic], ...]
"""Arrays of one dimension or more, as many in each part of a file."""


class PartFile:
    """Parts on the disk, each behind those before.

    Args:
        folder: where the file lies.
        width: how many arrays a part has.
    """

    def __init__(self, folder: RunFolder, width: int) -> None:
        self._folder, self._width, self._end = folder, width, 0

    def lay_out(self) -> None:
        """Make the file, with no part in it."""
        open(self._folder.file(PARTS), "xb").close()

    def read(self) -> list[Part]:
        """The complete parts; what follows them is removed.

        Raises:
            OSError: the file is not there, or cannot be read.
        """
        parts: list[Part] = []
        with open(self._folder.file(PARTS), "r+b") as file:
            while (part := self._next(file)) is not None:
                parts.append(part)
                self._end = file.tell()
            file.truncate(self._end)
        return parts

    def append(self, part: Part) -> None:
        """Write a part behind the others.

        Raises:
            OSError: the disk is full, or fails.
        """
        self._end = self._write(PARTS, os.O_WRONLY, self._end, part)

    def replace(self, part: Part) -> None:
        """Write a part in the place of all others; these are there until it is complete.

        Raises:
            OSError: the disk is full, or fails.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        self._end = self._write(NEXT_PARTS, flags, 0, part)
        self._folder.file(NEXT_PARTS).replace(self._folder.file(PARTS))

    def _next(self, file: BinaryIO) -> Part | None:
        try:
            return tuple(np.load(file, allow_pickle=False) for _ in range(self._width))
        except (EOFError, ValueError, MemoryError):  # torn: what is not there has any length
            return None

    def _write(self, name: str, flags: int, place: int, part: Part) -> int:
        """Write a part into a file at a place, and return the place behind it."""
        path = self._folder.file(name)
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            for array in part:
                for content in _contents(array):
                    write_at(descriptor, place, content)
                    place += len(content)
        finally:
            os.close(descriptor)  # some disks say only now that they are full
        return place


def _contents(array: NDArray[np.generic]) -> tuple[bytes, memoryview]:
    """The head and the entries of an array, in bytes."""
    head, whole = io.BytesIO(), np.ascontiguousarray(array)
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(whole))
    return head.getvalue(), whole.reshape(-1).view(np.uint8).data
