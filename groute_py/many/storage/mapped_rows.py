"""What writes rows of a rank into a file that other ranks write at the same time.

A write holds the lock of the file until it is done, so writers would wait for each other; those
that map the file into memory do not. But a mapping has no error for a full disk: the signal SIGBUS
ends the process. So only a file that has all its blocks, on a file system that keeps them for it,
is mapped.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from mmap import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.many.storage.row_writer import ArrayPlace, RowWriter, convert
from groute_py.system.mounts import file_system
from groute_py.system.threads import thread_count

KEEPING = ("tmpfs", "ext4")
"""File systems of one host whose reserved blocks are there when they are written."""

WRITING = 4
"""Threads of a rank that write; more would wait for the interpreter between rows.

With fewer cores nothing is mapped: the page faults take longer than the wait for the lock."""

BLOCK = 512
"""Bytes of a block, as stat(2) counts them."""


class MappedRowWriter(RowWriter):
    """Open files of arrays, mapped into memory where that is safe, for rows by several threads.

    Args, Raises: as for `RowWriter`.
    """

    def __init__(self, places: list[ArrayPlace]) -> None:
        super().__init__(places)
        pairs = zip(places, self._files, strict=True)
        enough = thread_count() >= WRITING
        self._mapped = [
            _mapped(place, file) if enough and is_kept(file) else None for place, file in pairs
        ]
        self._threads = ThreadPoolExecutor(WRITING)
        self._open.callback(self._threads.shutdown)
        self._open.callback(self._mapped.clear)

    def _put(self, number: int, positions: NDArray[np.int64], rows: NDArray[Any]) -> None:
        mapped, width = self._mapped[number], rows.shape[1]
        if mapped is None:
            super()._put(number, positions, rows)
            return
        content, place = mapped.reshape(-1, width), self._places[number]

        def put(first: int) -> None:
            for row in range(first, len(rows), WRITING):
                convert(place, content[positions[row]], rows[row])

        list(self._threads.map(put, range(WRITING)))


def is_kept(file: int) -> bool:
    """Whether the disk has all blocks of an open file, which is not empty, for it alone."""
    found = os.fstat(file)
    there = 0 < found.st_size <= found.st_blocks * BLOCK
    return there and file_system(found.st_dev) in KEEPING


def _mapped(place: ArrayPlace, file: int) -> NDArray[Any]:
    """The entries of an array, one after the other; they reach the file as they are written."""
    return np.frombuffer(mmap(file, 0), place.type, offset=place.start)
