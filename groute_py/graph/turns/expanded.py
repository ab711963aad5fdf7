"""A graph whose turns have costs: shortest paths of its expansion are those of the graph.

A *walk* is a sequence of arcs a₁ a₂ … aₖ, each of which begins where the one before it ends. It
costs the weights of its arcs and the costs of its turns (a₁, a₂), …, (aₖ₋₁, aₖ); it may take none
that is forbidden. Turns that are not listed cost 0, U-turns too. So to leave the source and to
arrive at the target is no turn, and the distance to a vertex is the least cost of all walks there.

**The expansion** keeps the n vertices, and adds states for those *split* vertices v that have
turns listed: a *copy* v_t for each tail t of listed turns (t, v, ·), and one *arrival* v*.

* All arcs (t, v) lead to v_t instead of v. Other arcs to v still lead to v.
* The arcs that leave v leave v_t too, but for those behind a forbidden turn (t, v, h); those behind
  one with a cost weigh so much more. All copies of an arc (v, h) lead to the same state, h or h_v,
  and so do all parallel arcs.
* Arcs of weight 0 lead from v and from each copy to v*, which no arc leaves.

Where turns are listed between arcs, each arc a = (t, v) from which some are listed leads to a copy
v_a of its own; all else is the same, and so is the proof.

It grows by the in-arcs and out-arcs of split vertices alone, not to a line graph.

**Distances.** Walks from s to v are the paths of the expansion from s itself to v*, or to v if that
is not split, at the same cost. By induction on k: the walk a₁ … aₖ with its last arc (t, v) is a
path to v_t if that is there, else to v, and to no other state of v; for k = 0 the state is s. The
arcs that leave this state are those that the walk may go on with, at their weights and the costs of
the turns: from v_t by the second rule; from v itself all at their weights, as no turn (t, v, ·) is
listed. So the least distance of v and its copies, which is that of v*, is the distance of v.
Weights may be negative: a closed walk whose cost with all its turns is negative, that into its
first arc included, is a negative cycle of the expansion, and the other way round. A weight and the
cost of the turn before it are one number, so float sums are those of the walk from its begin on.

**Reversed.** The arcs of the expansion turned round solve for distances to a vertex: there a path
begins at v* and ends at the vertex itself.

**Trees.** Each state has a predecessor; a vertex has none in general. The shortest walk to h by way
of v may come to v by a copy that is not the nearest one, as that may not turn to h. Then no tree in
the vertices of the graph has all shortest paths, and so answers have paths but no predecessors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import NegativeCycleError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.geography import Units
from groute_py.graph.ids import Numbering
from groute_py.graph.turns.arrays import ArcStates, Copies, expanded_arrays, rules_of
from groute_py.system.memory_limits import check_room


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


Way = tuple[Any, Any]
"""The cost to come to a state, and how: the last arc and the way before it, or None."""


class Original(NamedTuple):
    """A graph that was expanded, and where its arcs are in the expansion."""

    graph: Graph
    states: ArcStates


class ExpandedGraph(Graph):
    """The expansion of a graph. Its rows are of states; ids and coordinates are of vertices."""

    solved: Graph
    layout: Layout
    # in its own direction also where the expansion is reversed; None where it was received
    original: Original | None

    def __init__(
        self, solved: Graph, layout: Layout, numbering: Numbering, original: Original | None
    ) -> None:
        vars(self).update(vars(solved), solved=solved, layout=layout, original=original)
        vars(self)["_numbering"] = numbering
        if original is not None:  # the same array, as shapes belong to it
            vars(self)["coordinates"] = original.graph.coordinates
        elif solved.coordinates is not None:
            vars(self)["coordinates"] = solved.coordinates[: layout.vertex_count]

    @property
    def numbering(self) -> Numbering:
        """Between the graph's vertices and the file's ids."""
        numbering: Numbering = vars(self)["_numbering"]
        return numbering

    @property
    def units(self) -> Units:
        """The units of the graph without turns."""
        return {} if self.original is None else self.original.graph.units

    def reversed(self) -> ExpandedGraph:
        """The expansion with each arc turned round; see this module's docstring."""
        parts = self.solved.reversed(), self.layout.reversed()
        return ExpandedGraph(*parts, self.numbering, self.original)

    def __getstate__(self) -> dict[str, Any]:
        """The part that other ranks get."""
        return vars(self) | {"original": None}


