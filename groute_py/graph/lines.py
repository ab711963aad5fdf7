"""Text files in blocks of whole lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from groute_py.errors import FormatError
from groute_py.graph.compression import BYTE_ORDER_MARK, pieces

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
    left, done, mark = b"", 0, BYTE_ORDER_MARK
    for number, (piece, done) in enumerate(pieces(path), 1):
        cut = piece.rfind(b"\n") + 1
        if cut:
            text, left = left + piece[:cut], piece[cut:]
            yield text.removeprefix(mark), done
            mark = b""
        else:
            left += piece
        if len(left) > longest:
            line = 1 + sum(seen.count(b"\n") for seen, _ in islice(pieces(path), number))
            raise FormatError(path, f"a line of more than {longest:,} bytes", line=line)
    if left:
        yield left.removeprefix(mark) + b"\n", done


def shown(field: bytes) -> str:
    """A field as a message shows it."""
    text = field.decode(errors="backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")
