"""The description of a method for the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from groute_py.device.base import Buckets, alike
from groute_py.device.registry import NEAR_FAR, Makers
from groute_py.graph.facts import Facts


def no_buckets(facts: Facts, device: str, ranks: int) -> Buckets:
    """Return the buckets of a method that has no Δ."""
    return alike(math.inf)


@dataclass(frozen=True)
class Algorithm:
    """A single-source method."""

    name: str
    summary: str
    complexity: str  # arcs relaxed, or steps, in the worst case; n vertices, m arcs
    negative_weights: bool = False
    unit_weights: bool = False
    float_weights: bool = True
    pads: bool = False  # the greatest int64 stands for no arc, so that no arc may weigh it
    contracts: bool = False  # needs a hierarchy of the graph, made before it is loaded
    # by near–far relaxation; else one rank has the whole graph and the others wait
    distributed: bool = False
    # the relaxing class where one rank has the whole graph, by ``cpu`` and ``cuda``
    devices: Makers = field(default_factory=lambda: NEAR_FAR)
    buckets: Callable[[Facts, str, int], Buckets] = no_buckets

    def makers(self, ranks: int) -> Makers:
        """The devices that the method uses on this number of ranks."""
        return NEAR_FAR if self.distributed and ranks > 1 else self.devices

    @property
    def weights(self) -> str:
        """The weights that it takes, in words."""
        if self.unit_weights:
            return "1"
        least = "any" if self.negative_weights else "0 or more"
        return least if self.float_weights else f"{least}, integers"
