"""Parquet edge tables: columns of tails, heads and maybe weights.

Columns are found by their names, as `groute_py.graph.columns` says. Tails and heads are integers or
strings. Which vertices have no arcs is kept beside
the table, in the metadata ``groute-py``, which other programs pass over.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GraphError, GrouteError, InputError, SetupError
from groute_py.graph.arc_text import arc_blocks
from groute_py.graph.arcs import INT64
from groute_py.graph.atomic import replacing
from groute_py.graph.columns import HEADS, TAILS, as_int64, chosen_columns, is_weight_title
from groute_py.graph.csr import Graph
from groute_py.graph.head import Head
from groute_py.graph.ids import numbered
from groute_py.graph.libraries import library
from groute_py.graph.lines import Progress
from groute_py.graph.memory import check_name_lengths, check_room, check_vertex_count
from groute_py.kernels.cpu.build import csr_from_arcs, index_type

MAGIC = b"PAR1"
METADATA = b"groute-py"
BLOCK = 1 << 20
"""Arcs in a row group."""


def sniff(head: Head) -> bool:
    """Whether it begins with the magic."""
    return head.text.startswith(MAGIC)


class Kept(NamedTuple):
    """What our metadata say of vertices: that all in a span are there, or which have no arcs."""

    span: range | None
    lonely: list[Any]


def read(path: Path, progress: Progress | None = None) -> Graph:
    """Read an edge table.

    Raises:
        FormatError: it is damaged, has other columns, or larger than memory.
        SetupError: PyArrow is not installed.
    """
    columns, kept = _columns(path)
    weights = columns[2] if len(columns) > 2 else np.ones(len(columns[0]), np.int32)
    tails, heads = columns[:2]
    if kept.span is not None:
        first, ids, count = kept.span.start, None, len(kept.span)
        content = sum(column.nbytes for column in columns)
        check_vertex_count(path, count, max(content, path.stat().st_size))
        _check_ends(path, columns[:2], kept.span)
        tails, heads = (ends.astype(np.int64, copy=False) - first for ends in (tails, heads))
    elif tails.dtype.kind in "iu":
        lonely = np.array(kept.lonely, np.int64)
        first, ids, count, tails, heads = numbered(tails, heads, lonely)
    else:
        names = np.concatenate([tails, heads, np.array(kept.lonely, np.str_)])
        ids, places = np.unique(names, return_inverse=True)
        first, count = 0, len(ids)
        tails, heads = np.split(places[: 2 * len(tails)], 2)
    try:
        wanted = index_type(count)
        offsets, heads, weights = csr_from_arcs(
            count, tails.astype(wanted), heads.astype(wanted), weights
        )
        graph = Graph.from_arrays(offsets, heads, weights, first_id=first, name=path.stem)
    except GraphError as error:
        raise FormatError(path, str(error)) from error
    if ids is None:
        return graph
    return Graph(graph.offsets, graph.heads, graph.weights, name=graph.name, ids=ids)


def _check_ends(path: Path, columns: list[NDArray[Any]], span: range) -> None:
    for ends in columns:
        if len(ends) and not (span.start <= ends.min() and ends.max() < span.stop):
            raise FormatError(path, f"an id is outside the range {span.start}..{span.stop - 1}")


def _columns(path: Path) -> tuple[list[NDArray[Any]], Kept]:
    """Tails, heads and maybe weights; and what the metadata say."""
    pq = library("pyarrow.parquet", "reading Parquet")
    try:
        with pq.ParquetFile(path) as file:
            names = _chosen(path, file.schema_arrow)
            rows = file.metadata.num_rows
            check_room(8 * len(names) * rows, f"{path}: {rows:,} arcs")
            table = file.read(columns=names)
            more = json.loads((file.schema_arrow.metadata or {}).get(METADATA, b"{}"))
            arrays = [_array(path, table.column(name), name) for name in names]
    except (FormatError, SetupError):
        raise
    except GraphError as error:
        raise FormatError(path, str(error)) from error
    except GrouteError:  # of a signal handler
        raise
    except Exception as error:
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(path, f"damaged Parquet: {problem}") from error
    kinds = arrays[0].dtype.kind, arrays[1].dtype.kind
    if kinds[0] not in "iuU" or (kinds[0] == "U") != (kinds[1] == "U") or kinds[1] not in "iuU":
        problem = f"tails are {arrays[0].dtype} and heads {arrays[1].dtype}; integers or strings"
        raise FormatError(path, f"{problem} are read")
    if not isinstance(more, dict):
        raise FormatError(path, f"damaged Parquet: its metadata {METADATA.decode()} are no object")
    return arrays, _kept(path, more, str if kinds[0] == "U" else int)


def _kept(path: Path, more: Any, kind: type) -> Kept:
    """What our metadata say, after a look at it: any program may have written it."""
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
    return Kept(None if span is None else range(span[0], sum(span)), lonely)


def _has_half(name: str) -> bool:
    """Whether there is half of a character in a name, as JSON can write it."""
    return any("\ud800" <= character <= "\udfff" for character in name)


def _chosen(path: Path, schema: Any) -> list[str]:
    """The columns of tails, heads and weights."""
    types = library("pyarrow", "reading Parquet").types

    def is_numeric(name: str) -> bool:
        kind = schema.field(name).type
        return bool(types.is_integer(kind) or types.is_floating(kind))

    try:
        chosen = chosen_columns(_without_index(schema), is_numeric)
    except GraphError as error:
        raise FormatError(path, str(error)) from error
    return [name for name in chosen if name is not None]


def _without_index(schema: Any) -> list[str]:
    """All columns but those in which pandas has kept its rows' labels, if that is all they are."""
    labels = (schema.pandas_metadata or {}).get("index_columns", [])
    known = (*TAILS, *HEADS)
    return [
        name
        for name in schema.names
        if name not in labels or name.lower() in known or is_weight_title(name)
    ]


def _array(path: Path, column: Any, name: str) -> NDArray[Any]:
    if column.null_count:
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
    return np.asarray(values)


def write(graph: Graph, path: Path) -> None:
    """Write columns ``tail``, ``head`` and ``weight`` in the file's ids, atomically.

    Raises:
        InputError: the suffix is of a compression, which such a file does not need.
        SetupError: PyArrow is not installed.
    """
    if path.suffix != ".parquet":
        raise InputError(f"{path}: a Parquet file is compressed already; write .parquet")
    arrow, pq = library("pyarrow", "writing Parquet"), library("pyarrow.parquet", "writing Parquet")
    kind = arrow.int64() if graph.ids is None or graph.ids.dtype == np.int64 else arrow.string()
    weight = arrow.from_numpy_dtype(graph.weights.dtype)
    fields = [("tail", kind), ("head", kind), ("weight", weight)]
    schema = arrow.schema(fields, metadata={METADATA: json.dumps(_more(graph)).encode()})
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
