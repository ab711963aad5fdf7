"""What identifies turns: the vertices of their arcs, or the arcs themselves."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph


class Keys(Protocol):
    """Numbers of arcs before and behind a via, from 0 to ``span`` − 1.

    Arcs to a via that have one number are alike in all turns, and so are arcs that leave it.
    """

    span: int

    def into(self, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of arcs that a turn comes from, shape (k,)."""

    def out_of(self, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of arcs that a turn leads to, shape (k,)."""


class EndKeys:
    """An arc is its other end, so that parallel arcs are one."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self.span = graph, graph.vertex_count

    def into(self, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
        return tails_of(self._graph, arcs)

    def out_of(self, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._graph.heads[arcs].astype(np.int64)


class ArcKeys:
    """Each arc is one of its own."""

    def __init__(self, graph: Graph) -> None:
        self.span = graph.arc_count

    def into(self, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
        return arcs

    def out_of(self, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
        return arcs


def tails_of(graph: Graph, arcs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The tails of some arcs, shape (k,)."""
    return np.searchsorted(graph.offsets, arcs, side="right") - 1
