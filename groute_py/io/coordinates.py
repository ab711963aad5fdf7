"""Places of vertices: DIMACS coordinate files, ``.co``, compressed or not.

c a comment
p aux sp co 3             vertices
v 1 -73530767 41085396    id from 1, x, y
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import file_path
from groute_py.errors import FormatError, InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.io.companions import companion
from groute_py.io.tables.vertices import SUFFIX as TABLE
from groute_py.io.tables.vertices import places_in_table
from groute_py.io.text.lines import whole_lines

MICRODEGREE = 1e-6
"""The unit of the coordinates of roads in DIMACS files."""


def coordinates_beside(graph: object) -> Path | None:
    """The coordinate file that lies beside a graph file ``x.gr``, compressed or not, if any."""
    return companion(Path(graph), "coordinates") if isinstance(graph, str | Path) else None


def coordinates_for(
    graph: Graph, path: str | os.PathLike[str] | None = None
) -> NDArray[np.float64]:
    """Read x and y of each vertex, float64, shape (n, 2): from a file, or what the graph holds.

    Of a file the suffix says whether it is a table of vertices.
    """
    if path is not None:
        path = file_path("coordinates", path)
        if TABLE.search(path.name):
            return places_in_table(path, graph)
        return read_coordinates(path, graph.numbering.count).astype(np.float64)
    if graph.coordinates is None:
        raise InputError(
            f"{graph.name} has no coordinates; name a file of them (.co) by --coordinates, or "
            "coordinates= in Python"
        )
    return graph.coordinates


def read_coordinates(path: str | os.PathLike[str], vertex_count: int) -> NDArray[np.int64]:
    """Read a coordinate file: int64, shape (n, 2)."""
    path = file_path("coordinates", path)
    rows = [np.empty((0, 3), np.int64)]
    count = 0
    for text, _ in whole_lines(path):
        lines = [line[1:] for line in text.split(b"\n") if line.startswith(b"v")]
        try:
            rows.append(np.array(b" ".join(lines).split(), dtype=np.int64).reshape(-1, 3))
        except (ValueError, OverflowError) as error:
            problem = f"expected lines 'v ID X Y' of whole numbers ({quoted(error)})"
            raise FormatError(path, problem) from error
        count += len(rows[-1])
        if count > vertex_count:
            break
    numbers = np.concatenate(rows)
    ids = numbers[:, 0] - 1
    if len(ids) != vertex_count or not np.array_equal(np.sort(ids), np.arange(vertex_count)):
        more = " and perhaps more" if count > vertex_count else ""
        raise FormatError(
            path,
            f"expected one line for each vertex 1..{vertex_count}, found {len(ids)} lines{more}",
        )
    places = np.empty((vertex_count, 2), dtype=np.int64)
    places[ids] = numbers[:, 1:]
    return places
