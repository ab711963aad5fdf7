r"""The native format, ``.csr``: the arrays of a `Graph`, read back memory-mapped.

    groute-py csr 1\n                                     magic with the version
    {"first_id": 1, "name": "NY", "source": null}   \n    JSON, blanks up to a multiple of 64 bytes
    offsets, heads, weights                               three .npy, each zero-padded likewise
    ids                                                   a fourth, where the header has "ids": true

`source` is the size in bytes and the modification time in nanoseconds of the text file that a
cached graph was made from, else null. Such a copy of a table has ``reading`` as well, which says
how it was read.
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

from groute_py.errors import FormatError, GrouteError
from groute_py.graph.atomic import replacing
from groute_py.graph.csr import Graph
from groute_py.graph.head import Head
from groute_py.graph.reading import Reading

MAGIC = b"groute-py csr 1\n"
FAMILY = b"groute-py csr "
"""How the magic of every version starts."""
NAMES = ("offsets", "heads", "weights", "ids")
ALIGNMENT = 64
LONGEST_HEADER = 1 << 16


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
    """

    offsets: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any]
    ids: NDArray[Any] | None
    first_id: int
    name: str
    source: Source | None
    reading: Reading | None


def read(path: Path, _progress: Callable[[int, int], None] | None = None) -> Graph:
    """Map a native file; the pages are read when they are looked at.

    Raises:
        FormatError: the file is foreign, truncated, or does not hold a graph.
    """
    return read_with_source(path)[0]


def read_with_source(path: Path) -> tuple[Graph, Source | None]:
    """Map a native file and say which text file it was made from."""
    mapped = map_file(path)
    with refusing_damage(path):
        graph = Graph(
            mapped.offsets,
            mapped.heads,
            mapped.weights,
            mapped.first_id,
            mapped.name,
            mapped.ids,
            mapped.reading,
        )
    return graph, mapped.source


def map_file(path: Path) -> Contents:
    """Map a native file, and look at nothing but its headers.

    Raises:
        FormatError: the file is foreign or truncated.
    """
    with open(path, "rb") as file:
        header = _read_header(path, file)
        with refusing_damage(path):
            offsets, heads, weights, *more = _map_arrays(
                file, NAMES if header.get("ids") else NAMES[:3]
            )
            source = Source(**header["source"]) if header["source"] else None
            first_id, name = int(header["first_id"]), str(header["name"])
            ids = more[0] if more else None
            reading = _reading(header.get("reading"))
            return Contents(offsets, heads, weights, ids, first_id, name, source, reading)


@contextmanager
def refusing_damage(path: Path) -> Iterator[None]:
    """Whatever goes wrong within says that the file is damaged, but for what a signal raises."""
    try:
        yield
    except Exception as error:
        if isinstance(error, GrouteError) and error.by_signal:
            raise
        raise FormatError(path, f"damaged native graph: {error}") from error


def write(graph: Graph, path: Path, *, source: Source | None = None) -> None:
    """Write a native file atomically: readers see the old file or the new one, never a part."""
    with replacing(path) as file:
        reading = graph.reading if source is not None else None
        file.write(_header(graph.first_id, graph.name, graph.ids is not None, source, reading))
        arrays = (graph.offsets, graph.heads, graph.weights, graph.ids)
        for array in (array for array in arrays if array is not None):
            npy.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
            file.write(bytes(-file.tell() % ALIGNMENT))


class Outline(NamedTuple):
    """Where everything stands in a native file that is written in parts.

    Attributes:
        texts: the headers, each with the byte it begins at.
        starts: of the data of each array, by its name.
        size: of the file in bytes.
    """

    texts: list[tuple[int, bytes]]
    starts: dict[str, int]
    size: int


def outline(
    shapes: dict[str, tuple[int, np.dtype[Any]]],
    first_id: int,
    name: str,
    source: Source | None = None,
) -> Outline:
    """Lay out the file that `write` would write.

    Args:
        shapes: length and type of ``offsets``, ``heads``, ``weights`` and, where there are any,
            ``ids``, in this order.
        first_id, name: as in a `Graph`.
        source: of the text file that it is made from.
    """
    texts, starts = [(0, _header(first_id, name, "ids" in shapes, source))], {}
    end = len(texts[0][1])
    for array, (length, dtype) in shapes.items():
        text = BytesIO()
        npy.write_array_header_1_0(
            text,
            {"shape": (length,), "fortran_order": False, "descr": npy.dtype_to_descr(dtype)},
        )
        texts.append((end, text.getvalue()))
        starts[array] = end + len(text.getvalue())
        end = starts[array] + length * dtype.itemsize
        end += -end % ALIGNMENT
    return Outline(texts, starts, end)


def _header(
    first_id: int,
    name: str,
    has_ids: bool,
    source: Source | None,
    reading: Reading | None = None,
) -> bytes:
    fields = {"first_id": first_id, "name": name, "source": source._asdict() if source else None}
    fields |= {"ids": True} if has_ids else {}
    fields |= {"reading": reading._asdict()} if reading is not None else {}
    header = MAGIC + json.dumps(fields).encode()
    return header + b" " * (-(len(header) + 1) % ALIGNMENT) + b"\n"


def _reading(field: Any) -> Reading | None:
    """How a copy's text was read, from its header; `info` shows it."""
    if field is None:
        return None
    columns = {str(role): str(title) for role, title in field["columns"].items()}
    return Reading(columns, int(field["comments"]))


def _read_header(path: Path, file: BinaryIO) -> dict[str, Any]:
    magic = file.read(len(MAGIC))
    if not magic.startswith(FAMILY):
        raise FormatError(path, "not a native graph: it does not start with its magic line")
    if magic != MAGIC:
        raise FormatError(path, f"a native graph of another version: {magic!r}, not {MAGIC!r}")
    try:
        header = json.loads(file.readline(LONGEST_HEADER))
    except ValueError as error:
        raise FormatError(path, f"damaged native graph: its header is no JSON: {error}") from error
    if not isinstance(header, dict) or not {"first_id", "name", "source"} <= header.keys():
        raise FormatError(path, "damaged native graph: its header lacks fields", line=2)
    return header


def _map_arrays(file: BinaryIO, names: tuple[str, ...]) -> list[NDArray[Any]]:
    start = file.tell()
    everything = np.memmap(file, dtype=np.uint8, mode="r").view(np.ndarray)
    arrays = []
    for what in names:
        file.seek(start)
        array = _map_array(file, everything, what)
        arrays.append(array)
        start = file.tell() + array.nbytes
        start += -start % ALIGNMENT
    if start != len(everything):
        raise ValueError(f"{len(everything):,} bytes where {start:,} were expected")
    return arrays


def _map_array(file: BinaryIO, everything: NDArray[np.uint8], what: str) -> NDArray[Any]:
    """The array whose .npy header comes next; the file is left at the start of its data."""
    if npy.read_magic(file) != (1, 0):
        raise ValueError(f"the {what} are of an unknown .npy version")
    shape, _, dtype = npy.read_array_header_1_0(file)
    if len(shape) != 1 or dtype.hasobject:
        raise ValueError(f"the {what} have shape {shape} and type {dtype}")
    begin, end = file.tell(), file.tell() + shape[0] * dtype.itemsize
    if end > len(everything):
        raise ValueError(f"it ends at byte {len(everything):,}, within the {what}")
    return everything[begin:end].view(dtype)
