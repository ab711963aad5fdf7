"""The part of a text file that one rank has read, if all ranks read it together."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from groute_py.graph.read_report import Reading


class Piece(NamedTuple):
    """Arcs between ids, from consecutive lines.

    Attributes:
        name: what to call the graph.
        tails: integers, shape (m,), ids less `least`; so are the heads.
        heads: shape (m,).
        weights: int32, int64 or float64, shape (m,).
        least: of all ids, or 0.
        vertices: the ids that there are, where the file says so.
        vertex_count: how many there are, where the file says that alone.
        arc_count: how many arcs the file says it has in all.
        reading: how its lines were read, of a table.
    """

    name: str
    tails: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any]
    least: int = 0
    vertices: range | None = None
    vertex_count: int | None = None
    arc_count: int | None = None
    reading: Reading | None = None
