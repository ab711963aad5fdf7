"""The ends of listed turns, three vertices or two arcs, and the numbers that identify them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Numbering

ROLES = ("tail", "via", "head")
"""The vertices of a turn, from an arc (tail, via) to an arc (via, head)."""

ProblemIn = Callable[[int, str], InputError]
"""Makes the error for a row of a table, counted from 0, and what is wrong there."""


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


class Listed(NamedTuple):
    """Turns of a graph, in ascending order of their rows; all arrays have the shape (t,)."""

    tails: NDArray[np.int64]
    vias: NDArray[np.int64]
    heads: NDArray[np.int64]
    before: NDArray[np.int64]  # what the turn comes from, as `keys` numbers it
    behind: NDArray[np.int64]  # what it leads to
    rows: NDArray[np.int64]  # of the table, from 0
    keys: Keys


class Ends(Protocol):
    """The columns of a table beside the costs."""

    def listed(self, graph: Graph, numbering: Numbering, problem_in: ProblemIn) -> Listed:
        """The turns that rows are; see `groute_py.turns.table.TurnTable.listed`."""


@dataclass(frozen=True)
class VertexEnds:
    """The ids of three vertices for each row, shape (k,) each."""

    tails: list[Any]
    vias: list[Any]
    heads: list[Any]

    def listed(self, graph: Graph, numbering: Numbering, problem_in: ProblemIn) -> Listed:
        columns = zip(ROLES, (self.tails, self.vias, self.heads), strict=True)
        tails, vias, heads = (
            _indices(ids, role, graph.name, numbering, problem_in) for role, ids in columns
        )
        return Listed(tails, vias, heads, tails, heads, np.arange(len(tails)), EndKeys(graph))


def _indices(
    ids: list[Any], role: str, graph: str, numbering: Numbering, problem_in: ProblemIn
) -> NDArray[np.int64]:
    try:
        return numbering.indices_of(ids, role, graph)
    except InputError:
        for row, vertex in enumerate(ids):
            try:
                numbering.index_of(vertex, role, graph)
            except InputError as problem:
                raise problem_in(row, str(problem)) from None
        raise
