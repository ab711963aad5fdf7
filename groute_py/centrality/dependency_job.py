"""The graph whose shortest paths are counted, and from which sources, on every rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.simple import SimpleGraph, refuse_zero_cycles, simple_graph
from groute_py.comm.agree import on_root
from groute_py.device.dependencies import Accumulation
from groute_py.engine.options import Options
from groute_py.errors import InputError, quoted
from groute_py.graph.csr import Graph
from groute_py.hierarchy.prepared import without_hierarchy
from groute_py.many.precision import one_precision
from groute_py.many.sources import Vertices, vertices_in
from groute_py.solver.opened import Opened


@dataclass(frozen=True, eq=False)
class DependencyJob:
    """What all ranks do.

    Attributes:
        simple: the graph.
        sources: int64, shape (k,).
        hops: whether every weight is 1.
        asked: what is summed.
        options: of which the device and the memory limit count.
    """

    simple: SimpleGraph
    sources: NDArray[np.int64]
    hops: bool
    asked: Accumulation
    options: Options

    @property
    def graph(self) -> Graph:
        """Without self-loops and parallel arcs."""
        return self.simple.graph

    @property
    def sum_count(self) -> int:
        """Vertices or arcs that sums are of."""
        return self.graph.arc_count if self.asked.by_arc else self.graph.vertex_count

    @property
    def sampled(self) -> bool:
        """Whether some vertices are no sources."""
        return len(self.sources) != self.graph.vertex_count


def dependency_job(
    opened: Opened,
    sources: Vertices | None,
    *,
    by_arc: bool = False,
    endpoints: bool = False,
    errors: bool = False,
) -> DependencyJob:
    """Give a graph whose shortest paths can be counted to every rank. Collective.

    Args:
        opened: the graph.
        sources: None for all vertices.
        by_arc: whether sums are those of arcs, not of vertices.
        endpoints: whether the ends of a path lie on it.
        errors: whether the squares are summed too where not all vertices are sources.

    Raises:
        InputError: no vertices, negative weights or a cycle of weight 0.
    """
    channel, _ = opened.channel, opened.supply()

    def made() -> DependencyJob:
        graph = opened.graph()
        simple, every = _countable(graph), np.arange(graph.vertex_count)
        if sources is not None:
            every = vertices_in(graph, sources).astype(np.int64, copy=False)
        refuse_repeats(every, graph)
        refuse_zero_cycles(simple.graph, every)
        squares = errors and len(every) != graph.vertex_count
        asked = Accumulation(by_arc, endpoints, squares)
        return DependencyJob(simple, every, opened.options.hops, asked, opened.options)

    return on_root(channel, made)


def refuse_repeats(sources: NDArray[np.int64], graph: Graph) -> None:
    """Raise `InputError` for a source that is there twice, since its paths would count twice."""
    found, times = np.unique(sources, return_counts=True)
    if len(found) < len(sources):
        source = quoted(graph.numbering.id_of(int(found[times.argmax()])))
        raise InputError(f"source {source} is given {times.max()} times; give it once")


def _countable(graph: Graph) -> SimpleGraph:
    """The graph whose shortest paths are counted."""
    name = quoted(graph.name)
    if graph.vertex_count == 0:
        raise InputError(f"{name} has no vertices, so there is no source")
    whole = one_precision(without_hierarchy(graph))
    if whole.arc_count and whole.weights.min() < 0:
        raise InputError(f"{name} has a negative weight, with which betweenness is not defined")
    return simple_graph(whole)
