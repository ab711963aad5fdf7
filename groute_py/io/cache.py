"""Native copies of large text graphs, so that the second read takes no time.

A copy is named after the absolute path of its text file and carries that file's size and
modification time, and digests of its own content; where they differ it is stale or damaged, and is
replaced. It is believed only if it is a plain file of this user or of root, and is replaced where
more people may read it than its text. A copy that cannot be read or written never breaks a read:
the text is there. Copies are put in place atomically, so that any number of processes may read and
write at once.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path

from groute_py.arguments import file_path
from groute_py.errors import CacheWarning, FormatError, InputError
from groute_py.graph.csr import Graph
from groute_py.io.array_file import Source
from groute_py.io.cache_folder import cache_folder
from groute_py.io.cache_limit import note_use, refuses, remove_beyond_limit
from groute_py.io.compression import bare_name
from groute_py.io.formats import native
from groute_py.io.formats.edge_list.ldbc_vertices import vertices_file
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.system.own_files import open_believed, rights_of_copy

LARGE_COMPRESSED = 8 << 20
LARGE_PLAIN = 32 << 20
"""Files of this many bytes are cached without being asked."""

READERS = 1
"""To be increased when a reader makes another graph of some file: copies before are not used."""


def folder_for(
    path: Path, cache: bool | str | os.PathLike[str] | None, compressed: bool
) -> Path | None:
    """Where the copy of a file belongs, or None where there shall be none."""
    if cache is None:
        cache = Source.of(path).size >= (LARGE_COMPRESSED if compressed else LARGE_PLAIN)
    if isinstance(cache, bool):
        return usual_folder() if cache else None
    folder = file_path("cache", cache)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is no folder, so no copies of graphs can be kept there")
    return folder


def usual_folder() -> Path | None:
    """The folder of copies in the cache folder.

    None, with one warning, where others could put copies into it.
    """
    try:
        return cache_folder("graphs")
    except InputError as problem:
        warnings.warn(f"no copy of a graph is kept or used: {problem}", CacheWarning, stacklevel=2)
        return None
    except OSError:
        return None


def read_through(
    path: Path, folder: Path, read: Callable[[], Graph], asked: Columns = BY_TITLE
) -> Graph:
    """The graph from its copy where that is fresh, else from `read`, leaving a copy."""
    source = Source.of(path)
    copy = folder / copy_name(path, asked)
    graph = _fresh(copy, path, source)
    if graph is None:
        graph = read()
        _keep(graph, copy, path, source)
    return graph


def fresh_copy(path: Path, folder: Path, asked: Columns = BY_TITLE) -> Path | None:
    """The copy of a file, if there is one that was made from the file as it is."""
    copy = folder / copy_name(path, asked)
    try:
        made_from = map_copy(copy).source
        fresh = made_from == Source.of(path) and is_as_closed(copy, path)
    except (OSError, FormatError):
        return None
    if not fresh:
        return None
    note_use(copy)
    return copy


def map_copy(copy: Path) -> native.Contents:
    """Map a copy, and look at nothing but its headers.

    Raises:
        OSError: it is not there, or not to be believed.
        FormatError: it is damaged, or has no digests.
    """
    with open_believed(copy) as file:
        contents = native.map_open_file(copy, file)
    if contents.digests is None:
        raise FormatError(copy, "is a copy without digests")
    return contents


def copy_name(path: Path, asked: Columns = BY_TITLE) -> str:
    """The name of the copy of a file: the start of its own, and a hash of all that says how it is
    read: `READERS`, its absolute path, its suffix (of a link another one), a file of vertices
    beside it, and the columns that are asked for.
    """
    beside = vertices_file(path)
    state = None if beside is None else (beside.stat().st_size, beside.stat().st_mtime_ns)
    suffix = bare_name(path).rpartition(".")[2]
    read_by = f"{READERS}\0{path.resolve()}\0{suffix}\0{state}\0{tuple(asked)}"
    digest = hashlib.sha256(os.fsencode(read_by)).hexdigest()
    return f"{path.name.split('.')[0][:40]}-{digest[:20]}.csr"


def _fresh(copy: Path, path: Path, source: Source) -> Graph | None:
    try:
        contents = map_copy(copy)
        if contents.source != source or not is_as_closed(copy, path):
            return None
        found = native.graph_of(copy, contents)
    except (OSError, FormatError):
        return None
    note_use(copy)
    return found


def is_as_closed(copy: Path, path: Path) -> bool:
    """Whether nobody may read the copy who may not read its text."""
    status = copy.lstat()
    return not status.st_mode & 0o777 & ~rights_of_copy(path.stat(), status)


def _keep(graph: Graph, copy: Path, path: Path, source: Source) -> None:
    try:
        if refuses(path, native.bytes_of_copy(graph, source)):
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        native.write_copy(graph, copy, path, source)
    except (OSError, InputError):  # the latter of a header that would be too long
        return
    remove_beyond_limit(copy.parent)
