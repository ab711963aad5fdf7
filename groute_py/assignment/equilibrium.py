"""User equilibrium: flows at which no traveller has a cheaper way (Wardrop's first principle).

The flows minimize the objective of Beckmann, McGuire and Winsten (1956): the integrals of the times
and what the classes pay besides. Each iteration loads all trips on the shortest paths for the costs
of now, and moves the flows some part of the way to there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.directions import Flows, FrankWolfe, TargetRule
from groute_py.assignment.network import TrafficNetwork
from groute_py.assignment.ranks import Loads
from groute_py.errors import InputError

STEP_ACCURACY = 1e-12
"""Accuracy of the part of the way, beyond which a line search looks no further."""

MOST_TRIALS = 60


class Iteration(NamedTuple):
    """The state of the flows when an iteration has loaded trips for their costs.

    Attributes:
        iteration: its number, from 1.
        seconds: since the beginning.
        gap: the relative gap: the part of all costs that travellers could save, each alone.
        excess: the average excess cost, which is that saving a trip.
        objective: Beckmann's.
    """

    iteration: int
    seconds: float
    gap: float
    excess: float
    objective: float


class Equilibrium:
    """Flows on their way to the equilibrium.

    Args:
        network: with its travellers.
        direction: how to move.
        start: flows to begin at; None for a loading of the empty network.
        is_average: whether the k-th step goes 1 / (k + 1) of the way, as successive averages do;
            otherwise to the least objective.

    Attributes:
        flows: shape (c, m), and the figures of `groute_py.assignment.figures` behind.
        lost: trips without a path, shape (c,).
        least: as in `Loads`.
        history: of the iterations.
    """

    def __init__(
        self,
        network: TrafficNetwork,
        direction: TargetRule,
        start: Flows | None = None,
        *,
        is_average: bool = False,
    ) -> None:
        self._times, self._classes = network.times, network.classes
        self._direction, self._is_average = direction, is_average
        self._has_begun = start is not None
        self._begun = time.monotonic()
        self.lost = np.zeros(len(self._classes.pce))
        count, self._links = self._classes.fixed.shape
        width = self._links + (0 if network.figures is None else network.figures.width)
        self.flows = np.zeros((count, width)) if start is None else start
        self.least = np.empty((count, 0))
        self.history: list[Iteration] = []

    @property
    def volumes(self) -> NDArray[np.float64]:
        """All classes together, in passenger cars, shape (m,)."""
        return self._volumes(self.flows)

    def objective(self) -> float:
        """Beckmann's objective for the flows of now."""
        fixed = float(
            self._classes.pce @ (self._classes.fixed * self._of_links(self.flows)).sum(axis=1)
        )
        return float(self._times.integrals(self.volumes).sum()) + fixed

    def iterate(
        self, most: int, gap: float, is_over: Callable[[], bool], note: Callable[[Iteration], Any]
    ) -> Generator[Flows, Loads, None]:
        """Move until the gap is small enough, so many iterations are made, or time is over.

        Yields costs of links by class, shape (c, m), and is sent the loading for them.
        """
        if not self._has_begun:
            self.flows = (yield self._costs(self.flows)).flows
        while True:
            costs = self._costs(self.flows)
            loads = yield costs
            self.lost, self.least = loads.lost, loads.least
            state = self._state(
                len(self.history) + 1, costs, float(self._classes.pce @ loads.costs)
            )
            self.history.append(state)
            note(state)
            if state.gap <= gap or len(self.history) >= most or is_over():
                return
            self._move(loads.flows, len(self.history))

    def resume(self, flows: Flows, history: NDArray[np.float64]) -> None:
        """Go on from the flows of the last iteration of a history, which is made again."""
        self.flows, self._has_begun = flows, True
        self.history = [Iteration(int(row[0]), *row[1:].tolist()) for row in history[:-1]]
        self._begun -= history[-1, 1]

    @np.errstate(over="ignore", invalid="ignore")
    def _state(self, number: int, costs: Flows, least: float) -> Iteration:
        pce = self._classes.pce
        cost = float(pce @ (costs * self._of_links(self.flows)).sum(axis=1))
        trips = [float(some.origins.trips.sum()) for some in self._classes.trips]
        loaded = float(pce @ (np.array(trips) - self.lost))
        objective = self.objective()
        _refuse_overflow(cost, objective)
        saving = max(cost - least, 0.0)
        return Iteration(
            number,
            time.monotonic() - self._begun,
            saving / cost if cost else 0.0,
            saving / loaded if loaded else 0.0,
            objective,
        )

    @np.errstate(over="ignore", invalid="ignore")
    def _move(self, loading: Flows, number: int) -> None:
        slopes = self._times.slopes(self.volumes)

        def product(one: Flows, other: Flows) -> float:
            return float((slopes * self._volumes(one)) @ self._volumes(other))

        target = self._direction.target(self.flows, loading, product)
        step = 1 / (number + 1) if self._is_average else self._least(target)
        if step == 0 and not isinstance(self._direction, FrankWolfe):
            self._direction = type(self._direction)()  # that way leads up: begin anew
            target = self._direction.target(self.flows, loading, product)
            step = self._least(target)
        self.flows = self.flows + step * (target - self.flows)
        self._direction.moved(step)

    def _least(self, target: Flows) -> float:
        """The part of the way to a target where the objective is least, by Newton's method.

        Its derivative rises. A step that leaves the part that is still possible is a bisection.
        """
        pce, way = self._classes.pce, target - self.flows
        volumes, change = self.volumes, self._volumes(way)
        fixed = float(pce @ (self._classes.fixed * self._of_links(way)).sum(axis=1))
        low, high, step = 0.0, 1.0, 0.0
        for _ in range(MOST_TRIALS):
            now = volumes + step * change
            rise = float(self._times.times(now) @ change) + fixed
            if rise < 0:
                low = step
            else:
                high = step
            if high - low <= STEP_ACCURACY or (step == 0 and rise >= 0):
                break
            bend = float((self._times.slopes(now) * change) @ change)
            trial = step - rise / bend if bend > 0 else 1.0
            if abs(trial - step) <= STEP_ACCURACY:
                return trial
            if trial >= 1 and high == 1.0 and step < 1:
                trial = 1.0
            elif not low < trial < high:
                trial = (low + high) / 2
            step = trial
            if step == 1.0 and low == 1.0:
                return 1.0
        return low

    @np.errstate(over="ignore", invalid="ignore")
    def _costs(self, flows: Flows) -> Flows:
        costs = self._times.times(self._volumes(flows)) + self._classes.fixed
        _refuse_overflow(costs)
        return costs

    def _volumes(self, flows: Flows) -> NDArray[np.float64]:
        return np.asarray(self._classes.pce @ self._of_links(flows))

    def _of_links(self, flows: Flows) -> Flows:
        return flows[:, : self._links]


def _refuse_overflow(*values: Any) -> None:
    if not all(np.isfinite(some).all() for some in values):
        raise InputError(
            "costs of these trips are greater than a number can be; look at the units of trips, "
            "capacities, times and powers"
        )
