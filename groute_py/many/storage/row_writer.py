"""What writes rows into the files of a run: on the rank that has made them, and on its neighbours.

Rows of a file that was laid out in full do not touch each other, so each rank of a host writes its
own. That a row is complete is written by the rank that holds the claim on the folder, afterwards.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.rows import RowBlock
from groute_py.results.result import put_public


@dataclass(frozen=True)
class ArrayPlace:
    """Where an array of rows lies.

    Attributes:
        name: of the array.
        path: of its file.
        type: of an entry.
        start: of the first row, in bytes.
        same: identifies the host until it is started again, and there the file.
    """

    name: str
    path: Path
    type: np.dtype[Any]
    start: int
    same: tuple[str, int, int]


class RowWriter:
    """Open files of arrays, for rows.

    Args:
        places: of the arrays.

    Raises:
        OSError: this process does not see them, or sees other files by their names.
    """

    def __init__(self, places: list[ArrayPlace]) -> None:
        self._places, self._files = places, list[int]()
        with ExitStack() as files:
            for place in places:
                file = opened(place.path)
                files.callback(os.close, file)
                found = os.fstat(file)
                if place.same != (boot_id(), found.st_dev, found.st_ino):
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
            convert(place, content, row)
            write_at(file, place.start + position * content.nbytes, content.data.cast("B"))

    def close(self) -> None:
        """Close the files; once more does nothing."""
        self._open.close()


def convert(place: ArrayPlace, content: NDArray[Any], row: NDArray[Any]) -> None:
    """Put a row of an array, or several, into memory as they stand in the file."""
    if place.name == "distances":
        put_public(content, row)
    else:
        content[...] = row


def opened(path: Path) -> int:
    """A file's descriptor, for reading and writing; not through a link."""
    return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)


def boot_id() -> str:
    """Identifies the running system of this host; by its name where that is all one may see."""
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
