"""A graph whose arcs are turned round, and whose hierarchy is kept for both directions."""

from __future__ import annotations

from groute_py.hierarchy.prepared import PreparedGraph
from groute_py.source.base import Supply
from groute_py.source.whole import Whole


class TurnedRound(Whole):
    """The graph of another supply with its arcs turned round, on rank 0.

    The hierarchy is kept as one of the graph as it was given, so that the next run finds it,
    whatever its direction. Therefore that graph stays in memory too.

    Args:
        given: the other supply, which keeps hierarchies.
    """

    def __init__(self, given: Supply) -> None:
        super().__init__(given.graph().reversed())
        self._given = given

    def keep(self, graph: PreparedGraph) -> None:
        self._graph = graph
        self._given.keep(PreparedGraph(self._given.graph(), graph.hierarchy.reversed()))
