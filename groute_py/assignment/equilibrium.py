"""User equilibrium: flows at which no traveller has a cheaper way (Wardrop's first principle).

The flows minimize the objective of Beckmann, McGuire and Winsten (1956): the integrals of the times
and what the classes pay besides. Each iteration loads all trips on the shortest paths for the costs
of now, and moves the flows some part of the way to there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.directions import Flows, FrankWolfe, TargetRule
from groute_py.assignment.links import Links
from groute_py.assignment.network import TrafficNetwork, check_balance
from groute_py.assignment.ranks import Loads
from groute_py.errors import InputError
from groute_py.graph.arrays import host_array

TOLERANCE = 1e-5
"""Share by which flows to begin at may cost less than trips on the cheapest paths: rounding."""


class Iteration(NamedTuple):
    """The state of the flows when an iteration has loaded trips for their costs."""

    iteration: int  # its number, from 1
    seconds: float  # since the beginning
    gap: float  # the relative gap: the part of all costs that travellers could save, each alone
    excess: float  # the average excess cost, which is that saving a trip
    objective: float  # Beckmann's


class Equilibrium:
    """Flows on their way to the equilibrium, from a ``start`` or by loading in increments.

    Each increment is an equal part of the trips for the costs of then. With ``is_average`` the k-th
    step goes 1 / (k + 1) of the way, as successive averages do; otherwise to the least objective.
    ``flows``, shape (c, m), have the figures of `groute_py.assignment.figures` behind; ``lost`` are
    trips without a path, shape (c,).
    """

    def __init__(
        self,
        network: TrafficNetwork,
        links: Links,
        direction: TargetRule,
        start: Flows | None = None,
        increments: int = 1,
        *,
        is_average: bool = False,
    ) -> None:
        self._classes, self._links = network.classes, links
        self._direction, self._is_average = direction, is_average
        self._network, self._is_given = network, start is not None
        self._has_begun, self._increments = self._is_given, increments
        self._begun = time.monotonic()
        self._trips = np.array([some.origins.trips.sum() for some in self._classes.trips])
        self.lost = np.zeros_like(self._trips)
        count, width = self._classes.fixed.shape
        width += 0 if network.figures is None else network.figures.width
        self.flows = links.own(np.zeros((count, width)) if start is None else start)
        self.least = np.empty((count, 0))
        self.history: list[Iteration] = []

    def iterate(
        self, most: int, gap: float, is_over: Callable[[], bool], note: Callable[[Iteration], Any]
    ) -> Generator[Flows, Loads, None]:
        """Move until the gap is small enough, so many iterations are made, or time is over.

        Yields costs of links by class, shape (c, m), and is sent the loading for them.
        """
        if not self._has_begun:
            for _ in range(self._increments):
                loading = self._links.stack((yield self._links.costs(self.flows)).flows)
                self.flows = self._links.mix((1, 1 / self._increments), (self.flows, loading))
        while True:
            loads = yield self._links.costs(self.flows)
            self.lost, self.least = loads.lost, loads.least
            if self._is_given and not self.history:
                loading = host_array(self._links.stack(loads.flows))
                check_balance(self._network, host_array(self.flows), loading)
            state = self._state(len(self.history) + 1, float(self._classes.pce @ loads.costs))
            self.history.append(state)
            note(state)
            if state.gap <= gap or len(self.history) >= most or is_over():
                return
            self._move(self._links.stack(loads.flows), len(self.history))

    def resume(self, flows: Flows, history: NDArray[np.float64]) -> None:
        """Go on from the flows of the last iteration of a history, which is made again."""
        self.flows, self._has_begun = self._links.own(flows), True
        self.history = [Iteration(int(row[0]), *row[1:].tolist()) for row in history[:-1]]
        self._begun -= history[-1, 1]

    def _state(self, number: int, least: float) -> Iteration:
        cost, objective = self._links.sums()
        if not np.isfinite([cost, objective]).all():
            raise InputError(
                "costs of these trips are greater than a number can be; look at the units of "
                "trips, capacities, times and powers"
            )
        loaded = float(self._classes.pce @ (self._trips - self.lost))
        if self._is_given and least > cost * (1 + TOLERANCE):
            raise InputError(
                "start: these flows cost less than the trips on the cheapest paths; flows begin at "
                "those of the same trips"
            )
        saving = max(cost - least, 0.0)
        return Iteration(
            number,
            time.monotonic() - self._begun,
            saving / cost if cost else 0.0,
            saving / loaded if loaded else 0.0,
            objective,
        )

    def _move(self, loading: Flows, number: int) -> None:
        target = self._target(loading)
        step = 1 / (number + 1) if self._is_average else self._links.least(self.flows, target)
        if step == 0 and not isinstance(self._direction, FrankWolfe):
            self._direction = type(self._direction)()  # that way leads up: begin anew
            target = self._target(loading)
            step = self._links.least(self.flows, target)
        self.flows = self._links.mix((1 - step, step), (self.flows, target))
        self._direction.moved(target, step)

    def _target(self, loading: Flows) -> Flows:
        shares, points = self._direction.mean(loading, partial(self._links.products, self.flows))
        return self._links.mix(shares, points) if len(points) > 1 else loading
