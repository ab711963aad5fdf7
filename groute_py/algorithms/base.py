"""What a method is to the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groute_py.graph.facts import Facts


@dataclass(frozen=True)
class Algorithm:
    """A distributed single-source method: near–far relaxation with a window of its own width.

    Attributes:
        name: as on the command line.
        summary: one line for people.
        negative_weights: whether arcs may weigh less than zero.
        window: from the graph's facts, the device's name and the number of ranks to Δ, in units of
            weight.
    """

    name: str
    summary: str
    negative_weights: bool
    window: Callable[[Facts, str, int], float]
