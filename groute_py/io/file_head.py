"""The size and time of a file, and its beginning, from which its format is detected."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from groute_py.errors import FormatError, file_path
from groute_py.io.compression import BYTE_ORDER_MARK, bare_name, codec_of, pieces, refuse_pipes
from groute_py.io.tables.columns import BY_TITLE, Columns

HEAD_BYTES = 1 << 16


class Source(NamedTuple):
    """Size and time of a file, by which a cached copy knows the one it was made from."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Source:
        """The source as it is now."""
        try:
            status = path.stat()
        except OSError as error:
            raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
        return cls(status.st_size, status.st_mtime_ns)


class Head:
    """The beginning of a file: its first `HEAD_BYTES` in ``text``, decompressed.

    ``columns`` are the columns that the caller names, and ``source`` the size and time of the file.
    """

    def __init__(self, path: Path, columns: Columns = BY_TITLE) -> None:
        self.path, self.columns = file_path("graph", path), columns
        self.name = bare_name(path)
        refuse_pipes(path)
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                text = file.read(HEAD_BYTES)
        except IsADirectoryError as error:
            raise FormatError(path, "is a folder, not a graph file") from error
        except FileNotFoundError as error:
            raise FormatError(path, "no such file") from error
        except OSError as error:
            raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
        self.source = Source(status.st_size, status.st_mtime_ns)
        codec = codec_of(text)
        self.compression = None if codec is None else codec.name
        self.text = (text if codec is None else _unpacked(path)).removeprefix(BYTE_ORDER_MARK)
        if not self.text:
            raise FormatError(path, "is empty once decompressed" if codec else "is empty")

    @cached_property
    def whole(self) -> bool:
        """Return True if `text` may be all there is."""
        return len(self.text) < HEAD_BYTES

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines of `text`; one that the end of `text` cuts is left out, unless it is alone."""
        lines = self.text.split(b"\n")
        return lines if self.whole or len(lines) == 1 else lines[:-1]


def _unpacked(path: Path) -> bytes:
    text = b""
    for piece, _ in pieces(path):
        text += piece[: HEAD_BYTES - len(text)]
        if len(text) == HEAD_BYTES:
            break
    return text
