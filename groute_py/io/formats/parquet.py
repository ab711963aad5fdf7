"""Parquet edge tables: columns of tails, heads and maybe weights.

Columns are found by their names, as `groute_py.io.tables.columns` says. Tails and heads are
integers or strings. Which vertices have no arcs is kept beside the table, in the metadata
``groute-py``, which other programs pass over.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GraphError
from groute_py.graph.arrays import as_int64
from groute_py.graph.builder import INT64
from groute_py.graph.csr import Graph
from groute_py.graph.ids import numbered
from groute_py.graph.read_report import Reading
from groute_py.io.file_head import Head
from groute_py.io.optional_libraries import library
from groute_py.io.tables.columns import Columns, Roles, roles_of
from groute_py.io.tables.directions import graph_of_rows, ways_of
from groute_py.io.tables.titles import end_of, is_weight_title
from groute_py.io.text.arc_writer import arc_blocks
from groute_py.io.text.lines import Progress
from groute_py.io.turn_files import open_parquet
from groute_py.kernels.cpu.build import index_type
from groute_py.system.atomic_file import replacing
from groute_py.system.memory_limits import check_name_lengths, check_room, check_vertex_count

BEGINS = re.compile(b"PAR1")
METADATA = b"groute-py"
BLOCK = 1 << 20
"""Arcs in a row group."""


class SavedVertices(NamedTuple):
    """Our metadata about vertices: all in a span are there, or these have no arcs."""

    span: range | None
    lonely: list[Any]


class Table(NamedTuple):
    """Columns by role, and our metadata."""

    roles: Roles
    columns: dict[str, NDArray[Any]]
    vertices: SavedVertices
    carry: dict[str, NDArray[Any]]


def read(head: Head, _progress: Progress | None = None) -> Graph:
    """Read an edge table."""
    path, table = head.path, _table(head.path, head.columns)
    tails, heads, vertices = table.columns["tail"], table.columns["head"], table.vertices
    if vertices.span is not None:
        first, ids, count = vertices.span.start, None, len(vertices.span)
        content = sum(column.nbytes for column in table.columns.values())
        check_vertex_count(path, count, max(content, path.stat().st_size))
        for ends in (tails, heads):
            if len(ends) and not (first <= ends.min() and ends.max() < vertices.span.stop):
                bounds = f"{first}..{vertices.span.stop - 1}"
                raise FormatError(path, f"an id is outside the range {bounds}")
        tails, heads = (ends.astype(np.int64, copy=False) - first for ends in (tails, heads))
    else:
        lonely = np.array(vertices.lonely, np.int64 if tails.dtype.kind in "iu" else np.str_)
        first, ids, count, tails, heads = numbered(tails, heads, lonely)
    kind = index_type(count)
    tails, heads = tails.astype(kind), heads.astype(kind)
    columns = tails, heads, *_values(table, len(tails)), table.columns.get("arc"), table.carry
    reading = Reading({role: str(title) for role, title in table.roles.titles.items()})
    first = first if ids is None else 0
    return graph_of_rows(path.stem, count, *columns, first_id=first, ids=ids, reading=reading)


def _values(
    table: Table, rows: int
) -> tuple[NDArray[Any], NDArray[np.int8] | None, NDArray[Any] | None]:
    """Weights, ways and weights of arcs back."""
    roles, columns, ways = table.roles, table.columns, None
    weights = columns.get("weight", np.ones(rows, np.int32))
    back = columns.get("back")
    for values in (weights, back):
        if values is not None and values.dtype.kind == "U":
            raise GraphError(f"weights must be numbers, not {values.dtype}")
    if roles.direction is not None and roles.rule is not None:
        ways = ways_of(columns["direction"].tolist(), roles.direction, roles.rule)
    return weights, ways, back


def _table(path: Path, request: Columns) -> Table:
    """The columns that are read, and what the metadata say."""
    with open_parquet(path) as file:
        roles = _chosen(file, request)
        names = list({*roles.titles.values(), *roles.carry})
        rows = file.metadata.num_rows
        check_room(8 * len(names) * rows, f"{path}: {rows:,} arcs")
        table = file.read(columns=names)
        more = json.loads((file.schema_arrow.metadata or {}).get(METADATA, b"{}"))
        columns = {
            role: _array(path, table.column(name), name, role, roles)
            for role, name in roles.titles.items()
        }
        carry = {
            name: _array(path, table.column(name), name, "carry", roles) for name in roles.carry
        }
    tails, heads = columns["tail"].dtype, columns["head"].dtype
    if tails.kind + heads.kind not in ("ii", "iu", "ui", "uu", "UU"):
        problem = f"tails are {tails} and heads {heads}; integers or strings are read"
        raise FormatError(path, problem)
    if not isinstance(more, dict):
        raise FormatError(path, f"damaged Parquet: its metadata {METADATA.decode()} are no object")
    return Table(roles, columns, _kept(path, more, str if tails.kind == "U" else int), carry)


def _kept(path: Path, more: Any, kind: type) -> SavedVertices:
    """Check our metadata, which any program may have written."""
    span, lonely = more.get("span"), more.get("lonely", [])
    right = isinstance(lonely, list) and all(type(vertex) is kind for vertex in lonely)
    if right and kind is str:
        right = "".join(lonely).isascii() or not any(map(_has_half, lonely))
    if right and kind is int:
        right = all(INT64.min <= vertex <= INT64.max for vertex in lonely)
    if right and span is not None:
        right = kind is int and isinstance(span, list) and [type(n) for n in span] == [int, int]
        right = right and span[1] >= 0 and INT64.min <= span[0] <= INT64.max - span[1]
    if not right:
        problem = f"damaged Parquet: its metadata {METADATA.decode()} do not fit its columns"
        raise FormatError(path, f"{problem}; write the table anew without them")
    return SavedVertices(None if span is None else range(span[0], sum(span)), lonely)


def _has_half(name: str) -> bool:
    """Return True if there is half of a character in a name, as JSON can write it."""
    return any("\ud800" <= character <= "\udfff" for character in name)


def _chosen(file: Any, request: Columns) -> Roles:
    """The roles of the columns."""
    types = library("pyarrow", "reading Parquet").types
    schema = file.schema_arrow

    def is_numeric(name: str) -> bool:
        kind = schema.field(name).type
        return bool(types.is_integer(kind) or types.is_floating(kind))

    return roles_of(
        _without_index(schema, request),
        is_numeric,
        lambda name: file.read(columns=[name]).column(name).unique().to_pylist(),
        request,
    )


def _without_index(schema: Any, request: Columns) -> list[str]:
    """All columns but those in which pandas has kept its rows' labels, if that is all they are."""
    labels = (schema.pandas_metadata or {}).get("index_columns", [])
    chosen = (*request.named, *request.carry)
    return [
        name
        for name in schema.names
        if name not in labels or end_of(name) or is_weight_title(name) or name in chosen
    ]


