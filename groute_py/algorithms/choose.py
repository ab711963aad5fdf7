"""The registry of methods, and the choice of one."""

from __future__ import annotations

from groute_py.algorithms import bellman_ford, delta_stepping
from groute_py.algorithms.base import Algorithm
from groute_py.errors import InputError
from groute_py.graph.facts import Facts


def algorithms() -> dict[str, Algorithm]:
    """Every method by name."""
    methods = (delta_stepping.ALGORITHM, bellman_ford.ALGORITHM)
    return {method.name: method for method in methods}


def algorithm(name: str, facts: Facts) -> Algorithm:
    """The method called ``name``, checked against the graph; ``auto`` chooses.

    Raises:
        InputError: unknown name, or the method forbids what the graph has.
    """
    known = algorithms()
    if name == "auto":
        name = "bellman-ford" if facts.has_negative else "delta-stepping"
    if name not in known:
        raise InputError(f"algorithm {name!r} is unknown; choose one of auto, {', '.join(known)}")
    method = known[name]
    if facts.has_negative and not method.negative_weights:
        raise InputError(
            f"{facts.name} has a negative weight ({facts.least}), which {name} cannot take; "
            "use --algorithm bellman-ford"
        )
    return method
