"""Native copies of large text graphs, so that the second read takes no time.

A copy is named after the absolute path of its text file and carries that file's size and
modification time; where they differ it is stale and replaced. A copy that cannot be read or
written never breaks a read: the text is there. Copies are put in place atomically, so that any
number of processes may read and write at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from groute_py.errors import FormatError
from groute_py.graph.columns import BY_TITLE, Columns
from groute_py.graph.compression import bare_name
from groute_py.graph.csr import Graph
from groute_py.graph.formats import native
from groute_py.graph.formats.ldbc_vertices import vertices_file
from groute_py.settings import settings

LARGE_COMPRESSED = 8 << 20
LARGE_PLAIN = 32 << 20
"""Files of this many bytes are cached without being asked."""


def folder_for(
    path: Path, cache: bool | str | os.PathLike[str] | None, compressed: bool
) -> Path | None:
    """Where the copy of a file belongs, or None where there shall be none."""
    if cache is None:
        cache = path.stat().st_size >= (LARGE_COMPRESSED if compressed else LARGE_PLAIN)
    if isinstance(cache, bool):
        return settings().cache_folder / "graphs" if cache else None
    return Path(cache)


def read_through(
    path: Path, folder: Path, read: Callable[[], Graph], asked: Columns = BY_TITLE
) -> Graph:
    """The graph from its copy where that is fresh, else from `read`, leaving a copy."""
    source = native.Source.of(path)
    copy = folder / copy_name(path, asked)
    graph = _fresh(copy, source)
    if graph is None:
        graph = read()
        _keep(graph, copy, source)
    return graph


def fresh_copy(path: Path, folder: Path, asked: Columns = BY_TITLE) -> Path | None:
    """The copy of a file, if there is one that was made from the file as it is."""
    copy = folder / copy_name(path, asked)
    try:
        made_from = native.map_file(copy).source
    except (OSError, FormatError):
        return None
    return copy if made_from == native.Source.of(path) else None


def copy_name(path: Path, asked: Columns = BY_TITLE) -> str:
    """The name of the copy of a file: the start of its own, and a hash of all that says how it is
    read: its absolute path, its suffix (of a link another one), a file of vertices beside it, and
    the columns that are asked for.
    """
    beside = vertices_file(path)
    state = None if beside is None else (beside.stat().st_size, beside.stat().st_mtime_ns)
    read_by = f"{path.resolve()}\0{bare_name(path).rpartition('.')[2]}\0{state}\0{tuple(asked)}"
    digest = hashlib.sha256(os.fsencode(read_by)).hexdigest()
    return f"{path.name.split('.')[0][:40]}-{digest[:20]}.csr"


def _fresh(copy: Path, source: native.Source) -> Graph | None:
    try:
        graph, made_from = native.read_with_source(copy)
    except (OSError, FormatError):
        return None
    return graph if made_from == source else None


def _keep(graph: Graph, copy: Path, source: native.Source) -> None:
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        native.write(graph, copy, source=source)
    except OSError:
        return
