"""What a method is to the engine, and the registry of methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groute_py.errors import InputError
from groute_py.graph.facts import Facts


@dataclass(frozen=True)
class Algorithm:
    """A distributed single-source method: near–far relaxation with a window of its own width.

    Attributes:
        name: as on the command line.
        summary: one line for people.
        negative_weights: whether arcs may weigh less than zero.
        window: from the graph's facts and the device's name to Δ, in units of weight.
    """

    name: str
    summary: str
    negative_weights: bool
    window: Callable[[Facts, str], float]


def algorithms() -> dict[str, Algorithm]:
    """Every method by name."""
    from groute_py.algorithms import bellman_ford, delta_stepping

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
