"""A plan of a solve, from the options, the graph's facts and the number of ranks.

Nothing here communicates or touches a device. Every rank makes the same plan, but for the device.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from groute_py.device.base import Buckets, ModeName, Terms, alike
from groute_py.engine.algorithms.delta_stepping import pull_below_width, stride, weight_class_unit
from groute_py.engine.algorithms.methods import Algorithm, MethodChoice
from groute_py.engine.algorithms.numbers import distance_types
from groute_py.engine.options import Options
from groute_py.graph.facts import Facts
from groute_py.kernels.source import VERTEX_BITS
from groute_py.partition.cutting import Cutting

LEAD_BUCKETS = 4.0
"""Number of buckets that a rank may work ahead of the smallest pending distance of all ranks."""

TOWARDS_TARGETS = 0.5
"""The same for solves with targets, whose end may be near: each step opens one bucket."""


@dataclass(frozen=True)
class SolvePlan:
    """A plan for all solves of one graph."""

    options: Options
    facts: Facts  # with all weights 1 if arcs are counted
    choice: MethodChoice
    device: str  # ``cpu`` or ``cuda``, what this rank computes on
    ranks: int
    hierarchy_type: np.dtype[Any] | None = None  # of its weights, if the method needs one

    @cached_property
    def method(self) -> Algorithm:
        """The method that solves."""
        return self.choice.method

    @cached_property
    def types(self) -> tuple[np.dtype[Any], ...]:
        """The distance types to be tried, the narrowest first."""
        types = distance_types(self.facts)
        if self.hierarchy_type is not None:  # what does not fit in a type there, does not at all
            types = [kind for kind in types if kind.itemsize >= self.hierarchy_type.itemsize]
        return tuple(types)

    @property
    def cutting(self) -> Cutting:
        """Return how to cut the graph; a method that is not distributed has all on the first rank.

        A hierarchy is of the vertices as the input numbers them.
        """
        if self.method.contracts or (self.ranks > 1 and not self.method.distributed):
            return Cutting("first", "none")
        return self.options.cutting

    @property
    def may_sink(self) -> bool:
        """Rounding may make distances sink for ever; see `groute_py.engine.tree_solve`."""
        return self.facts.has_negative and self.facts.weight_type.kind == "f"

    def lead(self, *, targets: bool) -> float:
        """Return how many buckets a rank may work ahead of the others."""
        if targets:
            return TOWARDS_TARGETS
        return math.inf if self.ranks == 1 else LEAD_BUCKETS

    def records(self, *, together: bool) -> bool:
        """Return whether the last improvement of each vertex gives its predecessor.

        It does without negative weights, if no rank improves what another owns.
        """
        return self.options.predecessors and together and not self.facts.has_negative

    def delta(self, distance_type: np.dtype[Any]) -> float:
        """Return the width of the widest bucket; infinite if the method has none."""
        if self.options.delta is None or math.isinf(self._automatic.widest):
            return self._automatic.first if self.device == "cpu" else self._automatic.widest
        least = 0.0 if distance_type.kind == "f" else 1.0
        return max(self.options.delta, least)

    def buckets(self, distance_type: np.dtype[Any], *, together: bool, targets: bool) -> Buckets:
        """Return buckets as wide as asked for, else automatic ones, within a step to targets.

        They grow where all ranks move them together.
        """
        delta = self.delta(distance_type)
        if self.options.delta is not None:
            return alike(delta)
        buckets = self._automatic if together else alike(delta)
        return buckets if math.isinf(buckets.widest) else buckets.upto(self.stride(targets=targets))

    def stride(self, *, targets: bool) -> float:
        """Return the width of a step towards targets, if the method has no Δ."""
        return stride(self.facts, self.device) if targets else math.inf

    def terms(self, distance_type: np.dtype[Any], mode: ModeName, most_arcs: int) -> Terms:
        """Return how a share is loaded, if the largest one has ``most_arcs`` arcs."""
        below = self._pull_below_width(mode)
        unit, operator = weight_class_unit(self.facts), self.facts.operator
        return Terms(distance_type, self.ranks, mode, most_arcs, below, unit, operator)

    @cached_property
    def _automatic(self) -> Buckets:
        return self.method.buckets(self.facts, self.device, self.ranks)

    def _pull_below_width(self, mode: ModeName) -> float:
        """Prepare to pull where that is wanted, and all ranks move the buckets together."""
        together = mode in ("alone", "fused")
        fits = self.facts.vertex_count <= 1 << VERTEX_BITS
        if not self.options.prepare or self.options.delta is not None or not together or not fits:
            return 0.0
        return pull_below_width(self.facts, self._automatic)
