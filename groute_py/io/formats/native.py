r"""The native format, ``.csr``: the arrays of a `Graph`, read back memory-mapped.

    groute-py csr 1\n                                     magic with the version
    {"first_id": 1, "name": "NY", "source": null}   \n    JSON, blanks up to a multiple of 64 bytes
    offsets, heads, weights                               three .npy, each zero-padded likewise
    ids                                                   a fourth, where the header has "ids": true
    digests                                               in copies only: "digests": true

`source` is the size in bytes and the modification time in nanoseconds of the text file that a
cached graph was made from, else null. Such a copy of a table has ``reading`` as well, which says
how it was read. The digests, uint32, are the CRC-32 of each block of
`groute_py.io.digests.BLOCK` bytes of all that stands before them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from groute_py.errors import FormatError, GrouteError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.ids import check_given_ids
from groute_py.graph.read_report import Reading
from groute_py.io.digests import block_count, digests_of, digests_of_pieces
from groute_py.io.file_head import Head
from groute_py.io.untrusted import INT64, first_id, integer, json_object
from groute_py.system.atomic_file import replacing
from groute_py.system.own_files import replacing_copy

MAGIC = b"groute-py csr 1\n"
FAMILY = b"groute-py csr "
"""How the magic of every version starts."""
NAMES = ("offsets", "heads", "weights")
MORE = ("ids", "digests")
"""Arrays that stand behind these where the header says so."""
ALIGNMENT = 64
LONGEST_HEADER = 1 << 16
LONGEST_NAME = 255
"""Characters; files have no longer names."""


class Source(NamedTuple):
    """What tells whether a text file is still the one that a cache was made from."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Source:
        """The source as it is now."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns)


def sniff(head: Head) -> bool:
    """Whether a file that starts like this is of this format, whatever its version."""
    return head.text.startswith(FAMILY)


class Contents(NamedTuple):
    """A native file mapped into memory, of which only the headers have been looked at.

    Attributes:
        offsets, heads, weights: as in a `Graph`, if the file is a right one.
        ids: as in a `Graph`.
        first_id, name: as in a `Graph`.
        source: of the text file it was made from, if it is a cached copy.
        reading: how that was read, if it is a table.
        digests: uint32, of the blocks of `digested`, if it is a cached copy.
        digested: uint8, the bytes that the digests are of.
    """

    offsets: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any]
    ids: NDArray[Any] | None
    first_id: int
    name: str
    source: Source | None
    reading: Reading | None
    digests: NDArray[np.uint32] | None
    digested: NDArray[np.uint8]


def read(path: Path, _progress: Callable[[int, int], None] | None = None) -> Graph:
    """Map a native file; the pages are read when they are looked at.

    Raises:
        FormatError: the file is foreign, truncated, or does not hold a graph.
    """
    return graph_of(path, map_file(path))


def graph_of(path: Path, contents: Contents) -> Graph:
    """The graph in a mapped file; raises as `read`."""
    check_digests(path, contents)
    with refusing_damage(path):
        if contents.ids is not None and contents.digests is None:
            check_given_ids(contents.ids)
        return Graph(
            *contents[:3], contents.first_id, contents.name, contents.ids, contents.reading
        )


def check_digests(path: Path, contents: Contents, part: int = 0, parts: int = 1) -> None:
    """Compare an even part of a copy with its digests; a file without any passes.

    Raises:
        FormatError: they differ.
    """
    if contents.digests is None:
        return
    count = len(contents.digests)
    wanted = contents.digests[count * part // parts : count * (part + 1) // parts]
    if not np.array_equal(digests_of(contents.digested, part, parts), wanted):
        raise FormatError(path, "damaged native graph: its content does not have its digests")


def map_file(path: Path) -> Contents:
    """Map a native file, and look at nothing but its headers.

    Raises:
        FormatError: the file is foreign or truncated.
    """
    with open(path, "rb") as file:
        return map_open_file(path, file)


def map_open_file(path: Path, file: BinaryIO) -> Contents:
    """The same of a file that is open already."""
    header = _read_header(path, file)
    with refusing_damage(path):
        more = [name for name in MORE if header.get(name)]
        arrays, digested = _map_arrays(file, (*NAMES, *more))
        offsets = arrays["offsets"]
        if "digests" in arrays:
            _check_digest_array(arrays["digests"], len(digested))
        return Contents(
            offsets,
            arrays["heads"],
            arrays["weights"],
            arrays.get("ids"),
            first_id(header["first_id"], len(offsets) - 1),
            _name(header["name"]),
            _source(header["source"]),
            _reading(header.get("reading")),
            arrays.get("digests"),
            digested,
        )


def _check_digest_array(digests: NDArray[Any], size: int) -> None:
    if digests.dtype != np.uint32 or len(digests) != block_count(size):
        raise ValueError(f"{len(digests)} digests of type {digests.dtype} for {size:,} bytes")


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"its name is {type(value).__name__}, not text")
    value.encode()  # raises for half of a character, which no terminal or file takes
    return value[:LONGEST_NAME]


def _source(value: Any) -> Source | None:
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() != set(Source._fields):
        raise ValueError("its source lacks fields")
    return Source(*(integer(field, value[field], 0, INT64.max) for field in Source._fields))


@contextmanager
def refusing_damage(path: Path) -> Iterator[None]:
    """Whatever goes wrong within says that the file is damaged, but for what a signal raises."""
    try:
        yield
    except Exception as error:
        if isinstance(error, GrouteError) and error.by_signal:
            raise
        raise FormatError(path, f"damaged native graph: {quoted(error)}") from error


def write(graph: Graph, path: Path) -> None:
    """Write a native file atomically: readers see the old file or the new one, never a part."""
    arrays = _arrays_of(graph)
    layout = outline(_shapes_of(arrays), graph.first_id, graph.name)
    with replacing(path) as file:
        for piece in _pieces(layout, arrays):
            file.write(piece.data)


def write_copy(graph: Graph, copy: Path, path: Path, source: Source) -> None:
    """Write the copy of a text, with digests, which nobody may read who may not read the text.

    Args:
        graph: what is in the text.
        copy: where to write.
        path: of the text.
        source: of the text, as it was when it was read.
    """
    arrays = _arrays_of(graph)
    layout = outline(_shapes_of(arrays), graph.first_id, graph.name, source, graph.reading)
    with replacing_copy(copy, path) as file:

        def written() -> Iterator[NDArray[np.uint8]]:
            for piece in _pieces(layout, arrays):
                file.write(piece.data)
                yield piece

        digests = digests_of_pieces(written())
        file.write(layout.texts[-1][1])
        file.write(digests.tobytes())
        file.truncate(layout.size)


def _arrays_of(graph: Graph) -> dict[str, NDArray[Any]]:
    arrays = {"offsets": graph.offsets, "heads": graph.heads, "weights": graph.weights}
    if graph.ids is not None:
        arrays["ids"] = graph.ids
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _shapes_of(arrays: dict[str, NDArray[Any]]) -> dict[str, tuple[int, np.dtype[Any]]]:
    return {name: (len(array), array.dtype) for name, array in arrays.items()}


def _pieces(layout: Outline, arrays: dict[str, NDArray[Any]]) -> Iterator[NDArray[np.uint8]]:
    """All bytes of a file in their order, but for digests and their header."""
    yield np.frombuffer(layout.texts[0][1], np.uint8)
    for (start, text), array in zip(layout.texts[1:], arrays.values(), strict=False):
        yield np.frombuffer(text, np.uint8)
        if array.nbytes:
            yield array.view(np.uint8)
        yield np.zeros(-(start + len(text) + array.nbytes) % ALIGNMENT, np.uint8)


class Outline(NamedTuple):
    """Where everything stands in a native file that is written in parts.

    Attributes:
        texts: the headers, each with the byte it begins at.
        starts: of the data of each array, by its name.
        size: of the file in bytes.
        digested: so many bytes from the beginning have digests.
    """

    texts: list[tuple[int, bytes]]
    starts: dict[str, int]
    size: int
    digested: int


def outline(
    shapes: dict[str, tuple[int, np.dtype[Any]]],
    first_id: int,
    name: str,
    source: Source | None = None,
    reading: Reading | None = None,
) -> Outline:
    """Lay out the file that `write` would write.

    Args:
        shapes: length and type of ``offsets``, ``heads``, ``weights`` and, where there are any,
            ``ids``, in this order.
        first_id, name: as in a `Graph`.
        source: of the text file that it is made from; then it has digests.
        reading: how that was read, if it is a table.
    """
    texts = [(0, _header(first_id, name, "ids" in shapes, source, reading))]
    starts: dict[str, int] = {}
    end = len(texts[0][1])
    for array, (length, dtype) in shapes.items():
        end = _lay_out(texts, starts, end, array, length, dtype)
    digested = end
    if source is not None:
        count = block_count(digested)
        end = _lay_out(texts, starts, end, "digests", count, np.dtype(np.uint32))
    return Outline(texts, starts, end, digested)


def _lay_out(
    texts: list[tuple[int, bytes]],
    starts: dict[str, int],
    start: int,
    name: str,
    length: int,
    dtype: np.dtype[Any],
) -> int:
    """Add an array that begins at a byte; returns where the next one does."""
    text = BytesIO()
    head = {"shape": (length,), "fortran_order": False, "descr": npy.dtype_to_descr(dtype)}
    npy.write_array_header_1_0(text, head)
    texts.append((start, text.getvalue()))
    starts[name] = start + len(text.getvalue())
    end = starts[name] + length * dtype.itemsize
    return end + -end % ALIGNMENT


def _header(
    first_id: int,
    name: str,
    has_ids: bool,
    source: Source | None,
    reading: Reading | None = None,
) -> bytes:
    fields = {"first_id": first_id, "name": name, "source": source._asdict() if source else None}
    fields |= {"ids": True} if has_ids else {}
    fields |= {"digests": True} if source else {}
    fields |= {"reading": reading._asdict()} if reading is not None else {}
    header = MAGIC + json.dumps(fields).encode()
    return header + b" " * (-(len(header) + 1) % ALIGNMENT) + b"\n"


def _reading(field: Any) -> Reading | None:
    """How a copy's text was read, from its header; `info` shows it."""
    if field is None:
        return None
    columns = {str(role): str(title) for role, title in field["columns"].items()}
    return Reading(columns, integer("comments", field["comments"], 0, INT64.max))


def _read_header(path: Path, file: BinaryIO) -> dict[str, Any]:
    magic = file.read(len(MAGIC))
    if not magic.startswith(FAMILY):
        raise FormatError(path, "not a native graph: it does not start with its magic line")
    if magic != MAGIC:
        raise FormatError(
            path, f"a native graph of another version: {quote(magic)}, not {quote(MAGIC)}"
        )
    try:
        header = json_object(file.readline(LONGEST_HEADER))
    except ValueError as error:
        raise FormatError(path, f"damaged native graph: its header is no JSON: {error}") from error
    if not {"first_id", "name", "source"} <= header.keys():
        raise FormatError(path, "damaged native graph: its header lacks fields", line=2)
    return header


def _map_arrays(
    file: BinaryIO, names: tuple[str, ...]
) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint8]]:
    """Arrays by name, and the bytes that stand in front of the last one."""
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
    return arrays, everything[:last]


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
