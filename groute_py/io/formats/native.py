r"""The native format, ``.csr``: the arrays of a `Graph`, read back memory-mapped.

    groute-py csr 2\n                                     magic with the version
    {"first_id": 1, "name": "NY", "source": null}   \n    JSON, blanks up to a multiple of 64 bytes
    what `groute_py.io.formats.graph_arrays` describes    .npy, each zero-padded likewise
    digests                                               in copies only: "digests": true

`source` is the size in bytes and the modification time in nanoseconds of the text file that a
cached graph was made from, else null. `groute_py.io.array_file` describes the digests.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.graph.read_report import Reading
from groute_py.io.array_file import (
    DIGESTS,
    Kind,
    Outline,
    Shapes,
    header_of,
    outline_of,
    write_arrays,
)
from groute_py.io.file_head import Head, Source
from groute_py.io.formats import graph_arrays
from groute_py.io.formats.graph_arrays import Contents, map_contents
from groute_py.io.text.lines import Progress
from groute_py.system.atomic_file import replacing

SUFFIX = ".csr"

KIND = Kind("native graph", b"groute-py csr ", 2, frozenset({"first_id", "name", "source"}))

BEGINS = re.compile(KIND.family)


def read(head: Head, _progress: Progress | None = None) -> Graph:
    """Map a native file, and check it."""
    return graph_of(map_file(head.path))


def graph_of(contents: Contents) -> Graph:
    """The graph in a mapped file, which is compared with its digests."""
    contents.check_digests()
    return contents.graph()


def map_file(path: Path) -> Contents:
    """Map a native file, and look at nothing but its headers."""
    with open(path, "rb") as file:
        return map_open_file(path, file)


def map_open_file(path: Path, file: BinaryIO) -> Contents:
    """The same of a file that is open already."""
    return map_contents(KIND, path, file, header_of(KIND, path, file))


def write(graph: Graph, path: Path) -> None:
    """Write a native file atomically: readers see the old file or the new one, never a part."""
    layout, arrays = laid_out(graph)
    with replacing(path) as file:
        write_arrays(file, layout, arrays)


def laid_out(graph: Graph, source: Source | None = None) -> tuple[Outline, dict[str, NDArray[Any]]]:
    """The outline of a graph's file, or of a copy of ``source``, and its arrays."""
    reading = graph.reading
    if source is None and reading is not None and reading.first_through is None:
        title = reading.columns.get("weight")  # says the unit; the rest is of whoever reads a table
        reading = None if title is None else Reading({"weight": title})
    fields = _fields(graph.ids is not None, graph.first_id, graph.name, source, reading)
    return graph_arrays.laid_out(KIND, graph, fields, digests=source is not None)


def outline(
    shapes: Shapes, first_id: int, name: str, source: Source, reading: Reading | None
) -> Outline:
    """Lay out the copy of a file of which the arrays are not there yet."""
    fields = _fields("ids" in shapes, first_id, name, source, reading)
    return outline_of(KIND, 1, fields, shapes, digests=True)


def _fields(
    has_ids: bool, first_id: int, name: str, source: Source | None, reading: Reading | None
) -> dict[str, Any]:
    """The fields of a header; copies, which have a source, have digests."""
    fields = graph_arrays.fields_of(first_id, name, source, reading)
    fields |= {"ids": True} if has_ids else {}
    return fields | ({DIGESTS: True} if source else {})
