"""User equilibrium: flows at which no traveller has a cheaper way (Wardrop's first principle).

The flows minimize the objective of Beckmann, McGuire and Winsten (1956): the integrals of the times
and what the classes pay besides. Each iteration loads all trips on the shortest paths for the costs
of now, and moves the flows some part of the way to there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.demand import Trips
from groute_py.assignment.directions import Flows, FrankWolfe, TargetRule
from groute_py.assignment.link_costs import LinkTimes
from groute_py.device.cpu.loading import CpuLoading

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


class Classes(NamedTuple):
    """Additions of the classes of travellers to a network.

    Attributes:
        trips: of each class.
        fixed: costs besides the time, float64, shape (c, m).
        pce: shape (c,): the volume of a trip.
    """

    trips: list[Trips]
    fixed: Flows
    pce: NDArray[np.float64]


class Equilibrium:
    """Flows on their way to the equilibrium.

    Args:
        loading: has the hierarchy of the network.
        times: of its links.
        classes: of travellers.
        direction: how to move.
        is_average: whether the k-th step goes 1 / (k + 1) of the way, as successive averages do;
            otherwise to the least objective.
        start: flows to begin at; None for a loading of the empty network.

    Attributes:
        flows: shape (c, m).
        lost: trips without a path, shape (c,).
    """

    def __init__(
        self,
        loading: CpuLoading,
        times: LinkTimes,
        classes: Classes,
        direction: TargetRule,
        *,
        is_average: bool,
        start: Flows | None,
    ) -> None:
        self._loading, self._times, self._classes = loading, times, classes
        self._direction, self._is_average = direction, is_average
        self._begun = time.monotonic()
        self.lost = np.zeros(len(classes.pce))
        self.flows = start if start is not None else self._load(self._costs(0 * classes.fixed))[0]

    @property
    def volumes(self) -> NDArray[np.float64]:
        """All classes together, in passenger cars, shape (m,)."""
        return self._volumes(self.flows)

    def objective(self) -> float:
        """Beckmann's objective for the flows of now."""
        fixed = float(self._classes.pce @ (self._classes.fixed * self.flows).sum(axis=1))
        return float(self._times.integrals(self.volumes).sum()) + fixed

    def iterate(
        self, most: int, gap: float, is_over: Callable[[], bool], note: Callable[[Iteration], Any]
    ) -> list[Iteration]:
        """Move until the gap is small enough, so many iterations are made, or time is over."""
        history: list[Iteration] = []
        while True:
            costs = self._costs(self.flows)
            target, least = self._load(costs)
            state = self._state(len(history) + 1, costs, least)
            history.append(state)
            note(state)
            if state.gap <= gap or len(history) >= most or is_over():
                return history
            self._move(target, len(history))

    def _state(self, number: int, costs: Flows, least: float) -> Iteration:
        pce = self._classes.pce
        cost = float(pce @ (costs * self.flows).sum(axis=1))
        trips = [float(some.origins.trips.sum()) for some in self._classes.trips]
        loaded = float(pce @ (np.array(trips) - self.lost))
        saving = max(cost - least, 0.0)
        return Iteration(
            number,
            time.monotonic() - self._begun,
            saving / cost if cost else 0.0,
            saving / loaded if loaded else 0.0,
            self.objective(),
        )

    def _load(self, costs: Flows) -> tuple[Flows, float]:
        """All trips on the shortest paths, and what they cost."""
        loads = [
            self._loading.load(own, trips.origins)
            for own, trips in zip(costs, self._classes.trips, strict=True)
        ]
        self.lost = np.array([load.lost for load in loads])
        least = float(self._classes.pce @ np.array([load.cost for load in loads]))
        return np.stack([load.flows for load in loads]), least

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
        fixed = float(pce @ (self._classes.fixed * way).sum(axis=1))
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

    def _costs(self, flows: Flows) -> Flows:
        return self._times.times(self._volumes(flows)) + self._classes.fixed

    def _volumes(self, flows: Flows) -> NDArray[np.float64]:
        return np.asarray(self._classes.pce @ flows)
