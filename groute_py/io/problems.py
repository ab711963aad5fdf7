"""Sources and pairs: DIMACS problem files, ``.ss`` and ``.p2p``, compressed or not.

c a comment
p aux sp ss 2             p aux sp p2p 1
s 1                       q 1 264346
s 190295
"""

from __future__ import annotations

import os
import re
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.io.text.lines import shown, whole_lines
from groute_py.system.memory_limits import check_room

ID = re.compile(rb"\d{1,18}")


def read_sources(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read the sources of a ``.ss`` file."""
    return _read(Path(path), b"ss", b"s", 1)[:, 0]


def read_pairs(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read the pairs of a ``.p2p`` file."""
    return _read(Path(path), b"p2p", b"q", 2)


def _read(path: Path, kind: bytes, letter: bytes, width: int) -> NDArray[np.int64]:
    promised, ids, number = None, array("q"), 0
    for text, _ in whole_lines(path):
        check_room(ids.itemsize * len(ids), f"{path}: more than {len(ids):,} ids")
        for line in text.split(b"\n")[:-1]:
            number += 1
            fields = line.split()
            if not fields or fields[0].startswith(b"c"):
                continue
            if fields[0] == b"p" and promised is None:
                promised = _promised(path, fields, kind, number)
            elif fields[0] == letter and promised is not None and len(fields) == 1 + width:
                ids.extend(_id(path, field, number) for field in fields[1:])
            else:
                form = f"`{letter.decode()}{' ID' * width}` behind `p aux sp {kind.decode()} N`"
                raise FormatError(path, f"expected {form}, got {shown(line)}", line=number)
    count = len(ids) // width
    if promised != count:
        problem = f"promises {promised or 0:,} lines `{letter.decode()}`, but has {count:,}"
        raise FormatError(path, problem)
    return np.array(ids, np.int64).reshape(-1, width)


def _promised(path: Path, fields: list[bytes], kind: bytes, line: int) -> int:
    if fields[:4] != [b"p", b"aux", b"sp", kind] or len(fields) != 5 or not ID.fullmatch(fields[4]):
        problem = f"expected `p aux sp {kind.decode()} N`, got {shown(b' '.join(fields))}"
        raise FormatError(path, problem, line=line)
    return int(fields[4])


def _id(path: Path, field: bytes, line: int) -> int:
    if not ID.fullmatch(field):
        raise FormatError(path, f"expected a vertex id, got {shown(field)}", line=line)
    return int(field)
