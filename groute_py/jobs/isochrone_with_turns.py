"""Which parts of arcs are within reach where turns have costs.

An arc is begun at the cost of the path to its tail and of the turn to it, which is paid at the
tail; of several ways to begin it the cheapest counts. Towards the sources an arc is followed by
turns from it, so the place to which it leads in the expansion says what is left behind it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quoted
from groute_py.graph.tails import transposed
from groute_py.results.result import reached_in
from groute_py.turns.expanded import ExpandedGraph


class ArcBegins:
    """At which distances the arcs of a graph with turns begin.

    Args:
        graph: as it is solved, on rank 0.

    Attributes:
        roads: the graph without its expansion, turned round if the expansion is.

    Raises:
        InputError: a turn has a negative cost.
    """

    def __init__(self, graph: ExpandedGraph) -> None:
        assert graph.given is not None
        given, self._places = graph.given
        self._layout = graph.layout
        if len(self._places.costs) and self._places.costs.min() < 0:
            raise InputError(
                f"a turn of {quoted(given.name)} has a cost below 0; with such a cost there is no "
                "part of an arc within a limit"
            )
        self._numbers: NDArray[np.int64] | None = None
        self.roads = given
        if self._layout.is_reversed:
            self.roads = given.reversed()
            arcs = np.arange(given.arc_count)
            self._numbers = transposed(given.offsets, given.heads, arcs)[2]

    def of(self, vertices: NDArray[np.int64], distances: NDArray[Any]) -> NDArray[np.float64]:
        """Of the arcs of ``roads`` that leave some vertices, one vertex after the other.

        Args:
            vertices: ascending, shape (r,).
            distances: of all places.

        Returns:
            float64, shape (a,), infinity where no path goes on to the arc.
        """
        of_places = np.where(reached_in(distances), distances.astype(np.float64), np.inf)
        firsts = self.roads.offsets[vertices]
        counts = self.roads.offsets[vertices + 1] - firsts
        shifts = firsts - np.cumsum(counts) + counts
        arcs = np.arange(int(counts.sum())) + np.repeat(shifts, counts)
        if self._numbers is not None:
            behind: NDArray[np.float64] = of_places[self._places.heads[self._numbers[arcs]]]
            return behind
        found = of_places[np.repeat(vertices, counts)]
        if not len(arcs):
            return found
        at = np.minimum(np.searchsorted(arcs, self._places.arcs), len(arcs) - 1)
        some = np.flatnonzero(arcs[at] == self._places.arcs)
        begun = of_places[self._places.copies[some]] + self._places.costs[some]
        np.minimum.at(found, at[some], begun)
        return found
