"""Graphs in which shortest paths can be counted: without self-loops, parallel arcs, zero cycles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groute_py.engine.algorithms.numbers import one_precision
from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, facts_of
from groute_py.graph.hierarchy.prepared import without_hierarchy
from groute_py.graph.tails import all_tails, transposed
from groute_py.kernels.cpu.cycle import find_cycle
from groute_py.kernels.cpu.rows import are_simple
from groute_py.system.clock import span

if TYPE_CHECKING:
    from groute_py.device.cuda.multi_source.levels import LevelGraph

MOST_NAMED = 10  # vertices of a cycle that a message names


@dataclass(frozen=True, eq=False)
class SimpleGraph:
    """A graph without self-loops and parallel arcs."""

    graph: Graph  # of m arcs, each the lightest of those with its ends
    # (arcs of the given graph,): the arc that stands for each, −1 where no shortest path takes it
    places: NDArray[np.int64] | None = None  # None if all arcs are there
    shares: NDArray[np.int64] | None = None  # (m,): how many equally light arcs each stands for

    def of_given_arcs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the arcs of ``graph``, shape (m,), divided among the arcs they stand for."""
        if self.places is None or self.shares is None:
            return values
        result = np.zeros(len(self.places))
        there = self.places >= 0
        result[there] = (values / self.shares)[self.places[there]]
        return result


@dataclass(eq=False)
class CountableGraph:
    """A graph whose shortest paths are counted, and what stays of it on this rank's GPU."""

    simple: SimpleGraph
    levels: LevelGraph | None = None
    has_few_levels: bool = True  # until a search gives up

    @cached_property
    def facts(self) -> Facts:
        """The facts of the graph."""
        return facts_of(self.simple.graph)


def simple_part(graph: Graph) -> SimpleGraph:
    """Return the graph whose shortest paths are counted; refuse negative weights."""
    name = quoted(graph.name)
    if graph.vertex_count == 0:
        raise InputError(f"{name} has no vertices, so there is no source")
    whole = one_precision(without_hierarchy(graph))
    if whole.arc_count and whole.weights.min() < 0:
        raise InputError(f"{name} has a negative weight, with which betweenness is not defined")
    with span("simple graph"):
        return simple_graph(whole)


def simple_graph(graph: Graph) -> SimpleGraph:
    """The graph without self-loops and without arcs that are heavier than a parallel one.

    >>> graph = Graph.from_arrays([0, 4, 4], [1, 0, 1, 1], [3, 1, 2, 2])
    >>> simple = simple_graph(graph)
    >>> simple.graph.weights.tolist(), simple.of_given_arcs(np.array([4.0])).tolist()
    ([2], [0.0, 0.0, 2.0, 2.0])
    """
    if are_simple(graph.offsets, graph.heads):
        return SimpleGraph(graph)
    numbers = np.arange(graph.arc_count)
    offsets, heads, ids = transposed(*transposed(graph.offsets, graph.heads, numbers))
    tails = all_tails(offsets, heads.dtype)
    proper = tails != heads
    begins = np.ones(len(heads), np.bool_)
    begins[1:] = (heads[1:] != heads[:-1]) | (tails[1:] != tails[:-1])
    if proper.all() and begins.all():
        return SimpleGraph(graph)
    heads, tails, ids, begins = (array[proper] for array in (heads, tails, ids, begins))
    weights, starts = graph.weights[ids], np.flatnonzero(begins)
    places, group = np.full(graph.arc_count, -1), np.cumsum(begins) - 1
    least = np.minimum.reduceat(weights, starts) if len(starts) else weights
    lightest = weights == least[group]
    places[ids[lightest]] = group[lightest]
    degrees = np.bincount(tails[starts], minlength=graph.vertex_count)
    simple = graph.changed(
        offsets=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
        heads=heads[starts],
        weights=least,
    )
    return SimpleGraph(simple, places, np.bincount(group[lightest], minlength=len(starts)))


def refuse_repeats(sources: NDArray[np.int64], graph: Graph) -> None:
    """Refuse a source that is there twice, since its paths would count twice."""
    some, times = np.unique(sources, return_counts=True)
    if len(some) < len(sources):
        source = quoted(graph.numbering.id_of(int(some[times.argmax()])))
        raise InputError(f"source {source} is given {times.max()} times; give it once")


def refuse_zero_cycles(graph: Graph, sources: NDArray[np.int64]) -> None:
    """Refuse a cycle of weight 0 that a source reaches, in a graph without loops."""
    if not graph.arc_count or graph.weights.min() > 0:
        return
    zero = graph.weights == 0
    if len(_cycle_of(graph, zero)) and len(sources) < graph.vertex_count:
        zero &= _reached(graph, sources)[all_tails(graph.offsets)]
    cycle = _cycle_of(graph, zero)
    if len(cycle):
        ids = [quoted(name) for name in graph.numbering.ids_of(cycle[:MOST_NAMED]).tolist()]
        rest = ["…"] if len(cycle) > MOST_NAMED else [ids[0]]
        raise InputError(
            f"{quoted(graph.name)} has a cycle of weight 0, {' → '.join([*ids, *rest])}, around "
            "which shortest paths cannot be counted; give its arcs positive weights, or join its "
            "vertices"
        )


def _cycle_of(graph: Graph, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The vertices of a cycle of chosen arcs in order; none if there is no cycle."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    offsets, heads = before[graph.offsets], graph.heads[chosen]
    in_offsets, tails, _ = transposed(offsets, heads, heads)
    cycle: NDArray[np.int64] = find_cycle(offsets, heads, in_offsets, tails)
    return cycle


def _reached(graph: Graph, sources: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the vertices that a path from a source leads to, shape (n,)."""
    reached = np.zeros(graph.vertex_count, np.bool_)
    tails = all_tails(graph.offsets)
    reached[sources] = True
    while not reached[heads := graph.heads[reached[tails]]].all():
        reached[heads] = True
    return reached
