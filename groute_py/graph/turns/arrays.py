"""The rows of an expansion; see `groute_py.graph.turns.expanded` for what they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.tails import ranges
from groute_py.graph.turns.ends import Keys, Turns
from groute_py.graph.turns.table import TurnTable, table_of
from groute_py.kernels.cpu.build import index_type
from groute_py.system.memory_limits import check_room


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
    """The turns of a table, or of rows as `table_of` takes them."""
    table = turns if isinstance(turns, TurnTable) else table_of(turns, graph.numbering)
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


ARC_BYTES = 64
"""Size of an arc that leaves a copy, while the expansion is made."""


class Copies(NamedTuple):
    """The c copies of vertices, in ascending order of the vertex and what leads there."""

    vias: NDArray[np.int64]  # (c,)
    before: NDArray[np.int64]  # (c,): which arcs lead to the copy, by their keys
    of_turns: NDArray[np.int64]  # (r,): the copy that each turn is one of

    @classmethod
    def of(cls, rules: Rules) -> Copies:
        """The copies that turns need."""
        vias, before = rules.turns.vias, rules.turns.before
        begins = np.ones(len(vias), np.bool_)
        begins[1:] = (vias[1:] != vias[:-1]) | (before[1:] != before[:-1])
        return cls(vias[begins], before[begins], np.cumsum(begins) - 1)


class ArcStates(NamedTuple):
    """States of a graph's m arcs in its expansion, beside those that leave their tails."""

    heads: NDArray[Any]  # (m,): the state to which each arc leads
    copies: NDArray[np.int64]  # (s,): the state that each arc of a copy leaves
    arcs: NDArray[np.int64]  # (s,): the number of this arc
    costs: NDArray[Any]  # (s,): of the turn to it


class _Slots(NamedTuple):
    """The arcs that leave copies, but for those to their arrivals: s of them, copy by copy."""

    copies: NDArray[np.int64]  # (s,): which copy each leaves
    arcs: NDArray[np.int64]  # (s,)
    heads: NDArray[Any]  # (s,): states
    weights: NDArray[Any]  # (s,), with the costs of turns


def expanded_arrays(
    graph: Graph, rules: Rules, copies: Copies, split: NDArray[np.int64]
) -> tuple[dict[str, NDArray[Any]], ArcStates]:
    """The rows of vertices, of arrivals (which are empty) and of copies, and where arcs lie."""
    count = graph.vertex_count
    heads = _redirected(graph, rules, copies, count + len(split))
    slots = _slots(graph, rules, copies, heads)
    kind = _weight_type(graph.weights.dtype, slots.weights)
    degrees = np.diff(graph.offsets)
    of_copies = np.bincount(slots.copies, minlength=len(copies.vias))
    degrees[split] += 1
    no_arcs = np.zeros(len(split), np.int64)
    row_sizes = np.concatenate([[0], degrees, no_arcs, of_copies + 1]).astype(np.int64)
    row_ends, slot_ends = graph.offsets[split + 1], np.cumsum(of_copies)
    arrivals = count + np.arange(len(split), dtype=heads.dtype)
    own = arrivals[np.searchsorted(split, copies.vias)]
    costs = slots.weights - graph.weights[slots.arcs].astype(slots.weights.dtype)
    states = ArcStates(heads, count + len(split) + slots.copies, slots.arcs, costs)
    all_heads = np.insert(heads, row_ends, arrivals), np.insert(slots.heads, slot_ends, own)
    weights = np.insert(graph.weights, row_ends, 0), np.insert(slots.weights, slot_ends, 0)
    arrays = {
        "offsets": np.cumsum(row_sizes),
        "heads": np.concatenate(all_heads),
        "weights": np.concatenate([some.astype(kind, copy=False) for some in weights]),
    }
    return arrays, states


