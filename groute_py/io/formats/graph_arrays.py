r"""A `Graph` in our own files, native and prepared.

    offsets, heads, weights               as in a `Graph`
    ids                                   if the header has "ids": true
    (the arrays of a hierarchy)

Version 2 has what the header says, and in this order:

    "coordinates": true                   float64, shape (2n,): x and y of one vertex after another
    "columns": ["length", "time"]         of each its weights, but for the one named next
    "column": "time"                      the one that the array ``weights`` is; else null
    "shapes": true                        lines, offsets and points of `groute_py.graph.geography`,
                                          the points as coordinates
    "attribution": "© …"                  credit of outputs

The header has "source" in a copy in the cache, and "reading" if the graph was read from a table. A
file is of version 1 where nothing in it is newer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quoted
from groute_py.graph.csr import LONGEST_TEXT, Graph, no_column
from groute_py.graph.geography import Shapes
from groute_py.graph.ids import check_given_ids
from groute_py.graph.read_report import Reading
from groute_py.io.array_file import (
    DIGESTS,
    Kind,
    Outline,
    are_right,
    map_arrays,
    name_of,
    outline_of,
    refusing,
    source_of,
)
from groute_py.io.file_head import Source
from groute_py.io.untrusted import INT64, first_id, integer
from groute_py.system.paths import as_text

GRAPH = ("offsets", "heads", "weights")
SHAPES = ("shape lines", "shape offsets", "shape points")
MORE_VERSION = 2
"""The version of files that have more than offsets, heads, weights and ids of a graph."""

MOST_COLUMNS = 256


class More(NamedTuple):
    """The fields of a `Graph` that version 2 brought."""

    coordinates: NDArray[np.float64] | None
    columns: dict[str, NDArray[Any]]
    shapes: Shapes | None
    attribution: str


class Contents(NamedTuple):
    """A file mapped into memory, of which only the headers have been looked at.

    The array ``digests`` is of the blocks of ``digested``; ``source`` is of the file that a copy
    was made from.
    """

    kind: Kind
    path: Path
    arrays: dict[str, NDArray[Any]]
    digested: NDArray[np.uint8]
    first_id: int
    name: str
    source: Source | None
    reading: Reading | None
    more: More

    @property
    def offsets(self) -> NDArray[Any]:
        return self.arrays["offsets"]

    @property
    def heads(self) -> NDArray[Any]:
        return self.arrays["heads"]

    @property
    def weights(self) -> NDArray[Any]:
        return self.arrays["weights"]

    @property
    def ids(self) -> NDArray[Any] | None:
        return self.arrays.get("ids")

    @property
    def digests(self) -> NDArray[np.uint32] | None:
        return self.arrays.get(DIGESTS)

    def with_column(self, name: str | None) -> Contents:
        """The same with the weights of this name; None for those that are there."""
        if name is None:
            return self
        if name not in self.more.columns:
            raise no_column(name, self.more.columns, self.name)
        return self._replace(arrays=self.arrays | {"weights": self.more.columns[name]})

    def check_digests(self, part: int = 0, parts: int = 1) -> None:
        """Compare an even part with its digests; a file without any passes."""
        digests = self.digests
        if digests is not None and not are_right(digests, self.digested, part, parts):
            problem = f"damaged {self.kind.what}: its content does not have its digests"
            raise FormatError(self.path, problem)

    def refusing_damage(self) -> AbstractContextManager[None]:
        """Translate errors within into one that says that the file is damaged."""
        return refusing(self.kind, self.path)

    def graph(self) -> Graph:
        """The graph; ids are checked in a file without digests only."""
        with self.refusing_damage():
            if self.ids is not None and self.digests is None:
                check_given_ids(self.ids)
            return Graph(
                self.offsets,
                self.heads,
                self.weights,
                self.first_id,
                self.name,
                self.ids,
                self.reading,
                **self.more._asdict(),
            )


def map_contents(
    kind: Kind, path: Path, file: BinaryIO, header: Mapping[str, Any], own: Sequence[str] = ()
) -> Contents:
    """Map a file behind its header; ``own`` names the arrays that only its format has."""
    with refusing(kind, path):
        ids = ["ids"] if header.get("ids") else []
        digests = [DIGESTS] if header.get(DIGESTS) else []
        names = (*GRAPH, *ids, *own, *_more_names(header), *digests)
        arrays, digested = map_arrays(file, names)
        return Contents(
            kind,
            path,
            arrays,
            digested,
            first_id(header["first_id"], len(arrays["offsets"]) - 1),
            name_of(header["name"]),
            source_of(header["source"]),
            _reading_of(header.get("reading")),
            _more_of(header, arrays),
        )


def fields_of(
    first_id: int, name: str, source: Source | None, reading: Reading | None
) -> dict[str, Any]:
    """The fields that every header has; ``reading`` if a graph was read from a table."""
    written = source._asdict() if source else None
    fields: dict[str, Any] = {"first_id": first_id, "name": as_text(name), "source": written}
    if reading is not None:
        fields["reading"] = reading._asdict()
        del fields["reading"]["library"]  # which is of tables in memory
    return fields


def laid_out(
    kind: Kind,
    graph: Graph,
    fields: dict[str, Any],
    own: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    *,
    digests: bool,
    version: int = 1,
) -> tuple[Outline, dict[str, NDArray[Any]]]:
    """The outline of a graph's file, and its arrays.

    ``own`` has those of its format alone, which came with a ``version``.
    """
    arrays = {name: getattr(graph, name) for name in GRAPH}
    arrays |= {"ids": graph.ids} if graph.ids is not None else {}
    arrays = {
        name: np.ascontiguousarray(array)
        for name, array in {**arrays, **own, **_more_arrays(graph)}.items()
    }
    more, shapes = _more_fields(graph), {name: (len(a), a.dtype) for name, a in arrays.items()}
    version = max(version, MORE_VERSION if more else 1)
    return outline_of(kind, version, fields | more, shapes, digests=digests), arrays


def _more_fields(graph: Graph) -> dict[str, Any]:
    """The fields of a header for a graph; none where version 1 will do."""
    if len(graph.columns) > MOST_COLUMNS:
        count = len(graph.columns)
        raise InputError(
            f"{quoted(graph.name)} has {count} columns; files have up to {MOST_COLUMNS}"
        )
    fields: dict[str, Any] = {}
    if graph.coordinates is not None:
        fields["coordinates"] = True
    if graph.columns:
        fields |= {"columns": list(graph.columns), "column": graph.column}
    if graph.shapes is not None:
        fields["shapes"] = True
    if graph.attribution:
        fields["attribution"] = graph.attribution
    return fields


def _more_arrays(graph: Graph) -> dict[str, NDArray[Any]]:
    """The arrays of a graph by their names, in the order of the file."""
    arrays: dict[str, NDArray[Any]] = {}
    if graph.coordinates is not None:
        arrays["coordinates"] = graph.coordinates.reshape(-1)
    for name, column in graph.columns.items():
        if name != graph.column:
            arrays[_array_of(name)] = column
    if graph.shapes is not None:
        lines, offsets, points = graph.shapes
        arrays |= zip(SHAPES, (lines, offsets, points.reshape(-1)), strict=True)
    return arrays


def _more_names(header: Mapping[str, Any]) -> list[str]:
    """The names of the arrays that a header promises, in the order of the file."""
    names, column = _columns(header), header.get("column")
    arrays = ["coordinates"] if header.get("coordinates") else []
    arrays += [_array_of(name) for name in names if name != column]
    return arrays + (list(SHAPES) if header.get("shapes") else [])


def _more_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> More:
    """Take them from a file; raises as `_more_names`."""
    shapes = None
    if header.get("shapes"):
        lines, offsets, points = (arrays[name] for name in SHAPES)
        shapes = Shapes(lines, offsets, _pairs(points, SHAPES[-1]))
    places = arrays.get("coordinates")
    return More(
        None if places is None else _pairs(places, "coordinates"),
        {name: arrays.get(_array_of(name), arrays["weights"]) for name in _columns(header)},
        shapes,
        _text(header.get("attribution", ""), "attribution"),
    )


def _columns(header: Mapping[str, Any]) -> list[str]:
    names = header.get("columns", [])
    if not isinstance(names, list) or len(names) > MOST_COLUMNS:
        raise ValueError(f"its columns are no list of up to {MOST_COLUMNS} names")
    names = [_text(name, "name of a column") for name in names]
    if len(set(names)) < len(names):
        raise ValueError("two of its columns have one name")
    if header.get("column") is not None and header["column"] not in names:
        raise ValueError("its weights are a column that it does not have")
    return names


def _array_of(column: str) -> str:
    return f"weights {column}"


def _pairs(values: NDArray[Any], what: str) -> NDArray[Any]:
    if len(values) % 2:
        raise ValueError(f"the {what} are {len(values)} numbers, which are no pairs")
    return values.reshape(-1, 2)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError(f"its {what} is no text of up to {LONGEST_TEXT} characters")
    value.encode()  # raises for half of a character, which no terminal or file takes
    return value


def _reading_of(field: Any) -> Reading | None:
    """The report of the table that a graph comes from; `info` shows it."""
    if field is None:
        return None
    columns = {str(role): str(title) for role, title in field["columns"].items()}
    first = field.get("first_through")
    if first is not None:
        first = integer("first_through", first, INT64.min, INT64.max)
    return Reading(columns, integer("comments", field["comments"], 0, INT64.max), first)
