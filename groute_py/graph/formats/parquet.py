"""Parquet edge tables: columns of tails, heads and maybe weights.

Columns are found by their names (`TAILS`, `HEADS`, `WEIGHTS`), else they are the first, the second
and the third. Tails and heads are integers or strings. Which vertices have no arcs is kept beside
the table, in the metadata ``groute-py``, which other programs pass over.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GraphError, InputError
from groute_py.graph.arc_text import arc_blocks
from groute_py.graph.atomic import replacing
from groute_py.graph.csr import Graph
from groute_py.graph.head import Head
from groute_py.graph.ids import numbered
from groute_py.graph.libraries import library
from groute_py.graph.lines import Progress
from groute_py.graph.memory import available_bytes
from groute_py.kernels.cpu.build import csr_from_arcs, index_type

MAGIC = b"PAR1"
TAILS = ("tail", "source", "src", "from", "u")
HEADS = ("head", "target", "destination", "dst", "to", "v")
WEIGHTS = ("weight", "w", "cost", "length", "distance", "wgt", "weights")
METADATA = b"groute-py"
BLOCK = 1 << 20
"""Arcs in a row group."""


def sniff(head: Head) -> bool:
    """Whether it begins with the magic."""
    return head.text.startswith(MAGIC)


def read(path: Path, progress: Progress | None = None) -> Graph:
    """Read an edge table.

    Raises:
        FormatError: it is damaged, has other columns, or larger than memory.
        SetupError: PyArrow is not installed.
    """
    columns, more = _columns(path)
    weights = columns[2] if len(columns) > 2 else np.ones(len(columns[0]), np.int32)
    if "span" in more:
        first, count = more["span"]
        ids, tails, heads = None, columns[0] - first, columns[1] - first
    elif columns[0].dtype.kind in "iu":
        lonely = np.array(more.get("lonely", []), np.int64)
        first, ids, count, tails, heads = numbered(columns[0], columns[1], lonely)
    else:
        names = np.concatenate([*columns[:2], np.array(more.get("lonely", []), np.str_)])
        ids, places = np.unique(names, return_inverse=True)
        first, count = 0, len(ids)
        tails, heads = places[: len(columns[0])], places[len(columns[0]) :][: len(columns[1])]
    try:
        if len(tails) and (min(tails.min(), heads.min()) < 0 or tails.max() >= count):
            raise GraphError(f"an id is outside the range {first}..{first + count - 1}")
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


def _columns(path: Path) -> tuple[list[NDArray[Any]], dict[str, Any]]:
    """Tails, heads and maybe weights; and what the metadata say."""
    pq = library("pyarrow.parquet", "reading Parquet")
    try:
        with pq.ParquetFile(path) as file:
            names = _chosen(path, file.schema_arrow.names)
            rows, available = file.metadata.num_rows, available_bytes()
            if available is not None and 8 * len(names) * rows > available:
                raise FormatError(path, f"{rows:,} arcs need more memory than is available")
            table = file.read(columns=names)
            more = json.loads((file.schema_arrow.metadata or {}).get(METADATA, b"{}"))
            arrays = [_array(path, table.column(name), name) for name in names]
    except FormatError:
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
    return arrays, more


def _chosen(path: Path, names: list[str]) -> list[str]:
    """The columns of tails, heads and weights."""
    if len(names) < 2:
        raise FormatError(path, f"expected columns of tails and heads, got {', '.join(names)}")
    lower = {name.lower(): name for name in names}
    found = [next((lower[k] for k in known if k in lower), None) for known in (TAILS, HEADS)]
    ends = [name for name in found if name is not None]
    if len(ends) < 2:
        return names[:3]
    weight = next((lower[k] for k in WEIGHTS if k in lower), None)
    return ends if weight is None else [*ends, weight]


def _array(path: Path, column: Any, name: str) -> NDArray[Any]:
    if column.null_count:
        raise FormatError(path, f"column {name} has {column.null_count:,} empty places")
    values = column.to_numpy()
    if values.dtype == object:
        if not all(isinstance(value, str) for value in values):
            raise FormatError(path, f"column {name} is {column.type}; integers or strings are read")
        values = values.astype(np.str_)
    if values.dtype.kind == "u" and values.dtype.itemsize == 8:
        values = values.astype(np.int64)
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
