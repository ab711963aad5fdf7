r"""Prepared graphs, ``.prepared``: a graph and its contraction hierarchy, memory-mapped.

    groute-py prepared 2\n                            magic with the version
    {"first_id": 1, "name": "NY", ...}           \n    JSON, blanks up to a multiple of 64 bytes
    offsets, heads, weights                           of the graph, as in a native file
    ids                                               where the header has "ids": true
    levels, vertices, hierarchy_offsets, hierarchy_heads, down
    up                                                unless the header has "symmetric": true
    core_offsets, core_heads, core_weights
    what `groute_py.io.formats.more_arrays` describes in version 2 only
    digests                                           of all before

The header has `source` as a native file has it, for a copy in the cache, and `reading` if the graph
was read from a table. A file is of version 1 where nothing in it is newer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError
from groute_py.graph.csr import Graph
from groute_py.graph.ids import check_given_ids
from groute_py.graph.read_report import Reading
from groute_py.graph.size import Size
from groute_py.hierarchy.check import check_hierarchy
from groute_py.hierarchy.hierarchy import ARRAYS, Hierarchy
from groute_py.hierarchy.prepared import PreparedFile, PreparedGraph
from groute_py.io.array_file import (
    DIGESTS,
    Kind,
    Outline,
    Source,
    are_right,
    contiguous,
    header_of,
    map_arrays,
    name_of,
    outline_of,
    refusing,
    shapes_of,
    source_of,
    write_arrays,
)
from groute_py.io.digests import BLOCK
from groute_py.io.file_head import Head
from groute_py.io.formats.more_arrays import (
    More,
    more_arrays,
    more_fields,
    more_names,
    more_of,
)
from groute_py.io.formats.native import reading_of
from groute_py.io.untrusted import first_id
from groute_py.system.atomic_file import replacing
from groute_py.system.own_files import open_believed, open_plain

SUFFIX = ".prepared"

KIND = Kind(
    "prepared graph",
    b"groute-py prepared ",
    2,
    frozenset({"first_id", "name", "source", "ids", "symmetric"}),
)

GRAPH = ("offsets", "heads", "weights")

STORED = {name: f"hierarchy_{name}" if name in ("offsets", "heads") else name for name in ARRAYS}
"""The names of the arrays of a hierarchy in a file."""


class PreparedContents(NamedTuple):
    """A prepared file mapped into memory, of which only the headers have been looked at.

    Attributes:
        arrays: by name.
        digested: uint8, the bytes that the digests are of.
        first_id, name: as in a `Graph`.
        source: of the file it was made from, if it is a cached copy.
        reading: how that was read, if it was a table.
        more: what a `Graph` has beside its arrays.
    """

    arrays: dict[str, NDArray[Any]]
    digested: NDArray[np.uint8]
    first_id: int
    name: str
    source: Source | None
    reading: Reading | None
    more: More

    @property
    def digests(self) -> NDArray[np.uint32]:
        """Of the blocks of `digested`."""
        return self.arrays[DIGESTS]

    @property
    def content(self) -> str:
        """Tells the file from one with another content.

        Of a file of several blocks it is made of their digests alone, which is cheap: where only
        one block differs, two files have the same once in 2³² times.
        """
        found = hashlib.blake2b(b"%d " % len(self.digested), digest_size=32)
        found.update(self.digests.data)
        if len(self.digested) <= BLOCK:
            found.update(self.digested.data)
        return found.hexdigest()


def sniff(head: Head) -> bool:
    """Whether a file that starts like this is of this format, whatever its version."""
    return head.text.startswith(KIND.family)


def size(head: Head) -> Size | None:
    """How large the graph is; raises as `read` where the headers are damaged."""
    with open(head.path, "rb") as file:
        arrays = map_open_file(head.path, file).arrays
    return Size(len(arrays["offsets"]) - 1, len(arrays["heads"]))


def read(path: Path, _progress: Callable[[int, int], None] | None = None) -> PreparedGraph:
    """Map a prepared file, and compare it with its digests."""
    with open(path, "rb") as file:
        return graph_of(path, map_open_file(path, file))


def map_open_file(path: Path, file: BinaryIO) -> PreparedContents:
    """Map an open file, and look at nothing but its headers; raises as `read`."""
    header = header_of(KIND, path, file)
    with refusing(KIND, path):
        names = [*GRAPH, *(["ids"] if header["ids"] else []), "levels"]
        names += [STORED[name] for name in ARRAYS if name != "up" or not header["symmetric"]]
        arrays, digested = map_arrays(file, (*names, *more_names(header), DIGESTS))
        return PreparedContents(
            arrays,
            digested,
            first_id(header["first_id"], len(arrays["offsets"]) - 1),
            name_of(header["name"]),
            source_of(header["source"]),
            reading_of(header.get("reading")),
            more_of(header, arrays),
        )


def map_again(file: PreparedFile, part: int, parts: int) -> PreparedContents:
    """Map what another process has mapped, and compare an even part of it with its digests."""
    with (open_believed if file.is_copy else open_plain)(file.path) as opened:
        contents = map_open_file(file.path, opened)
    _compare(file.path, contents, part, parts)
    if contents.content != file.content:
        raise FormatError(file.path, f"is another {KIND.what} than before")
    return contents


def graph_of(path: Path, contents: PreparedContents) -> PreparedGraph:
    """The graph in a mapped file, which may be a copy in the cache; raises as `read`."""
    _compare(path, contents, 0, 1)
    is_copy = contents.source is not None
    return compared_graph(PreparedFile(path.resolve(), contents.content, is_copy), contents)


def _compare(path: Path, contents: PreparedContents, part: int, parts: int) -> None:
    """Raise `FormatError` if an even part of a file does not have its digests."""
    if not are_right(contents.digests, contents.digested, part, parts):
        raise FormatError(path, f"damaged {KIND.what}: its content does not have its digests")


def compared_graph(file: PreparedFile, contents: PreparedContents) -> PreparedGraph:
    """The graph in a mapped file that has its digests; raises as `read`."""
    arrays = contents.arrays
    with refusing(KIND, file.path):
        ids = arrays.get("ids")
        if ids is not None:
            check_given_ids(ids)
        rows: dict[str, Any] = {name: arrays[name] for name in GRAPH}
        graph = Graph(
            **rows,
            **contents.more._asdict(),
            first_id=contents.first_id,
            name=contents.name,
            ids=ids,
            reading=contents.reading,
        )
        hierarchy = _hierarchy_of(arrays)
        check_hierarchy(hierarchy)
        return PreparedGraph(graph, hierarchy, file)


def write(graph: Graph, path: Path) -> None:
    """Write a prepared file atomically."""
    if not isinstance(graph, PreparedGraph):
        raise InputError(
            f"{path}: a {SUFFIX} file has a hierarchy, and this graph has none; make it by "
            "groute-py prepare"
        )
    layout, arrays = laid_out(graph)
    with replacing(path) as file:
        write_arrays(file, layout, arrays)


def written_to(copy: Path, file: BinaryIO, graph: PreparedGraph) -> PreparedGraph:
    """The same graph, with the copy that it was written to as its file."""
    file.seek(0)
    content = map_open_file(copy, file).content
    return PreparedGraph(graph, graph.hierarchy, PreparedFile(copy.resolve(), content, True))


def bytes_of(graph: PreparedGraph) -> int:
    """The size of the file of a graph."""
    return laid_out(graph)[0].size


def laid_out(
    graph: PreparedGraph, source: Source | None = None
) -> tuple[Outline, dict[str, NDArray[Any]]]:
    """The outline of a graph's file, or of a copy of ``source``, and its arrays."""
    graph = graph.to_host()
    hierarchy = graph.hierarchy
    arrays: dict[str, NDArray[Any]] = {name: getattr(graph, name) for name in GRAPH}
    if graph.ids is not None:
        arrays["ids"] = graph.ids
    arrays["levels"] = np.array(hierarchy.levels, np.int64)
    for name in ARRAYS:
        if name != "up" or not hierarchy.is_symmetric:
            arrays[STORED[name]] = getattr(hierarchy, name)
    fields: dict[str, Any] = {
        "first_id": graph.first_id,
        "name": graph.name,
        "source": None if source is None else source._asdict(),
        "ids": graph.ids is not None,
        "symmetric": hierarchy.is_symmetric,
    }
    fields |= {"reading": graph.reading._asdict()} if graph.reading is not None else {}
    arrays, more = contiguous(arrays | more_arrays(graph)), more_fields(graph)
    version = KIND.version if more else 1
    return outline_of(KIND, version, fields | more, shapes_of(arrays), digests=True), arrays


def _hierarchy_of(arrays: dict[str, NDArray[Any]]) -> Hierarchy:
    levels = arrays["levels"]
    if levels.dtype != np.int64:
        raise ValueError(f"the levels have type {levels.dtype}")
    found: dict[str, Any] = {name: arrays.get(STORED[name], arrays["down"]) for name in ARRAYS}
    return Hierarchy(tuple(levels.tolist()), **found)
