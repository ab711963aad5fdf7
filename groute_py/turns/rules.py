"""The turns of a graph, each once, in the order of their copies; the file's rows are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.turns.ends import Keys, Listed
from groute_py.turns.files import read_turns
from groute_py.turns.table import TurnTable, table_of

INT64 = np.iinfo(np.int64)


class Rules(NamedTuple):
    """r turns, in ascending order of via, what they come from, and what they lead to."""

    tails: NDArray[np.int64]
    vias: NDArray[np.int64]
    heads: NDArray[np.int64]
    before: NDArray[np.int64]  # what the turn comes from, as `keys` numbers it
    behind: NDArray[np.int64]  # what it leads to
    costs: NDArray[Any]  # int64, or float64 for float weights; 0 where forbidden
    are_forbidden: NDArray[np.bool_]
    rows: NDArray[np.int64]  # of the table, from 0
    table: TurnTable
    keys: Keys

    def problem_in(self, turns: NDArray[np.int64], problem: str) -> InputError:
        """The error for the first in the table of some turns; ``problem`` may name their ends."""
        turn = int(turns[self.rows[turns].argmin()])
        ends = (self.tails[turn], self.vias[turn], self.heads[turn])
        tail, via, head = (quoted(self.table.numbering.id_of(int(vertex))) for vertex in ends)
        text = problem.format(tail=tail, via=via, head=head, cost=self.costs[turn].item())
        return self.table.problem_in(int(self.rows[turn]), text)


def rules_of(turns: Any, graph: Graph) -> Rules:
    """The turns that a user lists."""
    if isinstance(turns, str | Path):
        table = read_turns(Path(turns), graph.numbering)
    else:
        table = table_of(turns, graph.vertex_count)
    listed = table.listed(graph)
    costs, are_forbidden = (of_rows[listed.rows] for of_rows in _costs(table, graph))
    order = np.lexsort((listed.behind, listed.before, listed.vias))
    begins = np.ones(len(order), np.bool_)
    for column in (listed.before, listed.vias, listed.behind):
        begins[1:] &= column[order[1:]] == column[order[:-1]]
    begins[1:] = ~begins[1:]
    _refuse_contradictions(listed, table, order, begins, costs, are_forbidden)
    each = order[begins]
    tails, vias, heads, before, behind = (column[each] for column in listed[:5])
    found = costs[each], are_forbidden[each], listed.rows[each]
    return Rules(tails, vias, heads, before, behind, *found, table, listed.keys)


def _costs(table: TurnTable, graph: Graph) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The cost of each row, 0 where it is forbidden, and whether it is."""
    kind = np.float64 if graph.weights.dtype.kind == "f" else np.int64
    costs = np.zeros(len(table.costs), kind)
    are_forbidden = np.zeros(len(costs), np.bool_)
    for row in range(len(costs)):
        cost = table.cost(row)
        if cost is None:
            are_forbidden[row] = True
        elif kind is np.int64 and isinstance(cost, float) and not cost.is_integer():
            problem = f"cost {cost} is no integer, but the weights of {quoted(graph.name)} are"
            raise table.problem_in(row, problem)
        elif kind is np.int64 and not INT64.min <= cost <= INT64.max:
            raise table.problem_in(row, f"cost {quoted(cost)} does not fit in int64")
        else:
            costs[row] = _as_float(table, row, cost) if kind is np.float64 else int(cost)
    return costs, are_forbidden


def _as_float(table: TurnTable, row: int, cost: int | float) -> float:
    try:
        return float(cost)
    except OverflowError:
        raise table.problem_in(row, f"cost {quoted(cost)} does not fit in float64") from None


def _refuse_contradictions(
    listed: Listed,
    table: TurnTable,
    order: NDArray[np.int64],
    begins: NDArray[np.bool_],
    costs: NDArray[Any],
    are_forbidden: NDArray[np.bool_],
) -> None:
    """Raise an error for the first row with the turn of one above it at another cost."""
    if not len(order):
        return
    firsts = order[begins][np.cumsum(begins) - 1]
    differs = (costs[order] != costs[firsts]) | (are_forbidden[order] != are_forbidden[firsts])
    if differs.any():
        turn, first = min(zip(order[differs].tolist(), firsts[differs].tolist(), strict=True))
        before, now = (
            "forbidden" if are_forbidden[one] else f"at cost {costs[one]}" for one in (first, turn)
        )
        row = int(listed.rows[turn])
        raise table.problem_in(row, f"the same turn is {before} in a line above, and {now} here")