def _array(path: Path, column: Any, name: str, role: str, roles: Roles) -> NDArray[Any]:
    if role == "direction":  # its rule says what its values are, and whether one may lack
        return np.array(column.to_pylist(), dtype=object)
    is_gapped = role in ("weight", "back") and roles.direction is not None  # no such arc
    if column.null_count and not is_gapped:
        raise FormatError(path, f"column {name} has {column.null_count:,} empty places")
    values = column.to_numpy()
    if values.dtype == object:
        if not all(isinstance(value, str) for value in values):
            raise FormatError(path, f"column {name} is {column.type}; integers or strings are read")
        if any("\0" in value for value in values):
            raise FormatError(path, f"column {name} has a name with a null character in it")
        check_name_lengths(len(values), max(map(len, values), default=0))
        values = values.astype(np.str_)
    if values.dtype == np.uint64:
        values = as_int64(values, f"a value of column {name}")
    if values.dtype.kind not in "iufbU":
        raise FormatError(path, f"column {name} is {column.type}, which is no number")
    if role == "arc" and values.dtype.kind != "U":
        if values.dtype.kind not in "iu":
            raise FormatError(path, f"column {name} is {column.type}; ids are integers or strings")
        values = values.astype(np.int64)
    return np.asarray(values)


def write(graph: Graph, path: Path) -> None:
    """Write columns ``tail``, ``head`` and ``weight`` in the file's ids, atomically."""
    arrow, pq = library("pyarrow", "writing Parquet"), library("pyarrow.parquet", "writing Parquet")
    kind = arrow.int64() if graph.ids is None or graph.ids.dtype == np.int64 else arrow.string()
    weight = arrow.from_numpy_dtype(graph.weights.dtype)
    fields = [("tail", kind), ("head", kind), ("weight", weight)]
    metadata = {METADATA: json.dumps(_more(graph)).encode()}
    if graph.attribution:
        metadata[b"attribution"] = graph.attribution.encode()
    schema = arrow.schema(fields, metadata=metadata)
    with replacing(path) as file, pq.ParquetWriter(file, schema) as table:
        for tails, heads, weights in arc_blocks(graph, BLOCK):
            ids = (graph.numbering.ids_of(ends) for ends in (tails, heads))
            columns = [arrow.array(ends, kind) for ends in ids]
            table.write_table(arrow.table([*columns, arrow.array(weights, weight)], schema=schema))


def _more(graph: Graph) -> dict[str, Any]:
    if graph.ids is None:
        return {"span": [graph.first_id, graph.vertex_count]}
    has_arcs = np.diff(graph.offsets) > 0
    has_arcs[graph.heads] = True
    return {"lonely": graph.ids[~has_arcs].tolist()}
