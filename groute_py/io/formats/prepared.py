r"""Prepared graphs, ``.prepared``: a graph and its contraction hierarchy, memory-mapped.

groute-py prepared 3\n                            magic with the version
{"first_id": 1, "name": "NY", ...}           \n    JSON, blanks up to a multiple of 64 bytes
what `groute_py.io.formats.graph_arrays` describes, and in front of what version 2 brought there:
  levels, vertices, hierarchy_offsets, hierarchy_heads, down
  up                                              unless the header has "symmetric": true
  core_offsets, core_heads, core_weights
  order                                           from version 3, if the header has "order": true
digests                                           of all before
"""

from __future__ import annotations

import copyreg
import hashlib
import platform
import re
import secrets
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.graph.hierarchy.check import check_hierarchy
from groute_py.graph.hierarchy.hierarchy import ARRAYS, Hierarchy
from groute_py.graph.hierarchy.prepared import PreparedFile, PreparedGraph
from groute_py.graph.hierarchy.separators.order import check_order
from groute_py.graph.ids import check_given_ids
from groute_py.io.array_file import BLOCK, DIGESTS, Kind, Outline, header_of, write_arrays
from groute_py.io.file_head import Head, Source
from groute_py.io.formats import graph_arrays
from groute_py.io.formats.graph_arrays import Contents, map_contents
from groute_py.io.text.lines import Progress
from groute_py.system.atomic_file import replacing
from groute_py.system.own_files import open_believed, open_plain, scratch_folder

SUFFIX = ".prepared"

KIND = Kind(
    "prepared graph",
    b"groute-py prepared ",
    3,
    frozenset({"first_id", "name", "source", "ids", "symmetric"}),
)

STORED = {name: f"hierarchy_{name}" if name in ("offsets", "heads") else name for name in ARRAYS}
"""The names of the arrays of a hierarchy in a file."""

BEGINS = re.compile(KIND.family)


def size(head: Head) -> Size | None:
    """The size of the graph; raises as `read` if the headers are damaged."""
    contents = map_file(head.path)
    return Size(len(contents.offsets) - 1, len(contents.heads))


def read(head: Head, _progress: Progress | None = None) -> PreparedGraph:
    """Map a prepared file, and compare it with its digests."""
    contents = map_file(head.path)
    return _checked(graph_of(contents), contents)


def map_file(path: Path) -> Contents:
    """Map a prepared file, and look at nothing but its headers."""
    with open(path, "rb") as file:
        return map_open_file(path, file)


def map_open_file(path: Path, file: BinaryIO) -> Contents:
    """Map an open file, and look at nothing but its headers; raises as `read`."""
    header = header_of(KIND, path, file)
    own = [STORED[name] for name in ARRAYS if name != "up" or not header["symmetric"]]
    own += ["order"] if header.get("order") else []
    return map_contents(KIND, path, file, header | {DIGESTS: True}, ["levels", *own])


def map_again(file: PreparedFile, part: int, parts: int) -> Contents:
    """Map what another process has mapped, and compare an even part of it with its digests."""
    with (open_believed if file.is_copy else open_plain)(file.path) as opened:
        contents = map_open_file(file.path, opened)
    contents.check_digests(part, parts)
    if _content_of(contents) != file.content:
        raise FormatError(file.path, f"is another {KIND.what} than before")
    return contents


def is_as_mapped(file: PreparedFile) -> bool:
    """Return whether a file has, by its digests, the content that this process has mapped."""
    try:
        return _content_of(map_file(file.path)) == file.content
    except (OSError, FormatError):
        return False


def _content_of(contents: Contents) -> str:
    """Tells the file from one with another content.

    Of a file of several blocks it is made of their digests alone, which is cheap: where only one
    block differs, two files have the same once in 2³² times.
    """
    digest = hashlib.blake2b(b"%d " % len(contents.digested), digest_size=32)
    digest.update(contents.arrays[DIGESTS].data)
    if len(contents.digested) <= BLOCK:
        digest.update(contents.digested.data)
    return digest.hexdigest()


