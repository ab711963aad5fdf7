"""The direction in which paths follow the arcs of a graph."""

from __future__ import annotations

from enum import Enum

from groute_py.errors import NegativeCycleError
from groute_py.graph.csr import Graph


class Direction(Enum):
    """``Direction(reverse)`` is that of a user's choice ``reverse``."""

    FORWARD = False
    """From a source, along the arcs."""

    BACKWARD = True
    """To a source: along the arcs of the reversed graph."""

    @property
    def other(self) -> Direction:
        """The opposite direction."""
        return Direction(not self.value)

    def of(self, graph: Graph) -> Graph:
        """The graph whose arcs lead in this direction, of one whose arcs lead forward."""
        return graph.reversed() if self is Direction.BACKWARD else graph

    def of_cycle(self, error: NegativeCycleError) -> NegativeCycleError:
        """The cycle of the graph as it was given, of one of the graph in this direction."""
        return error.reversed() if self is Direction.BACKWARD else error
