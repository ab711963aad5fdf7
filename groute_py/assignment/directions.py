"""Directions in which flows move in an iteration: Frank–Wolfe, and conjugate to those before.

Flows are float64, shape (c, m), by class and link. A direction leads from the flows to a *target*,
a mean of loadings. Each class here takes the loading for the costs of now, and returns the target.

(Mitradjieva and Lindberg, "The stiff is moving: conjugate direction Frank–Wolfe methods with
applications to traffic assignment", Transportation Science 47(2), 2013.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Flows = NDArray[np.float64]

Products = Callable[[Sequence[Flows]], NDArray[np.float64]]
"""The products of the ways from the flows to k points, (k, k), at most three.

Between two ways stand the second derivatives of the objective.
"""

LARGEST_SHARE = 0.99
"""Share of the last target in a conjugate one: with 1 the loading would not count."""


class TargetRule(Protocol):
    """A rule for the next target, which may remember those before."""

    def target(self, loading: Flows, products: Products) -> Flows:
        """Return where to move from the flows."""

    def moved(self, step: float) -> None:
        """Note which part of the way was gone, from 0 to 1."""


class FrankWolfe:
    """Move towards the loading (Frank and Wolfe, 1956)."""

    def target(self, loading: Flows, products: Products) -> Flows:
        """See `TargetRule`."""
        return loading

    def moved(self, step: float) -> None:
        """See `TargetRule`."""


class Conjugate:
    """Move in a direction that is conjugate to the last one (section 3 of the paper)."""

    def __init__(self) -> None:
        self._last: Flows | None = None

    def target(self, loading: Flows, products: Products) -> Flows:
        """See `TargetRule`."""
        self._last = loading if self._last is None else self._next(self._last, loading, products)
        return self._last

    def moved(self, step: float) -> None:
        """See `TargetRule`."""
        if step >= 1:
            self._last = None  # it has been reached, and no direction leads there

    def _next(self, last: Flows, loading: Flows, products: Products) -> Flows:
        (before, mixed), _ = products([last, loading])
        share = min(max(_ratio(mixed, mixed - before), 0.0), LARGEST_SHARE)
        return share * last + (1 - share) * loading


class Biconjugate:
    """Move in a direction that is conjugate to the last two (section 4 of the paper)."""

    def __init__(self) -> None:
        self._conjugate = Conjugate()
        self._targets: list[Flows] = []
        self._step = 0.0

    def target(self, loading: Flows, products: Products) -> Flows:
        """See `TargetRule`."""
        if len(self._targets) < 2:
            target = self._conjugate.target(loading, products)
        else:
            last, before = self._targets
            target = self._next(last, before, loading, products)
        self._targets = [target, *self._targets[:1]]
        return target

    def moved(self, step: float) -> None:
        """See `TargetRule`."""
        self._step = step
        self._conjugate.moved(step)
        if step >= 1:
            self._targets, self._conjugate = [], Conjugate()

    def _next(self, last: Flows, before: Flows, loading: Flows, products: Products) -> Flows:
        step, ((aa, ab, an), (_, bb, bn), _) = self._step, products([last, before, loading])
        two_now = step * an + (1 - step) * bn  # two: the way to step * last + (1 - step) * before
        two_change = step * (ab - aa) + (1 - step) * (bb - ab)  # from last to before
        second = max(_ratio(-two_now, two_change), 0.0)
        first = max(_ratio(-an, aa) + second * step / (1 - step), 0.0)
        whole = 1 + first + second
        return (loading + first * last + second * before) / whole


class Triconjugate:
    """Move in a direction that is conjugate to the last three, as far as shares allow it.

    The target is a mean of the loading and the last targets. The shares of the ways to them make a
    quadratic model of the objective least, whose slope is taken to be 0 along all ways but that to
    the loading. So the direction is conjugate to each of the others that has a share; none is
    negative.
    """

    def __init__(self) -> None:
        self._targets: list[Flows] = []

    def target(self, loading: Flows, products: Products) -> Flows:
        """See `TargetRule`."""
        points = [loading, *self._targets]
        shares = _shares(_products_of_all(points, products)) if self._targets else [1.0]
        target: Flows = sum(share * point for share, point in zip(shares, points, strict=True))
        self._targets = [target, *self._targets][:3]
        return target

    def moved(self, step: float) -> None:
        """See `TargetRule`."""
        if step >= 1:
            self._targets = []  # the last has been reached, and no direction leads there


def _products_of_all(points: Sequence[Flows], products: Products) -> NDArray[np.float64]:
    """Return the products of any number of ways, of which `Products` takes three at once."""
    whole = np.zeros((len(points),) * 2)
    for some in combinations(range(len(points)), min(3, len(points))):
        whole[np.ix_(some, some)] = products([points[i] for i in some])
    return whole


def _shares(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shares of the points in the target, of which the first is the loading."""
    count = len(products)
    best: NDArray[np.float64] = np.eye(count)[0]
    most = 0.0
    for chosen in product([True, False], repeat=count - 1):
        some = np.flatnonzero([True, *chosen])
        try:
            weights = np.linalg.solve(products[np.ix_(some, some)], np.eye(len(some))[0])
        except np.linalg.LinAlgError:  # two ways are one
            continue
        if (weights >= 0).all() and weights[0] > most:
            most = weights[0]
            best = np.zeros(count)
            best[some] = weights / weights.sum()
    return best


def _ratio(over: float, under: float) -> float:
    """Return the quotient, or 0 where there is none."""
    return over / under if under else 0.0


METHODS: dict[str, Callable[[], TargetRule]] = {
    "tfw": Triconjugate,
    "bfw": Biconjugate,
    "cfw": Conjugate,
    "fw": FrankWolfe,
    "msa": FrankWolfe,
}
"""By name; ``msa`` is the method of successive averages, whose steps have fixed lengths."""
