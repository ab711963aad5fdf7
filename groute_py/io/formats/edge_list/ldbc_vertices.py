"""The vertices of an LDBC Graphalytics graph: ``x.v`` beside the edges ``x.e``, an id a line."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError
from groute_py.graph.builder import INT64
from groute_py.graph.csr import Graph
from groute_py.io.companions import companion
from groute_py.io.compression import bare_name, packing
from groute_py.io.formats.edge_list.fields import as_integer
from groute_py.io.text.lines import shown, whole_lines
from groute_py.system.atomic_file import replacing
from groute_py.system.memory_limits import check_room


def vertices_beside(path: Path) -> NDArray[np.int64] | None:
    """The ids in the file ``x.v`` beside ``x.e``, int64, if there is one."""
    vertices = companion(path, "vertices")
    return None if vertices is None else _read_vertices(vertices)


def _read_vertices(path: Path) -> NDArray[np.int64]:
    ids, line = array("q"), 0
    for text, _ in whole_lines(path):
        check_room(ids.itemsize * len(ids), f"{path}: more than {len(ids):,} vertices")
        for field in text.split(b"\n")[:-1]:
            line += 1
            number = as_integer(field.strip())
            if field.strip() and (number is None or not INT64.min <= number <= INT64.max):
                raise FormatError(path, f"expected a vertex, got {shown(field)}", line=line)
            ids.extend(() if number is None else (number,))
    return np.array(ids, np.int64)


@contextmanager
def vertices_written(graph: Graph, path: Path) -> Iterator[None]:
    """Write ``x.v``, compressed like ``x.e``; it is there once the block has written that."""
    suffix = path.name[len(bare_name(path)) :]
    beside = path.parent / f"{bare_name(path).removesuffix('.e')}.v{suffix}"
    if beside.exists() and not (path.exists() and _holds_vertices(beside)):
        problem = f"{beside} is there already and would be overwritten; write another name"
        raise InputError(f"{path}: {problem}")
    ids = graph.numbering.ids_of(np.arange(graph.vertex_count))
    with replacing(beside) as file:
        with packing(beside, file) as packed:
            packed.write("".join(f"{vertex}\n" for vertex in ids.tolist()).encode())
        file.flush()  # a full disk says so before the edges are there
        yield


def _holds_vertices(path: Path) -> bool:
    try:
        _read_vertices(path)
    except FormatError:
        return False
    return True
