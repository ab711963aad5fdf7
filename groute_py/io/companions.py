"""Files that are read with a graph file without being named: its companions.

Nothing but the files of `COMPANIONS` lies beside a graph file and is read. So a command that
replaces neither what it is given nor the `companion_names` of that leaves all its inputs as they
are.
"""

from __future__ import annotations

from pathlib import Path

from groute_py.io.compression import SUFFIXES, bare_name
from groute_py.system.paths import is_file_there

COMPANIONS = {"vertices": (".e", ".v"), "coordinates": (".gr", ".co")}
"""The suffixes of graph files and of their companions, by what these hold."""


def companion(path: Path, what: str) -> Path | None:
    """The companion of a graph file, compressed or not, if it has one of that kind."""
    return next((candidate for candidate in _names(path, what) if is_file_there(candidate)), None)


def companion_names(path: Path) -> dict[Path, str]:
    """The names of companions of a file, there or not, with what they hold.

    >>> companion_names(Path("usa.gr.gz"))[Path("usa.co")]
    'coordinates'
    """
    return {name: what for what in COMPANIONS for name in _names(path, what)}


def _names(path: Path, what: str) -> list[Path]:
    """The names of a companion; the one compressed like the graph comes first."""
    (graph, suffix), bare = COMPANIONS[what], bare_name(path)
    if not bare.endswith(graph):
        return []
    stem = path.parent / bare.removesuffix(graph)
    likely = dict.fromkeys((path.name.removeprefix(bare), "", *SUFFIXES))
    return [Path(f"{stem}{suffix}{packed}") for packed in likely]
