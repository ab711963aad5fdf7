"""Costs of all links, and sums over them, as an equilibrium needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.directions import Flows, Shares
from groute_py.assignment.link_costs import BPR, Conical
from groute_py.assignment.network import TrafficNetwork
from groute_py.device.registry import of_module
from groute_py.graph.arrays import host_array

STEP_ACCURACY = 1e-12
"""Accuracy of the part of the way, beyond which a line search looks no further."""

MOST_TRIALS = 60  # trials of a line search


class Links(Protocol):
    """The links of a network; flows are by class and link, (c, m), in memory of their own."""

    def own(self, flows: Any) -> Flows:
        """Return flows from the host."""

    def stack(self, rows: Sequence[Any]) -> Flows:
        """Return flows of each class, from anywhere, as one array."""

    def costs(self, flows: Flows) -> Flows:
        """Return costs by class and link."""

    def sums(self) -> tuple[float, float]:
        """Return what all travellers pay and the objective, for the flows of the last costs."""

    def products(self, flows: Flows, points: Sequence[Flows]) -> NDArray[np.float64]:
        """Return the products of the ways from flows to k points, (k, k).

        Between two ways stand the second derivatives of the objective at the flows.
        """

    def mix(self, shares: Shares, points: Sequence[Flows]) -> Flows:
        """Return the sum of points, each times its share."""

    def least(self, flows: Flows, target: Flows) -> float:
        """Return the part of the way to a target, 0 to 1, where the objective is least."""


class CpuLinks:
    """The `Links` on the host; flows may have other figures behind those of the m links."""

    def __init__(self, network: TrafficNetwork) -> None:
        self._times, self._classes = network.times, network.classes
        self._links = self._classes.fixed.shape[1]
        self._last = np.empty(0), np.empty(0)

    def own(self, flows: Any) -> Flows:
        return host_array(flows)

    def stack(self, rows: Sequence[Any]) -> Flows:
        return np.stack([host_array(row) for row in rows])

    @np.errstate(over="ignore", invalid="ignore")
    def costs(self, flows: Flows) -> Flows:
        costs = self._times.times(self._volumes(flows)) + self._classes.fixed
        self._last = flows, costs
        return costs

    @np.errstate(over="ignore", invalid="ignore")
    def sums(self) -> tuple[float, float]:
        flows, costs = self._last
        area = float(self._times.integrals(self._volumes(flows)).sum())
        return self._total(flows, costs), area + self._total(flows, self._classes.fixed)

    @np.errstate(over="ignore", invalid="ignore")
    def products(self, flows: Flows, points: Sequence[Flows]) -> NDArray[np.float64]:
        volumes = self._volumes(flows)
        ways = np.stack([self._volumes(point) for point in points]) - volumes
        return np.asarray((ways * self._times.slopes(volumes)) @ ways.T)

    def mix(self, shares: Shares, points: Sequence[Flows]) -> Flows:
        whole = shares[0] * points[0]
        for share, point in zip(shares[1:], points[1:], strict=True):
            whole += share * point
        return whole

    @np.errstate(over="ignore", invalid="ignore")
    def least(self, flows: Flows, target: Flows) -> float:
        """Search by Newton's method.

        The derivative rises. A step that leaves the part that is still possible is a bisection.
        """
        volumes, change = self._volumes(flows), self._volumes(target - flows)
        fixed = self._total(target - flows, self._classes.fixed)
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
                return min(trial, 1.0)
            if trial >= 1 and high == 1.0 and step < 1:
                trial = 1.0
            elif not low < trial < high:
                trial = (low + high) / 2
            step = trial
            if step == 1.0 and low == 1.0:
                return 1.0
        return low

    def _volumes(self, flows: Flows) -> NDArray[np.float64]:
        return np.asarray(self._classes.pce @ flows[:, : self._links])

    def _total(self, flows: Flows, values: Flows) -> float:
        """The sum of values times flows, in passenger cars."""
        return float(self._classes.pce @ (values * flows[:, : self._links]).sum(axis=1))


def links_of(network: TrafficNetwork, kind: str) -> Links:
    """Return the links on a kind of device, if it knows their times; else on the host."""
    times, classes = network.times, network.classes
    if kind == "cpu" or type(times) not in (BPR, Conical) or network.figures is not None:
        return CpuLinks(network)
    cuda_links: Any = of_module("groute_py.device.cuda.assignment.links", "CudaLinks")
    own: Any = times
    words = own.formula, own.coefficients, classes.fixed, classes.pce, STEP_ACCURACY, MOST_TRIALS
    links: Links = cuda_links(*words)
    return links
