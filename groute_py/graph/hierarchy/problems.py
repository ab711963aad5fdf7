"""Why a graph has no contraction hierarchy, by its facts or once that is tried."""

from __future__ import annotations

import numpy as np

from groute_py.graph.facts import Facts


class DenseError(Exception):
    """Contraction was given up: the rest became too dense, on the mean or in one row."""

    def __init__(self, left: int, degree: float, longest: int = 0) -> None:
        most = f", one of them {longest:,}" if longest else " each"
        super().__init__(
            f"contraction stops at {left:,} vertices with {degree:.0f} neighbours{most}; it pays "
            "on roads, meshes and trees"
        )
        self.left, self.degree = left, degree


class NarrowError(Exception):
    """The weight of a shortcut does not fit in the type that was tried."""


class UnsuitableError(Exception):
    """A graph is not contracted, or not swept, and why."""


MOST_NEIGHBOURS = 5.0
"""Arcs of a vertex on the mean up to which contraction is tried: roads have 2.5, a grid has 4."""

MOST_VERTICES, MOST_ARCS = 2**31 - 1, 2**30
"""Limits of a graph that is contracted: numbers of vertices and, with shortcuts, of arcs have 32
bits."""


def why_not(facts: Facts) -> str | None:
    """Return why a graph is not contracted, or None for a try, which may end with `DenseError`."""
    if (why := cannot(facts)) is not None:
        return why
    if facts.mean_degree > MOST_NEIGHBOURS:
        return (
            f"its vertices have {facts.mean_degree:.1f} arcs on the mean; contraction pays up to "
            f"{MOST_NEIGHBOURS:.0f}, on roads, meshes and trees"
        )
    return None


def cannot(facts: Facts) -> str | None:
    """Why a graph has no hierarchy, however long the contraction takes; None if it may have one."""
    if facts.has_maxima:
        return "shortcuts add weights, and the objective takes the greatest"
    if facts.has_negative:
        return f"a weight is negative ({facts.least})"
    if facts.weight_type.kind == "f":
        return "sums of float weights over shortcuts would be rounded in another order"
    if facts.greatest == np.iinfo(np.int64).max:
        return f"a weight is {facts.greatest}, which stands for no path"
    if facts.vertex_count > MOST_VERTICES:
        return f"it has more than {MOST_VERTICES:,} vertices"
    if facts.arc_count > MOST_ARCS:
        return f"it has more than {MOST_ARCS:,} arcs"
    return None
