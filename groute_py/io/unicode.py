"""Text in UTF-16 or UTF-32, as Excel writes it, brought to UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from groute_py.errors import FormatError

MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
"""Byte order marks, the longest first."""
LONGEST_MARK = 4


def encoding_of(start: bytes) -> str | None:
    """The encoding that a byte order mark says, if it is not UTF-8."""
    return next((name for mark, name in MARKS if start.startswith(mark)), None)


def in_utf8(path: Path, content: Iterator[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """A content in UTF-8, with the file's bytes done so far; as it is where it has no such mark.

    Raises:
        FormatError: it is damaged.
    """
    start, done = next(content, (b"", 0))
    while 0 < len(start) < LONGEST_MARK and (more := next(content, None)) is not None:
        start, done = start + more[0], more[1]
    whole = chain([(start, done)] if start else [], content)
    encoding = encoding_of(start)
    if encoding is None:
        yield from whole
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece, done in whole:
            yield decoder.decode(piece).encode(), done
        yield decoder.decode(b"", final=True).encode(), done
    except UnicodeError as error:
        raise FormatError(path, f"damaged {encoding}: {error.args[-1]}") from error
