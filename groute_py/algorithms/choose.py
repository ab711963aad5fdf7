"""The choice of a method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from groute_py.algorithms import methods
from groute_py.algorithms.methods import Algorithm
from groute_py.arguments import check_choice
from groute_py.device.registry import NEAR_FAR, Makers
from groute_py.errors import InputError
from groute_py.graph.facts import FULL_ROWS, Facts

DENSE_SHARE = 0.25
"""Share of pairs with an arc from which a GPU relaxes everything at once."""

FEW_VERTICES, EVEN = 1 << 14, 4.0
"""With so few vertices, and `FULL_ROWS`, min-plus products win on a GPU if no vertex has more than
so many times the mean degree: its row is one warp's work."""


class MethodChoice(NamedTuple):
    """A method, and why that one."""

    method: Algorithm
    reason: str


def algorithms() -> dict[str, Algorithm]:
    """Every method by name."""
    return {method.name: method for method in methods.ALGORITHMS}


def check_name(name: str) -> None:
    """Raise `InputError` for a name that is neither a method's nor ``auto``."""
    check_choice("algorithm", name, ("auto", *algorithms()))


def devices_of(name: str) -> Makers:
    """The devices that a method, or ``auto``, can use."""
    return NEAR_FAR if name == "auto" else algorithms()[name].devices


def algorithm(name: str, facts: Facts, device: str, ranks: int) -> MethodChoice:
    """Return the method called ``name``, checked against the graph; ``auto`` chooses."""
    check_name(name)
    if name == "auto":
        return automatic(facts, device, ranks)
    method = algorithms()[name]
    if facts.has_negative and not method.negative_weights:
        raise InputError(
            f"{facts.name} has a negative weight ({facts.least}), which {name} cannot take; "
            "use --algorithm bellman-ford"
        )
    if facts.weight_type.kind == "f" and not method.float_weights:
        raise InputError(
            f"{facts.name} has {facts.weight_type} weights, whose sums {name} would round in "
            "another order; use --algorithm delta-stepping"
        )
    if method.unit_weights and not _is_unit(facts):
        raise InputError(
            f"{facts.name} has weights from {facts.least} to {facts.greatest}, but {name} takes "
            "every arc to weigh 1; use groute-py bfs to count arcs, or --algorithm delta-stepping"
        )
    if method.pads and _has_greatest_weight(facts):
        raise InputError(
            f"{facts.name} has a weight of {facts.greatest}, which to {name} is no arc; use "
            "--algorithm bellman-ford"
        )
    return MethodChoice(method, "asked for")


def automatic(facts: Facts, device: str, ranks: int) -> MethodChoice:
    """The method that is likely to be the fastest; see docs/what-we-learned.md#methods."""
    if facts.has_negative and device == "cpu" and ranks == 1:
        return MethodChoice(
            methods.SLF_LLL_BELLMAN_FORD, "a weight is negative, and one core solves"
        )
    if facts.has_negative:
        return MethodChoice(methods.BELLMAN_FORD, "a weight is negative")
    if _is_unit(facts) and facts.weight_type.kind != "f":
        return MethodChoice(methods.BREADTH_FIRST, "every arc weighs 1")
    if device == "cuda" and ranks == 1 and facts.mean_degree >= DENSE_SHARE * facts.vertex_count:
        return MethodChoice(methods.BELLMAN_FORD, "most pairs have an arc, so that few turns do")
    if device == "cuda" and ranks == 1 and _has_full_even_rows(facts):
        return MethodChoice(methods.CSR_BELLMAN_FORD, "few vertices, each with many arcs")
    others = "all are floats" if _is_unit(facts) else "not all are 1"
    return MethodChoice(methods.DELTA_STEPPING, f"no weight is negative, and {others}")


def _has_full_even_rows(facts: Facts) -> bool:
    small = facts.vertex_count <= FEW_VERTICES and facts.mean_degree >= FULL_ROWS
    even = 0 < facts.most_incoming <= EVEN * facts.mean_degree
    return small and even and not _has_greatest_weight(facts)


def _has_greatest_weight(facts: Facts) -> bool:
    return facts.greatest == np.iinfo(np.int64).max


def _is_unit(facts: Facts) -> bool:
    return facts.arc_count == 0 or (facts.least == 1 and facts.greatest == 1)
