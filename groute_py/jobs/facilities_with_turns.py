"""Nearest facilities in a graph with turns, made of those in its expansion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groute_py.jobs.facilities import NearestFacilities
from groute_py.turns.layout import Layout


def of_vertices(found: NearestFacilities, layout: Layout) -> NearestFacilities:
    """The answer for each vertex where its paths end.

    Args:
        found: for each place.
        layout: of the vertices.
    """
    if not layout.is_expanded:
        return found
    return replace(
        found,
        facilities=layout.vertices(layout.at_ends(found.facilities)),
        distances=layout.at_ends(found.distances),
        next=_next(found.next, layout),
    )


def _next(before: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """The vertex beside each; the arc between an arrival and its vertex or a copy is no step."""
    found = layout.at_ends(before)
    if layout.is_reversed:
        return layout.vertices(np.where(layout.are_arrivals(found), -1, found))
    behind = np.where(found < 0, -1, before[found])
    return layout.vertices(np.where(layout.is_split(), behind, found))