def _redirected(graph: Graph, rules: Rules, copies: Copies, first: int) -> NDArray[Any]:
    """The heads of all arcs; those with turns lead to copies, the states from ``first`` on."""
    count = graph.vertex_count
    heads = graph.heads.astype(index_type(first + len(copies.vias)))
    is_via = np.zeros(count, np.bool_)
    is_via[copies.vias] = True
    arcs = np.flatnonzero(is_via[graph.heads])
    keys = copies.before * count + copies.vias
    order = np.argsort(keys)
    places = _where(keys[order], rules.keys.into(arcs) * count + graph.heads[arcs])
    hit = order[places[places >= 0]]
    heads[arcs[places >= 0]] = first + hit
    missed = np.setdiff1d(np.arange(len(keys)), hit)
    if len(missed):
        turns = np.flatnonzero(np.isin(copies.of_turns, missed))
        raise rules.problem_in(turns, _no_arc(graph, "{tail}", "{via}"))
    return heads


def _slots(graph: Graph, rules: Rules, copies: Copies, heads: NDArray[Any]) -> _Slots:
    """The arcs that leave copies; ``heads`` has the states that the graph's arcs lead to."""
    which, arcs = _arcs_of(graph, copies.vias)
    span = rules.keys.span
    turns = _where(
        copies.of_turns * span + rules.turns.behind, which * span + rules.keys.out_of(arcs)
    )
    listed = np.flatnonzero(turns >= 0)
    missed = np.setdiff1d(np.arange(len(rules.costs)), turns[listed])
    if len(missed):
        raise rules.problem_in(missed, _no_arc(graph, "{via}", "{head}"))
    weights = graph.weights[arcs]
    weights = weights if weights.dtype.kind == "f" else weights.astype(np.int64)
    weights[listed] = _sums(rules, weights[listed], turns[listed])
    is_allowed = np.ones(len(arcs), np.bool_)
    is_allowed[listed] = ~rules.are_forbidden[turns[listed]]
    which, arcs = which[is_allowed], arcs[is_allowed]
    return _Slots(which, arcs, heads[arcs], weights[is_allowed])


def _sums(rules: Rules, weights: NDArray[Any], turns: NDArray[np.int64]) -> NDArray[Any]:
    """Weights with the costs of turns, int64, or rounded once to the float type."""
    costs = rules.costs[turns]
    with np.errstate(over="ignore"):
        if weights.dtype.kind == "f":
            sums: NDArray[Any] = (weights.astype(np.float64) + costs).astype(weights.dtype)
            is_wrong = ~np.isfinite(sums)
        else:
            sums = weights + costs
            is_wrong = (sums < weights) != (costs < 0)
    if is_wrong.any():
        problem = f"a weight and the cost {{cost}} do not fit in {weights.dtype}"
        raise rules.problem_in(turns[is_wrong], problem)
    return sums


def _arcs_of(
    graph: Graph, vertices: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All arcs that leave some vertices: the state of the vertex, and the number of the arc."""
    firsts = graph.offsets[vertices]
    degrees = graph.offsets[vertices + 1] - firsts
    check_room(ARC_BYTES * int(degrees.sum()), f"{graph.name} with turns")
    return ranges(firsts, degrees)


def _where(ascending: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find keys among ascending ones; −1 for others."""
    if not len(ascending):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.where(ascending[places] == keys, places, -1)


def _no_arc(graph: Graph, tail: str, head: str) -> str:
    name = quoted(graph.name).replace("{", "{{").replace("}", "}}")
    return f"no arc of {name} leads from {tail} to {head}"


def _weight_type(kind: np.dtype[Any], weights: NDArray[Any]) -> np.dtype[Any]:
    """Weight type of the graph, or int64 where a weight with its turn's cost does not fit."""
    if kind.kind == "f" or not len(weights):
        return kind
    limits = np.iinfo(kind)
    fit = limits.min <= weights.min() and weights.max() <= limits.max
    return kind if fit else np.dtype(np.int64)
