"""The size of a graph, which is known before its arcs are read."""

from __future__ import annotations

from typing import Any, NamedTuple


class Size(NamedTuple):
    """Numbers of vertices and arcs; a file may state them wrongly."""

    vertices: int
    arcs: int

    @classmethod
    def of(cls, graph: Any) -> Size:
        """Return the size of a graph, or of one with some `Facts`."""
        return cls(graph.vertex_count, graph.arc_count)