def graph_of(contents: Contents) -> PreparedGraph:
    """The graph in a mapped file that has its digests; raises as `read`.

    Its hierarchy is believed, as this user has made a copy in the cache.
    """
    contents.check_digests()
    is_copy = contents.source is not None
    return _built(PreparedFile(contents.path.resolve(), _content_of(contents), is_copy), contents)


def compared_graph(file: PreparedFile, contents: Contents) -> PreparedGraph:
    """The graph in a file that was compared with its digests, with its hierarchy checked."""
    return _checked(_built(file, contents), contents)


def _built(file: PreparedFile, contents: Contents) -> PreparedGraph:
    graph, arrays = contents.graph(), contents.arrays
    with contents.refusing_damage():
        if graph.ids is not None:
            check_given_ids(graph.ids)
        return PreparedGraph(graph, _hierarchy_of(arrays), file, arrays.get("order"))


def _checked(graph: PreparedGraph, contents: Contents) -> PreparedGraph:
    with contents.refusing_damage():
        check_hierarchy(graph.hierarchy)
        if graph.order is not None:
            check_order(graph.order, graph.vertex_count)
    return graph


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
    content = _content_of(map_open_file(copy, file))
    file_of_copy = PreparedFile(copy.resolve(), content, True)
    return PreparedGraph(graph, graph.hierarchy, file_of_copy, graph.order)


def bytes_of(graph: PreparedGraph) -> int:
    """The size of the file of a graph."""
    return laid_out(graph)[0].size


def laid_out(
    graph: PreparedGraph, source: Source | None = None
) -> tuple[Outline, dict[str, NDArray[Any]]]:
    """The outline of a graph's file, or of a copy of ``source``, and its arrays."""
    graph = graph.to_host()
    hierarchy = graph.hierarchy
    arrays: dict[str, NDArray[Any]] = {"levels": np.array(hierarchy.levels, np.int64)}
    for name in ARRAYS:
        if name != "up" or not hierarchy.is_symmetric:
            arrays[STORED[name]] = getattr(hierarchy, name)
    fields = graph_arrays.fields_of(graph.first_id, graph.name, source, graph.reading)
    fields |= {"ids": graph.ids is not None, "symmetric": hierarchy.is_symmetric}
    if graph.order is None:
        return graph_arrays.laid_out(KIND, graph, fields, arrays, digests=True)
    arrays["order"], fields["order"] = graph.order, True
    return graph_arrays.laid_out(KIND, graph, fields, arrays, digests=True, version=KIND.version)


def _hierarchy_of(arrays: dict[str, NDArray[Any]]) -> Hierarchy:
    levels = arrays["levels"]
    if levels.dtype != np.int64:
        raise ValueError(f"the levels have type {levels.dtype}")
    members: dict[str, Any] = {name: arrays.get(STORED[name], arrays["down"]) for name in ARRAYS}
    return Hierarchy(tuple(levels.tolist()), **members)


def _recipe(graph: PreparedGraph) -> tuple[Any, ...]:
    """Pickle a graph as its file, which is a temporary one of this process if it has none."""
    if graph.file is None:
        path = scratch_folder() / f"{secrets.token_hex(8)}{SUFFIX}"
        write(graph, path)
        vars(graph)["file"] = PreparedFile(path.resolve(), _content_of(map_file(path)), False)
    return _reopened, (graph.file,)


@cache
def _reopened(file: PreparedFile) -> PreparedGraph:
    """The graph of a recipe, which a process maps once."""
    try:
        return compared_graph(file, map_again(file, 0, 1))
    except (OSError, FormatError) as problem:
        what = problem.strerror if isinstance(problem, OSError) else problem
        raise InputError(
            f"{file.path}: cannot be read as when the graph was pickled ({what}; seen from "
            f"{platform.node()}); write the graph where every process sees it, and read that"
        ) from problem


copyreg.pickle(PreparedGraph, _recipe)
