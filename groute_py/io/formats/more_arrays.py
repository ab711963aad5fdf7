r"""What version 2 of our own files brought: coordinates, weights by name, shapes, attribution.

    "coordinates": true                   float64, shape (2n,): x and y of one vertex after another
    "columns": ["length", "time"]         of each its weights, but for the one named next
    "column": "time"                      the one that the array ``weights`` is; else null
    "shapes": true                        lines, offsets and points of `groute_py.graph.shapes`,
                                          the points as coordinates
    "attribution": "© …"                  whom outputs name

A file has those fields of the header that say something, and their arrays in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quoted
from groute_py.graph.csr import LONGEST_TEXT, Graph
from groute_py.graph.shapes import Shapes

SHAPES = ("shape lines", "shape offsets", "shape points")
MOST_COLUMNS = 256


class More(NamedTuple):
    """The fields of a `Graph` that such a file may have."""

    coordinates: NDArray[np.float64] | None
    columns: dict[str, NDArray[Any]]
    shapes: Shapes | None
    attribution: str


def more_fields(graph: Graph) -> dict[str, Any]:
    """What the header says of a graph; nothing where version 1 will do."""
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


def more_arrays(graph: Graph) -> dict[str, NDArray[Any]]:
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


def more_names(header: Mapping[str, Any]) -> list[str]:
    """The names of the arrays that a header promises, in the order of the file."""
    names, column = _columns(header), header.get("column")
    arrays = ["coordinates"] if header.get("coordinates") else []
    arrays += [_array_of(name) for name in names if name != column]
    return arrays + (list(SHAPES) if header.get("shapes") else [])


def more_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> More:
    """What is in a file; raises as `more_names`."""
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
