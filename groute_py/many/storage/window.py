"""A part of a file that is mapped into memory for many writes.

What a write to new pages costs is a page fault for each. So a window begins where a huge page may,
stays for all writes to its part of the file, and is advised to use huge pages: ext4 (since Linux
6.16) then fills 2 MiB of its cache at one fault and maps them as one page. Where a file system or
kernel has none, readahead fills as many pages of 4 KiB, so that their faults are short.

Two other ways are slow. The advice against readahead (MADV_RANDOM) makes each page of 4 KiB a major
fault, whose thread lets go of the locks and begins again. And windows of a few rows cut huge pages
into pieces: each 4 KiB takes a fault, and each fault of ext4 goes through all blocks of the page.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from mmap import MADV_HUGEPAGE, mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 1 << 28
"""Bytes of a window, unless a write takes more. The system counts its pages as the process's."""


@dataclass(frozen=True, eq=False)
class Window:
    """A part of a file; what is written to it reaches the file.

    Attributes:
        first: where it begins in the file, in bytes.
        memory: mapped as long as the window, or an array of it, is there.
    """

    first: int
    memory: mmap

    @classmethod
    def of(cls, file: int, begin: int, end: int) -> Window:
        """The window with the bytes from ``begin`` to ``end`` of an open file, which has them.

        Raises:
            OSError: there are too many mappings, or no addresses left.
        """
        first = begin - begin % SIZE
        last = min(max(first + SIZE, end), os.fstat(file).st_size)
        memory = mmap(file, last - first, offset=first)
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(MADV_HUGEPAGE)
        return cls(first, memory)

    def has(self, begin: int, end: int) -> bool:
        """Whether the bytes from ``begin`` to ``end`` are in it."""
        return self.first <= begin and end <= self.first + len(self.memory)

    def array(self, begin: int, kind: np.dtype[Any], shape: tuple[int, int]) -> NDArray[Any]:
        """Entries of a type, the first of which is at ``begin`` in the file."""
        count = shape[0] * shape[1]
        return np.frombuffer(self.memory, kind, count, begin - self.first).reshape(shape)
