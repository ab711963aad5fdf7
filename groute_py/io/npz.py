"""Arrays of an ``.npz`` archive: those asked for, once their headers promise what they have."""

from __future__ import annotations

import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.io.untrusted import INT64, integer
from groute_py.system.memory_limits import check_room

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, struct.error),
    *(KeyError, ValueError, TypeError, OverflowError, RecursionError, IndexError),
    *(tokenize.TokenError, SyntaxError),  # of NumPy's headers, which are Python
    *(RuntimeError, NotImplementedError),  # of zipfile: a password, another compression
)
"""Errors that zipfile and NumPy raise of an archive that is damaged."""

UNPACKED_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""NumPy writes these. Of the others zipfile unpacks some bytes at once, whatever they make."""

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class Header(NamedTuple):
    """The shape and the type of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def read_arrays(
    path: Path,
    names: Iterable[str],
    check: Callable[[dict[str, Header]], None] = lambda _headers: None,
    *,
    prefix: str | None = None,
) -> dict[str, NDArray[Any]]:
    """Arrays of an archive by their names: those of `names` that are there, or have the prefix.

    ``check`` may refuse them by their headers, before they are read.
    """
    with zipfile.ZipFile(path) as archive:
        if prefix is not None:
            more = (name.removesuffix(".npy") for name in archive.namelist())
            names = [*names, *(name for name in more if name.startswith(prefix))]
        members = dict(_members(archive, names))
        check({name: _header(archive, member) for name, member in members.items()})
        size = sum(member.file_size for member in members.values())
        check_room(size, f"{path}: its arrays")
        return {name: _read(archive, member) for name, member in members.items()}


def _members(
    archive: zipfile.ZipFile, names: Iterable[str]
) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    there = set(archive.namelist())
    for name in names:
        if f"{name}.npy" in there:
            yield name, archive.getinfo(f"{name}.npy")
        elif name in there:
            raise ValueError(f"its member {name} is not stored as {name}.npy")


def _header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Header:
    """Read a header, and compare it with the size that the archive has of the member."""
    if member.compress_type not in UNPACKED_BOUNDED:
        raise ValueError(f"{member.filename} is compressed as NumPy does not write it")
    with archive.open(member) as stream:
        version = npy.read_magic(stream)
        if version not in HEADERS:
            raise ValueError(f"{member.filename} is of an unknown .npy version")
        shape, _, dtype = HEADERS[version](stream)
        left = member.file_size - stream.tell()
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError(f"{member.filename} has type {dtype}")
    extents = tuple(integer(f"the shape of {member.filename}", n, 0, INT64.max) for n in shape)
    if (size := math.prod(extents) * dtype.itemsize) != left:
        problem = f"{member.filename} promises {size:,} bytes of shape {shape}, and has {left:,}"
        raise ValueError(problem)
    return Header(extents, dtype)


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as stream:
        array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
        return array


def save_arrays(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write arrays as `numpy.savez` does.

    After an error the archive is closed here. NumPy before 2 leaves that to the garbage collector,
    which then complains on stderr that the file has been closed.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)
