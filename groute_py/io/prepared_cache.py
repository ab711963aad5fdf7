"""Prepared copies of graph files in the cache, beside the native ones.

They are named, compared with their files, believed and replaced as native copies are; see
`groute_py.io.cache`. What keeps one from being written is said in a warning, since the contraction
that it would have saved takes longer than to read a file.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from groute_py.errors import CacheWarning, FormatError, InputError
from groute_py.hierarchy.prepared import PreparedGraph
from groute_py.io.array_file import Source
from groute_py.io.cache import copy_name, folder_for, is_as_closed
from groute_py.io.cache_limit import note_use, refuses, remove_beyond_limit
from groute_py.io.formats import prepared
from groute_py.io.tables.columns import Columns
from groute_py.system.own_files import open_believed

LARGE = 1 << 20
"""Files of this many bytes are kept without being asked: smaller ones are contracted at once."""


class PreparedCopy:
    """The place of the prepared copy of a file.

    Args:
        path: the file, as it is now.
        copy: the place.
    """

    def __init__(self, path: Path, copy: Path) -> None:
        self._path, self._copy = path, copy
        self._source = Source.of(path)

    def read(self) -> PreparedGraph | None:
        """What was kept of the file as it is; None where there is nothing, or nothing to believe.

        A copy of another version of the format, or a damaged one, is named in a warning.
        """
        try:
            with open_believed(self._copy) as file:
                contents = prepared.map_open_file(self._copy, file)
            if contents.source != self._source or not is_as_closed(self._copy, self._path):
                return None
            found = prepared.graph_of(self._copy, contents, is_copy=True)
        except OSError:
            return None
        except FormatError as problem:
            _warn(f"{problem}; {self._path} is prepared anew")
            return None
        note_use(self._copy)
        return found

    def write(self, graph: PreparedGraph) -> PreparedGraph:
        """Keep the graph; where that cannot be, a warning says why.

        Returns:
            The same arrays, with the copy as its file, which other ranks may map; or the graph.
        """
        try:
            if refuses(self._path, prepared.bytes_of(graph)):
                return graph
            self._copy.parent.mkdir(parents=True, exist_ok=True)
            file = prepared.write_copy(graph, self._copy, self._path, self._source)
        except (OSError, InputError) as problem:
            why = problem.strerror if isinstance(problem, OSError) else None
            _warn(f"the prepared {self._path} is not kept: {why or problem}")
            return graph
        remove_beyond_limit(self._copy.parent)
        return PreparedGraph(graph, graph.hierarchy, file)


def prepared_copy(
    path: Path, cache: bool | str | os.PathLike[str] | None, asked: Columns
) -> PreparedCopy | None:
    """The place of the prepared copy of a file, or None where there shall be none.

    Args:
        path: any graph file.
        cache: as for `groute_py.io.registry.read_graph`.
        asked: the columns that the caller names, and whether arcs are edges.
    """
    if cache is None:
        cache = Source.of(path).size >= LARGE
    if (folder := folder_for(path, cache, compressed=False)) is None:
        return None
    name = Path(copy_name(path, asked)).with_suffix(prepared.SUFFIX)
    return PreparedCopy(path, folder / name)


def _warn(text: str) -> None:
    warnings.warn(text, CacheWarning, stacklevel=3)
