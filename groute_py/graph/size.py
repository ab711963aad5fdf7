"""The size of a graph, which is known before its arcs are read."""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """Numbers of vertices and arcs; a file may state them wrongly."""

    vertices: int
    arcs: int
