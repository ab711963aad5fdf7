"""What is known of each turn that is listed: checked against the arcs of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import quoted
from groute_py.graph.csr import Graph
from groute_py.turns.files import read_turns
from groute_py.turns.table import TurnTable, table_of

INT64 = np.iinfo(np.int64)


class Rule(NamedTuple):
    """A turn: from every arc (tail, via) to every arc (via, head).

    Attributes:
        tail, via, head: vertices.
        weights: of the arcs (via, head) behind this turn, in the order of their row: int64 or the
            float type of the graph; None if the turn is forbidden.
    """

    tail: int
    via: int
    head: int
    weights: NDArray[Any] | None


def rules_of(turns: Any, graph: Graph) -> list[Rule]:
    """The turns of a graph, each once.

    Args:
        turns: the path of a file, or rows as for `groute_py.turns.table.table_of`.
        graph: in host memory.

    Raises:
        InputError: a row has no vertices or arcs of the graph, no cost, one that does not fit, or
            the turn of another row at another cost; with the line.
    """
    if isinstance(turns, str | Path):
        table = read_turns(Path(turns), graph.numbering)
    else:
        table = table_of(turns, graph.vertex_count)
    known: dict[tuple[int, int, int], int | float | None] = {}
    rules: list[Rule] = []
    tails, vias, heads = (column.tolist() for column in table.indices(graph.name))
    for row, turn in enumerate(zip(tails, vias, heads, strict=True)):
        cost = table.cost(row)
        if turn not in known:
            known[turn] = cost
            rules.append(Rule(*turn, _weights(graph, table, row, turn, cost)))
        elif known[turn] != cost:
            before, now = (_shown(value) for value in (known[turn], cost))
            raise table.problem_in(
                row, f"the same turn is {before} in a line above, and {now} here"
            )
    return rules


def arcs_between(graph: Graph, tail: int, head: int) -> NDArray[np.int64]:
    """The numbers of all arcs from the one vertex to the other."""
    first, stop = graph.offsets[tail], graph.offsets[tail + 1]
    found: NDArray[np.int64] = first + np.flatnonzero(graph.heads[first:stop] == head)
    return found


def _weights(
    graph: Graph,
    table: TurnTable,
    row: int,
    turn: tuple[int, int, int],
    cost: int | float | None,
) -> NDArray[Any] | None:
    """The weights of the arcs behind a turn, and its cost."""
    tail, via, head = turn
    _arcs_there(graph, table, row, tail, via)
    behind = _arcs_there(graph, table, row, via, head)
    if cost is None:
        return None
    weights = graph.weights[behind]
    if weights.dtype.kind == "f":
        return _float_sums(table, row, weights, cost)
    if not isinstance(cost, int):
        if not cost.is_integer():
            problem = f"cost {cost} is no integer, but the weights of {quoted(graph.name)} are"
            raise table.problem_in(row, problem)
        cost = int(cost)
    sums = [weight + cost for weight in weights.tolist()]  # of any size
    if not all(INT64.min <= total <= INT64.max for total in sums):
        raise table.problem_in(row, f"weight and cost {quoted(cost)} do not fit in int64")
    return np.array(sums, np.int64)


def _arcs_there(
    graph: Graph, table: TurnTable, row: int, tail: int, head: int
) -> NDArray[np.int64]:
    """As `arcs_between`; to have none is an error of the row."""
    found = arcs_between(graph, tail, head)
    if not len(found):
        names = [quoted(graph.numbering.id_of(vertex)) for vertex in (tail, head)]
        problem = f"no arc of {quoted(graph.name)} leads from {names[0]} to {names[1]}"
        raise table.problem_in(row, problem)
    return found


def _float_sums(
    table: TurnTable, row: int, weights: NDArray[Any], cost: int | float
) -> NDArray[Any]:
    """Rounded once to the type of the weights."""
    with np.errstate(over="ignore"):
        try:
            sums = (weights.astype(np.float64) + float(cost)).astype(weights.dtype)
        except OverflowError:
            sums = np.full(1, np.inf)
    if not np.isfinite(sums).all():
        raise table.problem_in(row, f"weight and cost {quoted(cost)} do not fit in {weights.dtype}")
    return sums


def _shown(cost: int | float | None) -> str:
    return "forbidden" if cost is None else f"at cost {cost}"
