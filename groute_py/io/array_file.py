r"""Our own binary files: a magic line, a JSON header, and arrays that are read back memory-mapped.

    groute-py csr 2\n                                     magic with the version
    {"name": "NY", ...}                             \n    JSON, blanks up to a multiple of 64 bytes
    one array after the other                             .npy, each zero-padded likewise

The array ``digests``, uint32, is the last one where there is one: the CRC-32 of each block of
`groute_py.io.array_file.BLOCK` bytes of all that stands before it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.errors import FormatError, GrouteError, InputError, quote, quoted
from groute_py.io.file_head import Source
from groute_py.io.untrusted import INT64, integer, json_object
from groute_py.system.threads import thread_count

ALIGNMENT = 64
LONGEST_HEADER = 1 << 16
LONGEST_VERSION = 12
"""Bytes of a version in a magic line, and of its end."""
LONGEST_NAME = 255
"""Characters; files have no longer names."""

DIGESTS = "digests"
"""The name of the last array, if there are digests."""

Arrays = Mapping[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, np.dtype[Any]]]
"""Length and type of arrays by name, in the order of the file."""


class Kind(NamedTuple):
    """One of our formats."""

    what: str
    family: bytes  # how the magic of every version starts
    version: int  # the latest; those before are read too
    fields: frozenset[str]  # that a header has to have

    @property
    def magic(self) -> bytes:
        """The first line of a file of the latest version."""
        return self.magic_of(self.version)

    def magic_of(self, version: int) -> bytes:
        """The first line of a file of a version."""
        return self.family + b"%d\n" % version


class Outline(NamedTuple):
    """The places of everything in a file."""

    texts: list[tuple[int, bytes]]  # the headers, each with the byte it begins at
    starts: dict[str, int]  # of the data of each array
    size: int
    digested: int  # so many bytes from the beginning have digests


def outline_of(
    kind: Kind, version: int, fields: Mapping[str, Any], shapes: Shapes, *, digests: bool = False
) -> Outline:
    """Lay out a file."""
    magic = kind.magic_of(version)
    header = magic + json.dumps(dict(fields)).encode()
    if len(header) - len(magic) > LONGEST_HEADER - ALIGNMENT:
        raise InputError(
            f"the header of the {kind.what} would take {len(header) - len(magic):,} bytes, and "
            f"{LONGEST_HEADER - ALIGNMENT:,} are read; give it fewer columns, or shorter names"
        )
    texts = [(0, header + b" " * (-(len(header) + 1) % ALIGNMENT) + b"\n")]
    starts: dict[str, int] = {}
    end = len(texts[0][1])

    def add(name: str, length: int, dtype: np.dtype[Any]) -> None:
        nonlocal end
        text = BytesIO()
        head = {"shape": (length,), "fortran_order": False, "descr": npy.dtype_to_descr(dtype)}
        npy.write_array_header_1_0(text, head)
        texts.append((end, text.getvalue()))
        starts[name] = end + len(text.getvalue())
        end = starts[name] + length * dtype.itemsize
        end += -end % ALIGNMENT

    for name, (length, dtype) in shapes.items():
        add(name, length, dtype)
    digested = end
    if digests:
        add(DIGESTS, block_count(digested), np.dtype(np.uint32))
    return Outline(texts, starts, end, digested)


def write_arrays(file: BinaryIO, layout: Outline, arrays: Arrays) -> None:
    """Write a file with digests, if the layout has any, from its beginning to its end."""

    def written() -> Iterator[NDArray[np.uint8]]:
        for piece in _pieces(layout, arrays):
            file.write(piece.data)
            yield piece

    if DIGESTS not in layout.starts:
        for _ in written():
            pass
        return
    digests = digests_of_pieces(written())
    file.write(layout.texts[-1][1])
    file.write(digests.tobytes())
    file.write(bytes(-(layout.starts[DIGESTS] + digests.nbytes) % ALIGNMENT))


def header_of(kind: Kind, path: Path, file: BinaryIO) -> dict[str, Any]:
    """Read the header; the file is left behind it."""
    magic = file.readline(len(kind.family) + LONGEST_VERSION)
    if not magic.startswith(kind.family):
        raise FormatError(path, f"not a {kind.what}: it does not start with its magic line")
    if not any(magic == kind.magic_of(version) for version in range(1, kind.version + 1)):
        raise FormatError(path, _of_another_version(kind, magic))
    try:
        header = json_object(file.readline(LONGEST_HEADER))
    except ValueError as error:
        raise FormatError(path, f"damaged {kind.what}: its header is no JSON: {error}") from error
    if not kind.fields <= header.keys():
        raise FormatError(path, f"damaged {kind.what}: its header lacks fields", line=2)
    return header


def _of_another_version(kind: Kind, magic: bytes) -> str:
    """The message about a magic line of this format that is none that is read."""
    version = magic.removeprefix(kind.family).removesuffix(b"\n")
    later = version.isdigit() and int(version) > kind.version
    remedy = f"it takes a later groute-py that reads version {int(version)}; " if later else ""
    versions = "version 1" if kind.version == 1 else f"versions 1 to {kind.version}"
    return f"a {kind.what} of another version: {quote(magic)}; {remedy}this one reads {versions}"


def map_arrays(
    file: BinaryIO, names: tuple[str, ...]
) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint8]]:
    """Map arrays by name, and the bytes that stand in front of the last one."""
    start = last = file.tell()
    everything = np.memmap(file, dtype=np.uint8, mode="r").view(np.ndarray)
    arrays = {}
    for what in names:
        last = start
        file.seek(start)
        arrays[what] = _map_array(file, everything, what)
        start = file.tell() + arrays[what].nbytes
        start += -start % ALIGNMENT
    if start != len(everything):
        raise ValueError(f"{len(everything):,} bytes where {start:,} were expected")
    digests = arrays.get(DIGESTS)
    if digests is not None and (digests.dtype != np.uint32 or len(digests) != block_count(last)):
        raise ValueError(f"{len(digests)} digests of type {digests.dtype} for {last:,} bytes")
    return arrays, everything[:last]


@contextmanager
def refusing(kind: Kind, path: Path) -> Iterator[None]:
    """Translate any error within into a damaged file, but for those that a signal raises."""
    try:
        yield
    except Exception as error:
        if isinstance(error, GrouteError) and error.by_signal:
            raise
        raise FormatError(path, f"damaged {kind.what}: {quoted(error)}") from error


def are_right(
    digests: NDArray[np.uint32], digested: NDArray[np.uint8], part: int = 0, parts: int = 1
) -> bool:
    """Return True if an even part of a file has its digests."""
    count = len(digests)
    saved = digests[count * part // parts : count * (part + 1) // parts]
    return np.array_equal(digests_of(digested, part, parts), saved)


def name_of(value: Any) -> str:
    """The name of a graph, from a header."""
    if not isinstance(value, str):
        raise TypeError(f"its name is {type(value).__name__}, not text")
    value.encode()  # raises for half of a character, which no terminal or file takes
    return value[:LONGEST_NAME]


def source_of(value: Any) -> Source | None:
    """The source of a copy, from a header."""
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() != set(Source._fields):
        raise ValueError("its source lacks fields")
    return Source(*(integer(field, value[field], 0, INT64.max) for field in Source._fields))


def _pieces(layout: Outline, arrays: Arrays) -> Iterator[NDArray[np.uint8]]:
    """All bytes of a file in their order, but for digests and their header."""
    yield np.frombuffer(layout.texts[0][1], np.uint8)
    for (start, text), array in zip(layout.texts[1:], arrays.values(), strict=False):
        yield np.frombuffer(text, np.uint8)
        if array.nbytes:
            yield array.view(np.uint8)
        yield np.zeros(-(start + len(text) + array.nbytes) % ALIGNMENT, np.uint8)


def _map_array(file: BinaryIO, everything: NDArray[np.uint8], what: str) -> NDArray[Any]:
    """The array whose .npy header comes next; the file is left at the start of its data."""
    if npy.read_magic(file) != (1, 0):
        raise ValueError(f"the {what} are of an unknown .npy version")
    shape, _, dtype = npy.read_array_header_1_0(file)
    if len(shape) != 1 or dtype.hasobject or not dtype.itemsize:
        raise ValueError(f"the {what} have shape {shape} and type {dtype}")
    length = integer(f"the length of the {what}", shape[0], 0, len(everything))
    begin, end = file.tell(), file.tell() + length * dtype.itemsize
    if end > len(everything):
        raise ValueError(f"it ends at byte {len(everything):,}, within the {what}")
    return everything[begin:end].view(dtype)


BLOCK = 1 << 22
"""Bytes that have a digest of their own, so that threads and ranks share the work."""


def block_count(size: int) -> int:
    """The number of digests of so many bytes."""
    return -(-size // BLOCK)


def digests_of(content: NDArray[np.uint8], part: int = 0, parts: int = 1) -> NDArray[np.uint32]:
    """The digests of an even part of the blocks of some bytes, by several threads."""
    count = block_count(len(content))
    blocks = range(count * part // parts, count * (part + 1) // parts)
    with ThreadPoolExecutor(thread_count()) as pool:
        digests = pool.map(lambda k: _crc32(content[k * BLOCK : (k + 1) * BLOCK], 0), blocks)
        return np.fromiter(digests, np.uint32, len(blocks))


def digests_of_pieces(pieces: Iterable[NDArray[np.uint8]]) -> NDArray[np.uint32]:
    """The same of bytes that come in pieces, one behind another."""
    digests, room = [], 0
    for piece in pieces:
        start = 0
        while start < len(piece):
            if room == 0:
                digests.append(0)
                room = BLOCK
            block = piece[start : start + room]
            digests[-1] = _crc32(block, digests[-1])
            start, room = start + len(block), room - len(block)
    return np.array(digests, np.uint32)


def _crc32_function() -> Any:
    """Take Intel's, if it is installed: it is six times as fast as zlib's."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.crc32
    return isal_zlib.crc32


_crc32 = _crc32_function()
