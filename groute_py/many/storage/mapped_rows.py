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
from mmap import ALLOCATIONGRANULARITY, MADV_RANDOM, mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.many.storage.row_writer import ArrayPlace, RowWriter, convert
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
            self._threads = ThreadPoolExecutor(self._count)
            self._open.callback(self._threads.shutdown)
            failed.pop_all()

    def _put(self, number: int, positions: NDArray[np.int64], rows: NDArray[Any]) -> None:
        if not self._is_mapped[number]:
            super()._put(number, positions, rows)
            return
        step = max(-(-len(rows) // self._count), 1)

        def put(first: int) -> None:
            part = slice(first, first + step)
            self._put_part(number, positions[part], rows[part])

        list(self._threads.map(put, range(0, len(rows), step)))

    def _put_part(self, number: int, positions: NDArray[np.int64], rows: NDArray[Any]) -> None:
        """Write rows through a mapping of their part of the file, which goes with the thread's."""
        place, low, stride = self._places[number], int(positions.min()), stride_of(positions)
        shape = int(positions.max()) - low + 1, rows.shape[1]
        try:
            content = _mapped(self._files[number], place, low, shape)
        except OSError:  # too many mappings, or no addresses left
            super()._put(number, positions, rows)
            return
        if stride:
            convert(place, content[::stride], rows)
            return
        for row, position in zip(rows, positions.tolist(), strict=True):
            convert(place, content[position - low], row)


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


def _mapped(file: int, place: ArrayPlace, low: int, shape: tuple[int, int]) -> NDArray[Any]:
    """Rows of an array from a position on; what is written to them reaches the file.

    They are mapped as long as the array is there. Without readahead: ext4 would take hundreds of
    pages together then, and go through all blocks of them at the first write to each page. On Linux
    6.18 that made a write ten times as long as one by pwrite(2), and without it two to three times.
    """
    row = shape[1] * place.type.itemsize
    begin = place.start + low * row
    first = begin - begin % ALLOCATIONGRANULARITY
    held = mmap(file, begin - first + shape[0] * row, offset=first)
    held.madvise(MADV_RANDOM)
    flat = np.frombuffer(held, place.type, shape[0] * shape[1], begin - first)
    return flat.reshape(shape)
