"""What writes rows of a rank into a file that other ranks write at the same time.

A write holds the lock of the file until it is done, so writers would wait for each other; those
that map the file into memory do not. But a mapping has no error for a full disk: the signal SIGBUS
ends the process. So only a file that has all its blocks, on a file system that keeps them for it,
is mapped.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.many.storage.row_writer import ArrayPlace, RowWriter, convert
from groute_py.many.storage.window import Window
from groute_py.system.mounts import file_system
from groute_py.system.threads import thread_count

KEEPING = ("tmpfs", "ext4")
"""File systems of one host whose reserved blocks are there when they are written."""

FEWEST, MOST = 4, 8
"""Threads of a rank that write.

With fewer cores nothing is mapped: the page faults take longer than the wait for the lock."""

BLOCK = 512
"""Bytes of a block, as stat(2) counts them."""


class MappedRowWriter(RowWriter):
    """Open files of arrays, mapped into memory where that is safe, for rows by several threads.

    Args, Raises: as for `RowWriter`.
    """

    def __init__(self, places: list[ArrayPlace]) -> None:
        super().__init__(places)
        with ExitStack() as failed:
            failed.callback(self.close)
            self._count = min(thread_count(), MOST)
            enough = self._count >= FEWEST
            self._is_mapped = [enough and is_kept(file) for file in self._files]
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
    """How far positions are apart if all are equally far, and rising; else 0.

    >>> stride_of(np.array([3, 5, 7])), stride_of(np.array([3, 5, 6])), stride_of(np.array([9]))
    (2, 0, 1)
    """
    if len(positions) == 1:
        return 1
    apart = np.diff(positions)
    return int(apart[0]) if apart[0] > 0 and (apart == apart[0]).all() else 0


def is_kept(file: int) -> bool:
    """Whether the disk has all blocks of an open file, which is not empty, for it alone."""
    found = os.fstat(file)
    there = 0 < found.st_size <= found.st_blocks * BLOCK
    return there and file_system(found.st_dev) in KEEPING
