"""Which graph a copy in the cache is of."""

from __future__ import annotations

from pathlib import Path

from groute_py.errors import FormatError
from groute_py.io.formats import native, prepared
from groute_py.system.own_files import open_believed


def content_of(copy: Path) -> str:
    """The name of the graph in a copy, from its header; where it has none, its file's."""
    try:
        with open_believed(copy) as file:
            if copy.suffix == prepared.SUFFIX:
                return prepared.map_open_file(copy, file).name
            return native.map_open_file(copy, file).name
    except (OSError, FormatError):
        return copy.name.rpartition("-")[0]
