"""Which graph a copy in the cache is of, and of which kind it is."""

from __future__ import annotations

from pathlib import Path

from groute_py.errors import FormatError
from groute_py.io.formats import native, prepared
from groute_py.system.own_files import is_draft, open_believed


def kind_of(copy: Path) -> str:
    """``native`` or ``prepared``; ``unfinished`` where its process was killed."""
    if is_draft(copy):
        return "unfinished"
    return "prepared" if copy.suffix == prepared.SUFFIX else "native"


def content_of(copy: Path) -> str:
    """The name of the graph in a copy, from its header; where it has none, its file's; else ""."""
    if is_draft(copy):
        return ""
    try:
        with open_believed(copy) as file:
            if copy.suffix == prepared.SUFFIX:
                return prepared.map_open_file(copy, file).name
            return native.map_open_file(copy, file).name
    except (OSError, FormatError):
        return copy.name.rpartition("-")[0]
