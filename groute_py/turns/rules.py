"""The turns of a graph, each once, in the order of their copies; the file's rows are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.turns.ends import Keys, Turns
from groute_py.turns.files import TurnTable, read_turns, table_of


class Rules(NamedTuple):
    """r turns, in ascending order of via, what they come from, and what they lead to."""

    turns: Turns
    keys: Keys
    costs: NDArray[Any]  # int64, or float64 for float weights; 0 where forbidden
    are_forbidden: NDArray[np.bool_]
    table: TurnTable

    def problem_in(self, turns: NDArray[np.int64], problem: str) -> InputError:
        """The error for the first in the table of some turns; ``problem`` may name their ends."""
        turn = int(turns[self.turns.rows[turns].argmin()])
        ends = (column[turn].item() for column in self.turns[:3])
        tail, via, head = (quoted(self.table.numbering.id_of(vertex)) for vertex in ends)
        text = problem.format(tail=tail, via=via, head=head, cost=self.costs[turn].item())
        return self.table.problem_in(int(self.turns.rows[turn]), text)


def rules_of(turns: Any, graph: Graph) -> Rules:
    """The turns that a user lists."""
    if isinstance(turns, str | Path):
        table = read_turns(Path(turns), graph.numbering)
    else:
        table = table_of(turns, graph.numbering)
    listed, keys = table.ends.turns(graph, table.numbering, table.problem_in)
    costs, are_forbidden = (of_rows[listed.rows] for of_rows in _costs(table, graph))
    order = np.lexsort((listed.behind, listed.before, listed.vias))
    begins = np.zeros(len(order), np.bool_)
    begins[:1] = True
    for column in (listed.before, listed.vias, listed.behind):
        begins[1:] |= column[order[1:]] != column[order[:-1]]
    _refuse_contradictions(listed, table, order, begins, costs, are_forbidden)
    each = order[begins]
    return Rules(listed.some(each), keys, costs[each], are_forbidden[each], table)


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
        else:
            try:
                costs[row] = cost if kind is np.float64 else int(cost)
            except OverflowError:
                problem = f"cost {quoted(cost)} does not fit in {np.dtype(kind)}"
                raise table.problem_in(row, problem) from None
    return costs, are_forbidden


def _refuse_contradictions(
    listed: Turns,
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
