r"""The native format, ``.csr``: the arrays of a `Graph`, read back memory-mapped.

    groute-py csr 2\n                                     magic with the version
    {"first_id": 1, "name": "NY", "source": null}   \n    JSON, blanks up to a multiple of 64 bytes
    offsets, heads, weights                               three .npy, each zero-padded likewise
    ids                                                   a fourth, where the header has "ids": true
    what `groute_py.io.formats.more_arrays` describes     in version 2 only
    digests                                               in copies only: "digests": true

`source` is the size in bytes and the modification time in nanoseconds of the text file that a
cached graph was made from, else null. Such a copy of a table has ``reading`` as well, which says
how it was read. `groute_py.io.array_file` describes the digests. A file is of version 1 where
nothing in it is newer, so that programs of that version read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.csr import Graph, no_column
from groute_py.graph.ids import check_given_ids
from groute_py.graph.read_report import Reading
from groute_py.io.array_file import (
    DIGESTS,
    Kind,
    Outline,
    Shapes,
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
from groute_py.io.file_head import Head
from groute_py.io.formats.more_arrays import (
    More,
    more_arrays,
    more_fields,
    more_names,
    more_of,
)
from groute_py.io.unchanged import State, keep, known
from groute_py.io.untrusted import INT64, first_id, integer
from groute_py.system.atomic_file import replacing
from groute_py.system.paths import as_text

SUFFIX = ".csr"

KIND = Kind("native graph", b"groute-py csr ", 2, frozenset({"first_id", "name", "source"}))
NAMES = ("offsets", "heads", "weights")


def sniff(head: Head) -> bool:
    """Whether a file that starts like this is of this format, whatever its version."""
    return head.text.startswith(KIND.family)


class Contents(NamedTuple):
    """A native file mapped into memory, of which only the headers have been looked at.

    Attributes:
        offsets, heads, weights: as in a `Graph`, if the file is a right one.
        ids: as in a `Graph`.
        first_id, name: as in a `Graph`.
        source: of the text file it was made from, if it is a cached copy.
        reading: how that was read, if it is a table.
        digests: uint32, of the blocks of `digested`, if it is a cached copy.
        digested: uint8, the bytes that the digests are of.
        more: what a `Graph` has beside these arrays.
    """

    offsets: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any]
    ids: NDArray[Any] | None
    first_id: int
    name: str
    source: Source | None
    reading: Reading | None
    digests: NDArray[np.uint32] | None
    digested: NDArray[np.uint8]
    more: More

    def with_column(self, name: str | None) -> Contents:
        """The same with the weights of this name; None for those that are there."""
        if name is None:
            return self
        if name not in self.more.columns:
            raise no_column(name, self.more.columns, self.name)
        return self._replace(weights=self.more.columns[name])


def read(path: Path, _progress: Callable[[int, int], None] | None = None) -> Graph:
    """Map a native file, and check it unless it is the last one that was read, unchanged."""
    with open(path, "rb") as file:
        state = State.of(file)
        if (graph := known(state)) is None:
            graph = graph_of(path, map_open_file(path, file))
            if state.is_settled() and State.of(file) == state:
                keep(state, graph)
    return graph


def graph_of(path: Path, contents: Contents) -> Graph:
    """The graph in a mapped file; raises as `read`."""
    check_digests(path, contents)
    return graph_in(path, contents)


def graph_in(path: Path, contents: Contents) -> Graph:
    """The same of a file that has been compared with its digests."""
    with refusing_damage(path):
        if contents.ids is not None and contents.digests is None:
            check_given_ids(contents.ids)
        return Graph(
            *contents[:3],
            contents.first_id,
            contents.name,
            contents.ids,
            contents.reading,
            **contents.more._asdict(),
        )


def check_digests(path: Path, contents: Contents, part: int = 0, parts: int = 1) -> None:
    """Compare an even part of a copy with its digests; a file without any passes."""
    if contents.digests is not None and not are_right(
        contents.digests, contents.digested, part, parts
    ):
        raise FormatError(path, "damaged native graph: its content does not have its digests")


def map_file(path: Path) -> Contents:
    """Map a native file, and look at nothing but its headers."""
    with open(path, "rb") as file:
        return map_open_file(path, file)


def map_open_file(path: Path, file: BinaryIO) -> Contents:
    """The same of a file that is open already."""
    header = header_of(KIND, path, file)
    with refusing_damage(path):
        names = ["ids"] if header.get("ids") else []
        names += [*more_names(header), *([DIGESTS] if header.get(DIGESTS) else [])]
        arrays, digested = map_arrays(file, (*NAMES, *names))
        offsets = arrays["offsets"]
        return Contents(
            offsets,
            arrays["heads"],
            arrays["weights"],
            arrays.get("ids"),
            first_id(header["first_id"], len(offsets) - 1),
            name_of(header["name"]),
            source_of(header["source"]),
            reading_of(header.get("reading")),
            arrays.get(DIGESTS),
            digested,
            more_of(header, arrays),
        )


def refusing_damage(path: Path) -> AbstractContextManager[None]:
    """Whatever goes wrong within says that the file is damaged, but for what a signal raises."""
    return refusing(KIND, path)


def write(graph: Graph, path: Path) -> None:
    """Write a native file atomically: readers see the old file or the new one, never a part."""
    layout, arrays = laid_out(graph)
    with replacing(path) as file:
        write_arrays(file, layout, arrays)


def laid_out(graph: Graph, source: Source | None = None) -> tuple[Outline, dict[str, NDArray[Any]]]:
    """The outline of a graph's file, or of a copy of ``source``, and its arrays."""
    arrays = {"offsets": graph.offsets, "heads": graph.heads, "weights": graph.weights}
    if graph.ids is not None:
        arrays["ids"] = graph.ids
    arrays = contiguous(arrays | more_arrays(graph))
    reading = graph.reading
    if source is None and reading is not None and reading.first_through is None:
        reading = None  # how a table was read is of interest to whoever reads the table
    about = graph.first_id, graph.name, source, reading, more_fields(graph)
    return outline(shapes_of(arrays), *about), arrays


def outline(
    shapes: Shapes,
    first_id: int,
    name: str,
    source: Source | None = None,
    reading: Reading | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Outline:
    """Lay out the file that `write` would write."""
    fields: dict[str, Any] = {"first_id": first_id, "name": as_text(name)}
    fields |= {"source": source._asdict() if source else None}
    fields |= {"ids": True} if "ids" in shapes else {}
    fields |= {DIGESTS: True} if source else {}
    fields |= {"reading": reading._asdict()} if reading is not None else {}
    version = KIND.version if more else 1
    return outline_of(KIND, version, {**fields, **more}, shapes, digests=source is not None)


def reading_of(field: Any) -> Reading | None:
    """How the table was read that a graph comes from, from a header; `info` shows it."""
    if field is None:
        return None
    columns = {str(role): str(title) for role, title in field["columns"].items()}
    first = field.get("first_through")
    if first is not None:
        first = integer("first_through", first, INT64.min, INT64.max)
    return Reading(columns, integer("comments", field["comments"], 0, INT64.max), first)
