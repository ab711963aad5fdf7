"""Moves of rows of flows within the simplices of their points; `groute_py.assignment.simplices`.

A row has flows on m links, and three points, which are flows too. Its shares, none negative and 1
at most together, lead from the flows towards the points. The objective is replaced by its quadratic
form at the flows: ``prices`` (·, m) by class and link, and ``slopes`` (m,) of the times of links.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import inlined_kernel, kernel

POINTS = 3

TRIALS, ACCURACY = 20, 1e-9
"""Rounds of a search in one simplex, at most, and the change of a share at which it ends."""


@kernel
def multiply_ways(
    rows: Any, flows: Any, points: Any, classes: Any, slopes: Any, products: Any
) -> None:
    """Fill products (R, 3, 3) of the ways from flows to points, with slopes between them.

    ``rows`` are the first, the end and the step; ``classes`` the class of each row, and the cars of
    a trip by class.
    """
    (owners, cars), (first, second, third) = classes, points
    way = np.empty(POINTS)
    for row in range(*rows):
        own = products[row]
        own[:] = 0
        for link in range(len(slopes)):
            flow = flows[row, link]
            way[0] = first[row, link] - flow
            way[1] = second[row, link] - flow
            way[2] = third[row, link] - flow
            for i in range(POINTS):
                for j in range(i, POINTS):
                    own[i, j] += slopes[link] * way[i] * way[j]
        for i in range(POINTS):
            for j in range(i, POINTS):
                own[i, j] *= cars[owners[row]] ** 2
                own[j, i] = own[i, j]


@kernel
def choose_moves(
    rows: Any,
    flows: Any,
    points: Any,
    classes: Any,
    prices: Any,
    products: Any,
    shares: Any,
    moves: Any,
    gains: Any,
) -> None:
    """Fill moves (R, 3) of shares to the least objective of each row alone, and what they gain.

    The gain is of the first order. The last of the ``prices`` is what the moves of all rows have
    added to those of each class.
    """
    (owners, cars), (first, second, third) = classes, points
    rates, own = np.empty(POINTS), np.empty(POINTS)
    added = prices[len(prices) - 1]
    for row in range(*rows):
        one = two = three = 0.0
        costs = prices[owners[row]]
        for link in range(len(added)):
            price, flow = costs[link] + added[link], flows[row, link]
            one += price * (first[row, link] - flow)
            two += price * (second[row, link] - flow)
            three += price * (third[row, link] - flow)
        rates[0], rates[1], rates[2] = one, two, three
        rates *= cars[owners[row]]
        own[:] = shares[row]
        _find_least(products[row], rates.copy(), own)
        moves[row] = own - shares[row]
        gains[row] = -(rates * moves[row]).sum()


@inlined_kernel
def _find_least(products: Any, slopes: Any, own: Any) -> None:
    """Move shares (3,) to where a quadratic form is least, by coordinates and pairs of them."""
    for _ in range(TRIALS):
        most = 0.0
        for i in range(POINTS):
            if products[i, i] > 0:
                left = max(1 - own.sum(), 0.0)
                change = min(max(-slopes[i] / products[i, i], -own[i]), left)
                own[i] += change
                slopes += change * products[i]
                most = max(most, abs(change))
            for j in range(i):
                bend = products[i, i] + products[j, j] - 2 * products[i, j]
                if bend > 0:
                    change = max(min((slopes[j] - slopes[i]) / bend, own[j]), -own[i])
                    own[i] += change
                    own[j] -= change
                    slopes += change * (products[i] - products[j])
                    most = max(most, abs(change))
        if most <= ACCURACY:
            break


@kernel
def combine_moves(
    links: Any, rows: Any, flows: Any, points: Any, classes: Any, moves: Any, way: Any
) -> None:
    """Fill the change of volumes (m,) by moves of rows, for the links from the first to the end."""
    (owners, cars), (first, second, third) = classes, points
    begin, end, _ = links
    way[begin:end] = 0
    for row in range(*rows):
        one, two, three = cars[owners[row]] * moves[row]
        if one != 0 or two != 0 or three != 0:
            for link in range(begin, end):
                flow = flows[row, link]
                way[link] += (
                    one * (first[row, link] - flow)
                    + two * (second[row, link] - flow)
                    + three * (third[row, link] - flow)
                )
