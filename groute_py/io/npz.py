"""Arrays of an ``.npz`` archive: only those asked for, and no more than it says they hold."""

from __future__ import annotations

import bz2
import copy
import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.io.untrusted import INT64, integer
from groute_py.system.memory_limits import check_room

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, struct.error),
    *(KeyError, ValueError, TypeError, OverflowError, RecursionError, IndexError),
    *(tokenize.TokenError, SyntaxError),  # of NumPy's headers, which are Python
    *(RuntimeError, NotImplementedError),  # of zipfile: a password, another compression
)
"""What zipfile and NumPy raise of an archive that is damaged."""

READ_AT_ONCE = 1 << 20
PACKED_AT_ONCE = 1 << 12
"""Bytes asked for at a time. Of LZMA, zipfile unpacks as many packed bytes at once, whatever they
make; a few thousand are some ten megabytes."""

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class Header(NamedTuple):
    """The shape and the type of an array, and whether its columns come one after another."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool


def read_headers(path: Path, names: Iterable[str]) -> dict[str, Header]:
    """The headers of arrays of an archive, which are all that is read of them."""
    with zipfile.ZipFile(path) as archive:
        found = {}
        for name, member in _members(archive, names).items():
            with _opened(archive, member) as stream:
                found[name] = _header(member, stream)
        return found


def read_arrays(path: Path, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Arrays of an archive by their names, those of `names` that are there."""
    with zipfile.ZipFile(path) as archive:
        members = _members(archive, names)
        size = sum(member.file_size for member in members.values())
        check_room(size, f"{path}: its arrays")
        return {name: _read(archive, member) for name, member in members.items()}


def _members(archive: zipfile.ZipFile, names: Iterable[str]) -> dict[str, zipfile.ZipInfo]:
    there, found = set(archive.namelist()), {}
    for name in names:
        if f"{name}.npy" in there:
            found[name] = archive.getinfo(f"{name}.npy")
        elif name in there:
            raise ValueError(f"its member {name} is not stored as {name}.npy")
    return found


def _header(member: zipfile.ZipInfo, stream: IO[bytes]) -> Header:
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise ValueError(f"{member.filename} is of an unknown .npy version")
    shape, by_columns, dtype = HEADERS[version](stream)
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError(f"{member.filename} has type {dtype}")
    extents = tuple(integer(f"the shape of {member.filename}", n, 0, INT64.max) for n in shape)
    size, left = math.prod(extents) * dtype.itemsize, member.file_size - stream.tell()
    if size != left:
        problem = f"{member.filename} promises {size:,} bytes of shape {shape}, and has {left:,}"
        raise ValueError(problem)
    return Header(extents, dtype, by_columns)


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    at_once = PACKED_AT_ONCE if member.compress_type == zipfile.ZIP_LZMA else READ_AT_ONCE
    with _opened(archive, member) as stream:
        shape, dtype, by_columns = _header(member, stream)
        content = _content(stream, math.prod(shape) * dtype.itemsize, at_once)
    order: Any = "F" if by_columns else "C"
    return np.frombuffer(content, dtype).reshape(shape, order=order)


@contextmanager
def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """A member; of bzip2, a few thousand bytes can be gigabytes, which zipfile makes at once.

    Its own reader makes no more than is asked for, and has a checksum for each block.
    """
    if member.compress_type != zipfile.ZIP_BZIP2:
        with archive.open(member) as stream:
            yield stream
        return
    packed: Any = copy.copy(member)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
    packed.CRC = None  # it is of what is unpacked
    try:
        with archive.open(packed) as raw, bz2.BZ2File(raw) as unpacked:
            yield io.BufferedReader(unpacked)
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{member.filename} is no bzip2 data ({error})") from error


def _content(stream: IO[bytes], size: int, at_once: int) -> bytearray:
    """The rest of a member, which is taken as it comes."""
    content = bytearray()
    while piece := stream.read(at_once):
        content += piece
        if len(content) > size:
            raise ValueError("it goes on behind its end")
    if len(content) < size:
        raise ValueError(f"it ends after {len(content):,} of {size:,} bytes")
    return content
