"""Directions in which flows move in an iteration: Frank–Wolfe, and conjugate to those before.

Flows are float64, shape (c, m), by class and link. A direction leads from the flows to a *target*,
a mean of loadings. Each class here takes the loading for the costs of now, and returns the target.

(Mitradjieva and Lindberg, "The stiff is moving: conjugate direction Frank–Wolfe methods with
applications to traffic assignment", Transportation Science 47(2), 2013.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Flows = NDArray[np.float64]

Products = Callable[[Sequence[Flows]], NDArray[np.float64]]
"""The products of the ways from the flows to k points, (k, k), at most four.

Between two ways stand the second derivatives of the objective.
"""

Shares = Sequence[float] | NDArray[np.float64]
Mean = tuple[Shares, Sequence[Flows]]
"""Shares, which add up to 1, of points in a mean; and these points."""

LARGEST_SHARE = 0.99
"""Share of the last target in a conjugate one: with 1 the loading would not count."""


RIDGE = 1e-12  # part by which products of ways with themselves are increased


class TargetRule(Protocol):
    """A rule for the next target, which may remember those before."""

    def mean(self, loading: Flows, products: Products) -> Mean:
        """Return where to move from the flows."""

    def moved(self, target: Flows, step: float) -> None:
        """Note a target, and which part of the way to it was gone, from 0 to 1."""


class FrankWolfe:
    """Move towards the loading (Frank and Wolfe, 1956)."""

    def mean(self, loading: Flows, products: Products) -> Mean:
        return [1.0], [loading]

    def moved(self, target: Flows, step: float) -> None:
        """See `TargetRule`."""


class Conjugate:
    """Move in a direction that is conjugate to the last one (section 3 of the paper)."""

    MOST = 1
    """Targets that are remembered."""

    def __init__(self) -> None:
        self._targets: list[Flows] = []
        self._step = 0.0

    def mean(self, loading: Flows, products: Products) -> Mean:
        if not self._targets:
            return [1.0], [loading]
        points = [self._targets[0], loading]
        (before, mixed), _ = products(points)
        share = min(max(_ratio(mixed, mixed - before), 0.0), LARGEST_SHARE)
        return [share, 1 - share], points

    def moved(self, target: Flows, step: float) -> None:
        self._targets = [target, *self._targets][: self.MOST]
        self._step = step
        if step >= 1:
            self._targets = []  # the last has been reached, and no direction leads there


class Biconjugate(Conjugate):
    """Move in a direction that is conjugate to the last two (section 4 of the paper)."""

    MOST = 2

    def mean(self, loading: Flows, products: Products) -> Mean:
        if len(self._targets) < self.MOST:
            return super().mean(loading, products)
        points = [*self._targets, loading]
        step, ((aa, ab, an), (_, bb, bn), _) = self._step, products(points)
        two_now = step * an + (1 - step) * bn  # two: the way to step * last + (1 - step) * before
        two_change = step * (ab - aa) + (1 - step) * (bb - ab)  # from last to before
        second = max(_ratio(-two_now, two_change), 0.0)
        first = max(_ratio(-an, aa) + second * step / (1 - step), 0.0)
        whole = 1 + first + second
        return [first / whole, second / whole, 1 / whole], points


class Triconjugate(Conjugate):
    """Move in a direction that is conjugate to the last three, as far as shares allow it.

    This extends the paper, which ends at two. The target is a mean of the loading and the last
    targets. The shares of the ways to them make a quadratic model of the objective least, whose
    slope is taken to be 0 along all ways but that to the loading. So the direction is conjugate to
    each of the others that has a share; none is negative.
    """

    MOST = 3

    def mean(self, loading: Flows, products: Products) -> Mean:
        if not self._targets:
            return [1.0], [loading]
        points = [loading, *self._targets]
        return _shares(products(points)), points


def _shares(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shares of the points in the target, of which the first is the loading."""
    count = len(products)
    subsets = _subsets(count)
    alone: NDArray[np.float64] = np.eye(count)[0]
    products = products + RIDGE * np.diag(products.diagonal())  # two ways may be one
    systems = np.where(subsets[:, None] & subsets[..., None], products, np.eye(count))
    try:
        weights = np.linalg.solve(systems, alone[:, None])[..., 0]
    except np.linalg.LinAlgError:  # times do not change along a way
        return alone
    best = weights[np.where((weights >= 0).all(axis=1), weights[:, 0], 0.0).argmax()]
    whole = best.sum()
    return np.asarray(best / whole) if 0 < whole < np.inf else alone


@cache
def _subsets(count: int) -> NDArray[np.bool_]:
    """Return all subsets of points that have the first."""
    return np.array([(True, *others) for others in product([False, True], repeat=count - 1)])


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
