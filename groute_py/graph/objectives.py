"""Objectives: what the best path is; each becomes least distances of a graph with other weights.

Less is better in the kernels, and they can only add weights or take the greatest of them
(`groute_py.kernels.cpu.algebra`). So

* ``minimax`` makes of each weight its rank among all weights, and takes the greatest;
* ``widest`` does the same with the weights in falling order;
* ``reliable`` makes of each probability −ln of it, as a float64, and leaves out arcs of 0;
* ``fewest-arcs`` adds to each weight one unit that is greater than the length of any path.

An expression of users (`groute_py.graph.operators`) leaves weights as they are, but for their type.

Ranks are exact. With ``reliable`` the value of a path of k arcs and of probability p has a relative
error of about (k + 2)·|ln p|·1.1·10⁻¹⁶, and of paths that differ by less any may be taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, check_choice, quoted
from groute_py.graph.csr import Graph, of_arcs
from groute_py.graph.operators import operator_for, parsed
from groute_py.graph.read_report import of_other_weights, title_of_weights
from groute_py.graph.scale import LARGEST, Logarithms, Pairs, Ranks, Scale


def for_objective(graph: Graph, objective: str) -> Graph:
    """Return the graph, in host memory, whose least distances are the best values.

    One that was changed stays as it is.

    Raises:
        GraphError: the weights do not suit the objective.

    >>> graph = Graph.from_arrays([0, 2, 3, 3], [1, 2, 2], [4, 9, 3])
    >>> widest = for_objective(graph, "widest")
    >>> widest.weights.tolist(), widest.scale.table.tolist()
    ([2, 1, 3], [9, 9, 4, 3])
    """
    check_objective(objective)
    if graph.scale is not None:
        return graph
    change = _CHANGES.get(objective)
    return _with_operator(graph.to_host(), objective) if change is None else change(graph.to_host())


def check_objective(objective: Any) -> None:
    """Raise `InputError` for what is neither the name of an objective nor an expression."""
    if not isinstance(objective, str) or _NAME.fullmatch(objective):
        check_choice("objective", objective, ("shortest", *_CHANGES, "an expression"))
    else:
        parsed(objective)


def _with_operator(graph: Graph, expression: str) -> Graph:
    weights = graph.weights
    if (weights < 0).any():
        raise GraphError(f"{_arc(graph, weights < 0)}; an expression takes no negative ones")
    operator = operator_for(expression, weights, graph.name)
    reading = of_other_weights(graph.reading)
    return _weighed(graph, weights.astype(operator.type), operator, reading)


def _ranked(graph: Graph, *, falls: bool) -> Graph:
    """Return the graph with the ranks of its weights, from 1 on."""
    kind = graph.weights.dtype if graph.weights.dtype.kind == "f" else np.dtype(np.int64)
    weights, ranks = _distinct(graph.weights)
    if len(weights) >= np.iinfo(np.int32).max:
        raise GraphError(f"{quoted(graph.name)} has {len(weights):,} weights; ranks have 31 bits")
    if kind.kind != "f" and len(weights) and weights[-1] == LARGEST:
        raise GraphError(
            f"{quoted(graph.name)} has a weight of {LARGEST}, which stands for no path"
        )
    if falls:
        weights, ranks = weights[::-1], len(weights) - 1 - ranks
    best = weights[:1] if falls and len(weights) else np.minimum(weights[:1].sum(), 0)
    table = np.append(best, weights).astype(kind)
    is_titled = graph.column in (None, title_of_weights(graph.reading))
    reading = graph.reading if is_titled else of_other_weights(graph.reading)
    return _weighed(graph, (ranks + 1).astype(np.int32), Ranks(table, falls), reading)


def _distinct(weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the different weights, ascending, and the number of each weight among them."""
    if weights.dtype.kind != "f" and len(weights):
        least, greatest = int(weights.min()), int(weights.max())
        if greatest - least < len(weights):  # no need to sort
            places = weights.astype(np.int64) - least
            there = np.zeros(greatest - least + 1, np.bool_)
            there[places] = True
            return np.flatnonzero(there) + least, (np.cumsum(there) - 1)[places]
    return np.unique(weights, return_inverse=True)


def _reliable(graph: Graph) -> Graph:
    weights = graph.weights.astype(np.float64)
    wrong = (weights < 0) | (weights > 1)
    if wrong.any():
        raise GraphError(
            f"{_arc(graph, wrong)}; the objective reliable takes probabilities, from 0 to 1"
        )
    there = weights > 0
    if not there.all():
        counts = np.append(0, np.cumsum(there))
        arcs = of_arcs(graph, np.flatnonzero(there))
        offsets, heads = counts[graph.offsets], graph.heads[there]
        graph = graph.changed(offsets=offsets, heads=heads, **arcs)
    costs = 0.0 - np.log(weights[there])  # 0.0 for a probability of 1, not −0.0
    return _weighed(graph, costs, Logarithms(), of_other_weights(graph.reading))


def _fewest_arcs(graph: Graph) -> Graph:
    weights = graph.weights
    if weights.dtype.kind == "f":
        raise GraphError(
            f"{quoted(graph.name)} has {weights.dtype} weights, and fewest-arcs takes integers; "
            "scale and round them"
        )
    if (weights < 0).any():
        raise GraphError(f"{_arc(graph, weights < 0)}; fewest-arcs takes no negative ones")
    most_arcs = max(graph.vertex_count - 1, 1)
    bits = (most_arcs * int(weights.max(initial=0))).bit_length()
    if (most_arcs + 1) << bits > LARGEST:
        raise GraphError(
            f"paths of {quoted(graph.name)} may have {most_arcs:,} arcs of up to {weights.max()}, "
            "and both numbers do not fit in 63 bits; scale the weights down"
        )
    costs = weights.astype(np.int64) + (1 << bits)
    return _weighed(graph, costs, Pairs(bits), of_other_weights(graph.reading))


def _arc(graph: Graph, wrong: NDArray[np.bool_]) -> str:
    """Name the first arc that is wrong, and its weight."""
    arc = int(wrong.argmax())
    tail = graph.numbering.id_of(int(np.searchsorted(graph.offsets, arc, "right")) - 1)
    ends = f"{tail} to {graph.numbering.id_of(int(graph.heads[arc]))}"
    return f"{quoted(graph.name)} has a weight of {graph.weights[arc]} from {ends}"


def _weighed(graph: Graph, weights: NDArray[Any], scale: Scale, reading: Any) -> Graph:
    return graph.changed(weights=weights, scale=scale, reading=reading)


_NAME = re.compile(r"[a-z]+(-[a-z]+)?")

_CHANGES: dict[str, Callable[[Graph], Graph]] = {
    "minimax": partial(_ranked, falls=False),
    "widest": partial(_ranked, falls=True),
    "reliable": _reliable,
    "fewest-arcs": _fewest_arcs,
}
"""The objectives but the shortest path, for which no graph is changed."""
