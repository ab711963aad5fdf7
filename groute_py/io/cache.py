"""Binary copies of graph files: native ones of large texts, and prepared ones, with a hierarchy.

A copy is named after the absolute path of its file and carries that file's size and modification
time, and digests of its own content; where they differ it is stale or damaged, and is replaced. It
is believed only if it is a plain file of this user or of root, and is replaced where more people
may read it than its file. A copy that cannot be read or written never breaks a read. Copies are put
in place atomically, so that any number of processes may read and write at once.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import CacheWarning, FormatError, InputError, file_path
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.prepared import PreparedGraph
from groute_py.io.array_file import write_arrays
from groute_py.io.cache_folder import cache_folder, note_use, refuses, remove_beyond_limit
from groute_py.io.companions import companion
from groute_py.io.compression import bare_name
from groute_py.io.file_head import Source
from groute_py.io.formats import native, prepared
from groute_py.io.formats import order as order_format
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.system.own_files import open_believed, replacing_copy, rights_of_copy

LARGE_COMPRESSED = 8 << 20
LARGE_PLAIN = 32 << 20
"""Texts of this many bytes have native copies without being asked."""

LARGE_PREPARED = 1 << 20
"""Files of this many bytes have prepared copies without being asked; smaller ones are contracted
at once."""


class Copy:
    """The copy of a graph file, there or not.

    If a prepared copy cannot be used, a warning says why, since contraction takes long.
    """

    def __init__(self, path: Path, place: Path, form: ModuleType) -> None:
        self.place = place
        self._path, self._form = path, form
        self._source = Source.of(path)

    def mapped(self) -> Any:
        """Map the copy, if it is one of the file as it is now; return its contents, or None."""
        self._source = Source.of(self._path)
        try:
            contents = map_copy(self.place, self._form)
            if contents.source != self._source or not self._is_closed():
                return None
        except OSError:
            return None
        except FormatError as problem:
            self._warn(f"{problem}; {self._path} is prepared anew")
            return None
        note_use(self.place)
        return contents

    def read(self) -> Graph | None:
        """The graph in the copy; None where there is none of the file as it is, to be believed."""
        if (contents := self.mapped()) is None:
            return None
        try:
            graph: Graph = self._form.graph_of(contents)
        except FormatError as problem:
            self._warn(f"{problem}; {self._path} is prepared anew")
            return None
        return graph

    def write(self, graph: Graph) -> Graph:
        """Write the copy of the file as it was when the copy was looked for."""
        try:
            layout, arrays = self._form.laid_out(graph, self._source)
            if refuses(self._path, layout.size):
                return graph
            self.place.parent.mkdir(parents=True, exist_ok=True)
            with replacing_copy(self.place, self._path) as file:
                write_arrays(file, layout, arrays)
                if isinstance(graph, PreparedGraph) and self._form is prepared:
                    graph = prepared.written_to(self.place, file, graph)
        except (OSError, InputError) as problem:  # the latter of a header that would be too long
            why = problem.strerror if isinstance(problem, OSError) else None
            self._warn(f"the prepared {self._path} is not kept: {why or problem}")
            return graph
        remove_beyond_limit(self.place.parent)
        return graph

    def _is_closed(self) -> bool:
        """Return True if nobody may read the copy who may not read its file."""
        status = self.place.lstat()
        return not status.st_mode & 0o777 & ~rights_of_copy(self._path.stat(), status)

    def _warn(self, text: str) -> None:
        if self._form is prepared:
            warnings.warn(text, CacheWarning, stacklevel=3)


class KeptOrders:
    """Orders in a folder of copies; see `groute_py.graph.hierarchy.separators.order`.

    Their names are digests of neighbours. They may be read by whoever may read the file at
    ``path``. Any order of as many vertices gives right distances.
    """

    def __init__(self, folder: Path, path: Path) -> None:
        self._folder, self._path = folder, path

    def find(
        self, offsets: NDArray[np.int64], neighbours: NDArray[np.int32]
    ) -> NDArray[np.int32] | None:
        place = self._place(offsets, neighbours)
        try:
            contents: order_format.OrderContents = _mapped_order(place)
        except (OSError, FormatError):
            return None
        note_use(place)
        return contents.order if len(contents.order) == len(offsets) - 1 else None

    def keep(
        self,
        name: str,
        offsets: NDArray[np.int64],
        neighbours: NDArray[np.int32],
        order: NDArray[np.int32],
    ) -> None:
        place = self._place(offsets, neighbours)
        if refuses(self._path, order.nbytes):
            return
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with replacing_copy(place, self._path) as file:
                order_format.write_to(file, name, order)
        except OSError as problem:
            text = f"the order of {self._path} is not kept: {problem.strerror}"
            warnings.warn(text, CacheWarning, stacklevel=3)
            return
        remove_beyond_limit(place.parent)

    def _place(self, offsets: NDArray[np.int64], neighbours: NDArray[np.int32]) -> Path:
        digest = hashlib.blake2b(offsets.data, digest_size=10)
        digest.update(neighbours.data)
        return self._folder / f"order-{digest.hexdigest()}{order_format.SUFFIX}"


def _mapped_order(place: Path) -> order_format.OrderContents:
    with open_believed(place) as file:
        return order_format.map_open_file(place, file)


def copy_name(
    path: Path, columns: Columns = BY_TITLE, form: ModuleType = native, rules: int = 1
) -> str:
    """The name of the copy of a file: the start of its own, and a hash of all that says how it is
    read: the reader's ``rules``, its absolute path, its suffix (of a link another one), a file of
    vertices beside it, and the columns.
    """
    beside = companion(path, "vertices")
    state = None if beside is None else (beside.stat().st_size, beside.stat().st_mtime_ns)
    suffix = bare_name(path).rpartition(".")[2]
    read_by = f"{rules}\0{path.resolve()}\0{suffix}\0{state}\0{tuple(columns)}"
    digest = hashlib.sha256(os.fsencode(read_by)).hexdigest()
    return f"{path.name.split('.')[0][:40]}-{digest[:20]}{form.SUFFIX}"


def map_copy(copy: Path, form: ModuleType = native) -> Any:
    """Map a copy, and look at nothing but its headers."""
    with open_believed(copy) as file:
        contents = form.map_open_file(copy, file)
    if contents.digests is None:
        raise FormatError(copy, "is a copy without digests")
    return contents


def folder_of(cache: bool | str | os.PathLike[str]) -> Path | None:
    """The folder of copies; None, with one warning, where others could put copies into it."""
    if not isinstance(cache, bool):
        folder = file_path("cache", cache)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is no folder, so no copies of graphs can be kept there")
        return folder
    try:
        return cache_folder("graphs")
    except InputError as problem:
        warnings.warn(f"no copy of a graph is kept or used: {problem}", CacheWarning, stacklevel=2)
    except OSError:
        pass
    return None
