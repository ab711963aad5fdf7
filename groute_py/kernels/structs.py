"""The structs and the arguments of kernels as NumPy sees them, read from their CUDA source.

What is read is plain: members and arguments of number types, pointers, structs and arrays. Where a
struct has ``alignas``, that is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.source import TUNING, Program, text_of, tuning

NUMBERS = {
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "i64": np.int64,
    "float": np.float32,
    "double": np.float64,
}
"""The types of ``kernels/layout/types.cuh``, and CUDA's, but for `Distance`."""

POINTER = np.dtype(np.uint64)

INT32 = np.dtype(np.int32)

STRUCT = r"struct (?:alignas\((\d+)\) )?{name}(?: : (\w+))? \{{(.*?)\n\}};"
KERNEL = r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s+)?{name}\((.*?)\) \{{'
MACRO = r"#define {name}\b((?:[^\n]*\\\n)*[^\n]*)\n"
DECLARATION = re.compile(r"\s*(?:alignas\((\d+)\)\s+)?(\w+)\s*(.+)", re.S)
DECLARED = re.compile(r"\s*(\*?)\s*(\w+)((?:\[[^]]+\])*)\s*")
UNSEEN = re.compile(r"//.*|\bconst\b|\b__grid_constant__\b")
"""Comments and words that change no layout."""


class Field(NamedTuple):
    """A member of a struct, or an argument."""

    name: str
    dtype: np.dtype[Any]
    alignment: int


def struct(program: Program, name: str, distance_type: np.dtype[Any] = INT32) -> np.dtype[Any]:
    """Lay out a struct of a program as C++ does."""
    return _struct(program, name, distance_type)[0]


def arguments(
    program: Program, kernel: str, distance_type: np.dtype[Any] = INT32
) -> dict[str, np.dtype[Any]]:
    """Return the types of a kernel's arguments by their names, in order."""
    (text,) = _part(program, KERNEL, kernel)
    for name in re.findall(r"\b[A-Z_]+_PARAMETERS\b", text):
        text = text.replace(name, _part(program, MACRO, name)[0].replace("\\\n", ""))
    fields = (_fields(program, part, distance_type) for part in text.split(","))
    return {field.name: field.dtype for (field,) in fields}


@cache
def _struct(program: Program, name: str, kind: np.dtype[Any]) -> tuple[np.dtype[Any], int]:
    """The layout of a struct, and its alignment."""
    least, parent, body = _part(program, STRUCT, name)
    if parent:
        body = _part(program, STRUCT, parent)[2] + body
    places, end, widest = dict[str, tuple[np.dtype[Any], int]](), 0, int(least or 1)
    for declaration in body.split(";")[:-1]:
        for field in _fields(program, declaration, kind):
            begin = end + -end % field.alignment
            places[field.name] = field.dtype, begin
            end, widest = begin + field.dtype.itemsize, max(widest, field.alignment)
    formats, offsets = zip(*places.values(), strict=True)
    words: Any = {"names": [*places], "formats": formats, "offsets": offsets}
    return np.dtype(words | {"itemsize": end + -end % widest}), widest


def _fields(program: Program, declaration: str, kind: np.dtype[Any]) -> Iterator[Field]:
    """The members of one declaration, which have one type, such as ``u32 *heads, count[2]``."""
    match = DECLARATION.fullmatch(declaration)
    assert match is not None, declaration
    for declared in match[3].split(","):
        star, name, extents = DECLARED.fullmatch(declared).groups()  # type: ignore[union-attr]
        dtype, alignment = (POINTER, 8) if star else _type(program, match[2], kind)
        shape = tuple(_length(program, text) for text in re.findall(r"\[([^]]+)\]", extents))
        dtype = np.dtype((dtype, shape)) if shape else dtype
        yield Field(name, dtype, max(alignment, int(match[1] or 1)))


def _type(program: Program, name: str, kind: np.dtype[Any]) -> tuple[np.dtype[Any], int]:
    if name in NUMBERS or name == "Distance":
        number = kind if name == "Distance" else np.dtype(NUMBERS[name])
        return number, number.itemsize
    return _struct(program, name, kind)


def _length(program: Program, text: str) -> int:
    """The value of a sum of numbers and macros."""
    return sum(_number(program, word.strip()) for word in text.split("+"))


def _number(program: Program, word: str) -> int:
    if word.isdecimal():
        return int(word)
    return tuning(word) if word in TUNING else int(_part(program, MACRO, word)[0])


def _part(program: Program, pattern: str, name: str) -> list[str]:
    """The groups of a pattern about a name where it is in the source."""
    match = re.search(pattern.format(name=name), text_of(program), re.S)
    assert match is not None, name
    return [UNSEEN.sub("", group or "") for group in match.groups()]
