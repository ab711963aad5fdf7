"""What listed turns lead between: three vertices each, or two arcs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Numbering
from groute_py.turns.keys import EndKeys, Keys

ROLES = ("tail", "via", "head")
"""The vertices of a turn, from an arc (tail, via) to an arc (via, head)."""

ProblemIn = Callable[[int, str], InputError]
"""Makes the error for a row of a table, counted from 0, and what is wrong there."""


class Listed(NamedTuple):
    """Turns of a graph, in ascending order of their rows.

    Attributes:
        tails, vias, heads: int64, shape (t,), vertices.
        before, behind: int64, shape (t,), what the turns lead between, as `keys` numbers it.
        rows: of the table, shape (t,), from 0.
        keys: which identify the turns.
    """

    tails: NDArray[np.int64]
    vias: NDArray[np.int64]
    heads: NDArray[np.int64]
    before: NDArray[np.int64]
    behind: NDArray[np.int64]
    rows: NDArray[np.int64]
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
