"""Nearest facilities in a graph with turns, made of those in its expansion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import NegativeCycleError
from groute_py.graph.csr import Graph
from groute_py.jobs.facilities import NearestFacilities
from groute_py.turns.expanded import layout_of
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
        next=beside(found.next, layout),
    )


def beside(before: NDArray[Any], layout: Layout) -> NDArray[np.int64]:
    """The vertex beside each, shape (…, n); −1 where there is none.

    The arc between an arrival and its vertex or a copy is no step.

    Args:
        before: the place before each place, shape (…, places), −1 for none.
        layout: of the vertices.
    """
    found = layout.at_ends(before.T).T
    if layout.is_reversed:
        return layout.vertices(np.where(layout.are_arrivals(found), -1, found))
    behind = np.where(found < 0, -1, np.take_along_axis(before, np.maximum(found, 0), axis=-1))
    return layout.vertices(np.where(layout.is_split(), behind, found))


def as_given(
    error: NegativeCycleError, solved: Graph | None, *, to_facility: bool
) -> NegativeCycleError:
    """The cycle of a solve as one of the graph that was given.

    Args:
        error: its vertices are places.
        solved: the graph on rank 0, perhaps expanded by turns; None elsewhere.
        to_facility: the arcs of the graph are turned round.
    """
    ids = None
    if solved is not None:
        error = layout_of(solved).cycle(error)
        ids = solved.numbering.ids_of(np.array(error.cycle)).tolist()
    again = NegativeCycleError(error.cycle, error.weight, ids=ids)
    again.on_all_ranks = error.on_all_ranks
    return again.reversed() if to_facility else again
