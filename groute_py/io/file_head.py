"""The beginning of a file, from which its format is detected."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from groute_py.arguments import file_path
from groute_py.errors import FormatError
from groute_py.io.compression import (
    BYTE_ORDER_MARK,
    LONGEST_MAGIC,
    bare_name,
    codec_of,
    pieces,
    refuse_pipes,
)
from groute_py.io.tables.columns import BY_TITLE, Columns

HEAD_BYTES = 1 << 16


class Head:
    """The beginning of a file: its first `HEAD_BYTES` in ``text``, decompressed.

    ``columns`` are the columns that the caller names.
    """

    def __init__(self, path: Path, columns: Columns = BY_TITLE) -> None:
        self.path, self.columns = file_path("graph", path), columns
        refuse_pipes(path)
        try:
            if path.is_dir():
                raise FormatError(path, "is a folder, not a graph file")
            with open(path, "rb") as file:
                codec = codec_of(file.read(LONGEST_MAGIC))
            self.compression = None if codec is None else codec.name
            self.name = bare_name(path)
            self.size = path.stat().st_size
        except FileNotFoundError as error:
            raise FormatError(path, "no such file") from error
        except OSError as error:
            raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
        self.text = _first_bytes(path)
        if not self.text:
            raise FormatError(
                path, "is empty once decompressed" if self.compression else "is empty"
            )

    @cached_property
    def whole(self) -> bool:
        """Return True if `text` may be all there is."""
        return len(self.text) < HEAD_BYTES

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines of `text`; one that the end of `text` cuts is left out, unless it is alone."""
        lines = self.text.split(b"\n")
        return lines if self.whole or len(lines) == 1 else lines[:-1]


def _first_bytes(path: Path) -> bytes:
    text = b""
    for piece, _ in pieces(path):
        text += piece[: HEAD_BYTES - len(text)]
        if len(text) == HEAD_BYTES:
            break
    return text.removeprefix(BYTE_ORDER_MARK)
