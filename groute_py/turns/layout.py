"""States of a graph's vertices in its expansion by turns, and back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import NegativeCycleError
from groute_py.graph.facts import Facts


def _none() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Layout:
    """The vertices of a graph in the graph that is solved, where they are called states.

    The first n states are the vertices. Those that have turns are *split*: state n + i is the
    *arrival* of the i-th of them, and the last states are its *copies*. Of a graph without turns
    each vertex is its own state.
    """

    vertex_count: int
    arc_count: int
    split: NDArray[np.int64] = field(default_factory=_none)  # ascending
    copied: NDArray[np.int64] = field(default_factory=_none)  # the vertex of each copy
    is_expanded: bool = False
    is_reversed: bool = False  # the arcs of the expansion are turned round

    def begins(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """States at which paths from vertices begin."""
        return self._arrivals(vertices) if self.is_reversed else vertices

    def ends(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """States at which paths to vertices end."""
        return vertices if self.is_reversed else self._arrivals(vertices)

    def all_ends(self) -> NDArray[np.int64]:
        """States at which paths to each vertex end, shape (n,)."""
        return self.at_ends(np.arange(self.vertex_count + len(self.split)))

    def at_ends(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all states, shape (states, …), where paths to each vertex end, (n, …)."""
        of_vertices = values[: self.vertex_count]
        if self.is_reversed or not len(self.split):
            return of_vertices
        of_vertices = of_vertices.copy()
        of_vertices[self.split] = values[self.vertex_count :][: len(self.split)]
        return of_vertices

    def is_split(self) -> NDArray[np.bool_]:
        """Mask of the vertices that have an arrival, shape (n,)."""
        mask = np.zeros(self.vertex_count, np.bool_)
        mask[self.split] = True
        return mask

    def vertices(self, states: NDArray[Any]) -> NDArray[np.int64]:
        """The vertices that states are of; −1 stays."""
        added, beyond = np.concatenate([self.split, self.copied]), states - self.vertex_count
        if not len(added):
            return states.astype(np.int64, copy=False)
        return np.where(beyond < 0, states, added[np.maximum(beyond, 0)])

    def are_arrivals(self, states: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the states that are arrivals, where nothing but the end of a path is."""
        beyond = states - self.vertex_count
        return np.asarray((beyond >= 0) & (beyond < len(self.split)))

    def path(self, states: NDArray[Any]) -> NDArray[np.int64]:
        """The vertices of a path."""
        return self.vertices(states[~self.are_arrivals(states)])

    def cycle(self, error: NegativeCycleError) -> NegativeCycleError:
        """A cycle of states as one of vertices."""
        if not self.is_expanded:
            return error
        cycle = self.vertices(np.array(error.cycle, np.int64)).tolist()
        result = NegativeCycleError(cycle, error.weight, ids=error.ids)
        result.on_all_ranks = error.on_all_ranks
        return result

    def facts(self, facts: Facts) -> Facts:
        """Facts of the graph from those of the expansion; the weights stay."""
        if not self.is_expanded:
            return facts
        start = int(self.vertices(np.array([facts.start]))[0])
        return replace(facts, vertex_count=self.vertex_count, arc_count=self.arc_count, start=start)

    def reversed(self) -> Layout:
        """Layout of the expansion whose arcs are turned round."""
        return replace(self, is_reversed=not self.is_reversed)

    def _arrivals(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        if not len(self.split):
            return vertices
        at = np.minimum(np.searchsorted(self.split, vertices), len(self.split) - 1)
        return np.where(self.split[at] == vertices, self.vertex_count + at, vertices)
