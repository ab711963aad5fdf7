"""How large a graph is: what can be told before its arcs are read."""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """Vertices and arcs of a graph; what a file promises of itself, so not to be believed."""

    vertices: int
    arcs: int
