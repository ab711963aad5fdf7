"""Disaggregate simplicial decomposition: flows of a few origins each move on their own.

Trips of a class are loaded by rows of a few origins. Each row moves within the simplex of its
flows, its loading, and its last two targets, to the least quadratic form of the objective; then a
line search corrects the form. So each row has a direction of its own, conjugate to its last two.

(Simplices by origins and destinations: Larsson and Patriksson, "Simplicial decomposition with
disaggregated representation for the traffic assignment problem", Transportation Science 26(1),
1992. Of a few points only: Hearn, Lawphongpanich and Ventura, "Restricted simplicial decomposition:
computation and extensions", Mathematical Programming Study 31, 1987.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.directions import Flows
from groute_py.kernels.cpu import simplices
from groute_py.system.memory_limits import check_room
from groute_py.system.threads import in_slices

SWEEPS, TURNS = 3, 8
"""Sweeps over all rows in an iteration; every `TURNS`-th row moves at once."""

COPIES = 10
"""Arrays of all rows at once: flows, loadings, targets, and what lies between them."""


def check_rows(rows: int, links: int) -> None:
    """Raise `GraphError` if there is no room for flows by row."""
    check_room(8 * COPIES * rows * links, f"flows of {rows:,} rows on {links:,} links")


def shares_of(
    flows: Flows,
    points: Sequence[Flows],
    classes: tuple[NDArray[np.int64], NDArray[np.float64]],
    form: tuple[Flows, NDArray[np.float64]],
    sweeps: int,
    turns: int,
) -> NDArray[np.float64]:
    """Return the shares of the way from flows (R, m) to each of three points, shape (R, 3).

    They move to the least quadratic form of the objective, which has costs (c, m) and slopes (m,)
    at the flows; ``classes`` are those of rows, and the cars of a trip of each. In a sweep every
    ``turns``-th row chooses its own move, and all these go the same part of it: where they use the
    same links the whole would be too much.
    """
    (rows, links), (costs, slopes) = flows.shape, form
    some = flows, tuple(points), classes
    products, gains = np.empty((rows, simplices.POINTS, simplices.POINTS)), np.empty(rows)
    shares, moves = np.zeros((2, rows, simplices.POINTS))
    prices, way = np.vstack([costs, np.zeros(links)]), np.empty(links)
    own = products, shares, moves, gains
    _by_threads(range(rows), lambda part: simplices.multiply_ways(part, *some, slopes, products))
    for turn in [*range(turns)] * sweeps:
        every = range(turn, rows, turns)
        _by_threads(every, lambda part: simplices.choose_moves(part, *some, prices, *own))
        ends = every.start, every.stop, every.step
        rest = ends, *some, moves, way
        _by_threads(range(links), partial(_combine, rest))
        mine = slice(*ends)
        gain, bend = float(gains[mine].sum()), float((slopes * way * way).sum())
        step = min(max(gain, 0.0) / bend, 1.0) if bend > 0 else 1.0
        shares[mine] += step * moves[mine]
        prices[-1] += step * slopes * way
    return shares


def _combine(rest: tuple[Any, ...], part: tuple[int, int, int]) -> None:
    simplices.combine_moves(part, *rest)


def _by_threads(numbers: range, work: Callable[[tuple[int, int, int]], None]) -> None:
    """Do the work for parts of some numbers: their first, end and step."""

    def some(part: slice) -> None:
        own = numbers[part]
        work((own.start, own.stop, own.step))

    in_slices(len(numbers), -(-len(numbers) // 16) or 1, some)


class Simplices:
    """The rows of classes, their last targets, and moves; see the head of this module.

    Attributes:
        owners: the class of each row, shape (R,).
    """

    def __init__(self, counts: Sequence[int]) -> None:
        self.owners = np.repeat(np.arange(len(counts)), counts)
        ends = np.cumsum(counts).tolist()
        self._rows = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
        self._targets: list[Flows] = []

    def sums(self, flows: Flows) -> list[Flows]:
        """Flows by class from those by row."""
        return [flows[rows].sum(axis=0) for rows in self._rows]

    def target(self, flows: Flows, loading: Flows, links: Any) -> Flows:
        """Return where to move from flows (R, m) on some `groute_py.assignment.links.Links`."""
        points = [loading, *self._targets, loading, loading][: simplices.POINTS]
        target: Flows
        target, end = links.targets(self.owners, flows, points, SWEEPS, TURNS)
        self._targets = [end, *self._targets[:1]]
        return target

    def forget(self) -> None:
        """Begin anew: nothing leads to the last targets."""
        self._targets = []
