"""Nearest facilities in a graph with turns, made of those in its expansion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groute_py.jobs.facilities import NearestFacilities
from groute_py.turns.places import Places


def of_vertices(found: NearestFacilities, places: Places) -> NearestFacilities:
    """The answer for each vertex where its paths end.

    Args:
        found: for each place.
        places: of the vertices.
    """
    if not places.is_expanded:
        return found
    return replace(
        found,
        facilities=places.vertices(places.at_ends(found.facilities)),
        distances=places.at_ends(found.distances),
        next=_next(found.next, places),
    )


def _next(before: NDArray[np.int64], places: Places) -> NDArray[np.int64]:
    """The vertex beside each; the arc between an arrival and its vertex or a copy is no step."""
    found = places.at_ends(before)
    if places.is_reversed:
        return places.vertices(np.where(places.are_arrivals(found), -1, found))
    behind = np.where(found < 0, -1, before[found])
    return places.vertices(np.where(places.is_split(), behind, found))
