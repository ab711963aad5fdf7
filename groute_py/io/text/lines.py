"""Text files in blocks of whole lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from groute_py.errors import FormatError
from groute_py.io.compression import BYTE_ORDER_MARK, CHUNK, pieces

Progress = Callable[[int, int], None]
"""Called with the bytes of the file that are done, and all."""

LONGEST_TEXT_LINE = 1 << 24


def whole_lines(path: Path, longest: int | None = None) -> Iterator[tuple[bytes, int]]:
    """The text of a file in blocks of whole lines, with the file's bytes done so far.

    Every block ends with a newline, which the compiled loops rely on.

    Raises:
        FormatError: a line is longer than `longest` (`LONGEST_TEXT_LINE`) bytes.
    """
    longest = LONGEST_TEXT_LINE if longest is None else longest
    left, done, mark = bytearray(), 0, BYTE_ORDER_MARK
    for number, (piece, done) in enumerate(pieces(path), 1):
        cut = piece.rfind(b"\n") + 1
        if cut:
            text, left = bytes(left) + piece[:cut], bytearray(piece[cut:])
            yield text.removeprefix(mark), done
            mark = b""
        else:
            left += piece
        if len(left) > longest:
            line = 1 + sum(seen.count(b"\n") for seen, _ in islice(pieces(path), number))
            raise FormatError(path, f"a line of more than {longest:,} bytes", line=line)
    if left:
        yield bytes(left).removeprefix(mark) + b"\n", done


def lines_within(path: Path, span: range) -> Iterator[tuple[bytes, int]]:
    """As `whole_lines`, the lines of a plain file that begin at the bytes of `span`.

    So the lines of spans that lie side by side are all lines, each once.

    Raises:
        FormatError: as `whole_lines`, or the file ends within the span.
    """
    with open(path, "rb") as file:
        file.seek(max(span.start - 1, 0))
        if span.start:
            _rest_of_line(path, file)
        while (start := file.tell()) < span.stop:
            text = file.read(min(CHUNK, span.stop - start))
            if not text:
                raise FormatError(path, f"ends at byte {start:,}, before {span.stop:,}")
            if not text.endswith(b"\n"):
                text += _rest_of_line(path, file)
            text = text if start else text.removeprefix(BYTE_ORDER_MARK)
            yield text if text.endswith(b"\n") else text + b"\n", file.tell() - span.start


def _rest_of_line(path: Path, file: BinaryIO) -> bytes:
    rest = file.readline(LONGEST_TEXT_LINE)
    if len(rest) == LONGEST_TEXT_LINE:
        raise FormatError(path, f"a line of more than {LONGEST_TEXT_LINE:,} bytes")
    return rest


def shown(field: bytes) -> str:
    """A field as a message shows it."""
    text = field.decode(errors="backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")