def layout_of(graph: Graph) -> Layout:
    """States of a user's vertices in a graph."""
    if isinstance(graph, ExpandedGraph):
        return graph.layout
    return Layout(graph.vertex_count, graph.arc_count)


def solved_graph(graph: Graph) -> Graph:
    """The graph whose vertices are states."""
    return graph.solved if isinstance(graph, ExpandedGraph) else graph


def expanded(graph: Graph, turns: Any) -> ExpandedGraph:
    """The expansion of a graph by turns.

    >>> crossing = Graph.from_arrays([0, 1, 3, 3, 3], [1, 2, 3], [5, 1, 1])
    >>> solved = expanded(crossing, [(0, 1, 2, 9), (0, 1, 3, None)]).solved
    >>> solved.offsets.tolist()
    [0, 1, 4, 4, 4, 4, 6]
    >>> list(zip(solved.heads.tolist(), solved.weights.tolist()))
    [(5, 5), (2, 1), (3, 1), (4, 0), (2, 10), (4, 0)]
    """
    host = graph.to_host()
    check_room(host.nbytes, f"{host.name} with turns")
    rules = rules_of(turns, host)
    copies = Copies.of(rules)
    split = np.unique(copies.vias)
    layout = Layout(host.vertex_count, host.arc_count, split, copies.vias, is_expanded=True)
    vertices = layout.vertices(np.arange(host.vertex_count + len(split) + len(copies.vias)))
    arrays, states = expanded_arrays(host, rules, copies, split)
    solved = host.changed(
        **arrays,
        ids=host.numbering.ids_of(vertices),
        coordinates=None if host.coordinates is None else host.coordinates[vertices],
    )
    return ExpandedGraph(solved, layout, host.numbering, Original(host, states))


def arcs_along(original: Original, vertices: Sequence[int]) -> list[int]:
    """The numbers of the arcs of the cheapest walk over some vertices, one fewer than these.

    Turns between arcs tell parallel arcs apart, so what may follow an arc counts.
    """
    ways: dict[int, Way] = {vertices[0]: (0, None)}
    for tail, head in pairwise(vertices):
        ways = _onward(original, ways, tail, head)
    way: Any = min(ways.values(), key=lambda entry: entry[0])[1]
    arcs = []
    while way is not None:
        arc, way = way
        arcs.append(arc)
    return arcs[::-1]


def _onward(original: Original, ways: dict[int, Way], tail: int, head: int) -> dict[int, Way]:
    """The cheapest ways to the states of a vertex, by its state, from those to the one before."""
    graph, states = original
    onward: dict[int, Way] = {}
    for state, (cost, way) in ways.items():
        for arc, turn in _leaving(original, state, tail, head):
            total, at = cost + graph.weights[arc].item() + turn, int(states.heads[arc])
            if at not in onward or total < onward[at][0]:
                onward[at] = total, (arc, way)
    return onward


def _leaving(original: Original, state: int, tail: int, head: int) -> list[tuple[int, Any]]:
    """The arcs from a state of a vertex to another vertex, and the costs of the turns to them."""
    graph, states = original
    arcs: NDArray[np.int64]
    if state == tail:  # no turn is listed from the arc that led here, if any
        arcs = np.arange(*graph.offsets[tail : tail + 2])
        costs: Any = np.zeros(len(arcs), np.int64)
    else:
        some = slice(*np.searchsorted(states.copies, [state, state + 1]))
        arcs, costs = states.arcs[some], states.costs[some]
    is_there = graph.heads[arcs] == head
    return list(zip(arcs[is_there].tolist(), costs[is_there].tolist(), strict=True))
