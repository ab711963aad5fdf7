"""Files that are read with a graph file without being named: its companions.

A reader finds such a file by `companion`, and so only if `COMPANIONS` lists its kind. Nothing else
lies beside a graph file and is read, so a command that replaces neither what it is given nor the
`companion_names` of that leaves all its inputs as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from groute_py.io.compression import SUFFIXES, bare_name
from groute_py.system.paths import is_file_there


class Companion(NamedTuple):
    """A kind of companions: ``x.v`` beside ``x.e``, both of them compressed or not.

    Attributes:
        graph: the suffix of graph files that have it.
        suffix: its own.
    """

    graph: str
    suffix: str


VERTICES = Companion(".e", ".v")
COORDINATES = Companion(".gr", ".co")

COMPANIONS = {"vertices": VERTICES, "coordinates": COORDINATES}
"""All kinds, by what they hold."""


def companion(path: Path, kind: Companion) -> Path | None:
    """The companion of a graph file, if it has one of that kind."""
    return next((found for found in _names(path, kind) if is_file_there(found)), None)


def companion_names(path: Path) -> dict[Path, str]:
    """What companions of a file may be called, there or not, with what they hold.

    >>> companion_names(Path("usa.gr.gz"))[Path("usa.co")]
    'coordinates'
    """
    return {name: what for what, kind in COMPANIONS.items() for name in _names(path, kind)}


def _names(path: Path, kind: Companion) -> list[Path]:
    """The names of a companion, in the order in which they are looked for.

    That which is compressed as the graph file is comes first: they were written together.
    """
    bare = bare_name(path)
    if not bare.endswith(kind.graph):
        return []
    stem = path.parent / bare.removesuffix(kind.graph)
    likely = dict.fromkeys((path.name.removeprefix(bare), "", *SUFFIXES))
    return [Path(f"{stem}{kind.suffix}{packed}") for packed in likely]
