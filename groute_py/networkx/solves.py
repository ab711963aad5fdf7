"""The solves behind the functions of the backend, as calls of `groute_py.many`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from groute_py.comm.solo import SoloChannel
from groute_py.engine.options import Options
from groute_py.errors import InputError, NegativeCycleError, RunError
from groute_py.graph.csr import Graph
from groute_py.many.rooted import solve_nearest
from groute_py.many.rows import solve_each
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.tree import Tree
from groute_py.system.settings import settings


def options(**choices: Any) -> Options:
    """Options for the device that the environment names."""
    return Options(device=settings().device, **choices)


def vertex_of(graph: BackendGraph, node: Node, role: str = "Source") -> int:
    """The vertex of a node; ``role`` is what errors call it."""
    try:
        return graph.index[node]
    except (KeyError, TypeError):
        raise nx.NodeNotFound(f"{role} {node} is not in G") from None


@contextmanager
def networkx_errors() -> Iterator[None]:
    """Translate errors to NetworkX's; NotImplementedError leaves the call to NetworkX."""
    try:
        yield
    except NegativeCycleError as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error
    except (InputError, RunError) as error:
        raise NotImplementedError(str(error)) from error


def trees(
    graph: BackendGraph,
    arcs: Graph,
    sources: Iterable[Node],
    choices: Options,
    targets: Sequence[int] = (),
) -> Iterator[tuple[Node, Tree]]:
    """Each source with its tree, up to its last target if there are any; the graph is loaded once.

    The first solve is done at once: what cannot be solved is left to NetworkX, which can take over
    as long as nothing has been returned.
    """
    found = _trees(graph, arcs, sources, choices, targets)
    return chain([*islice(found, 1)], found)


def _trees(
    graph: BackendGraph,
    arcs: Graph,
    sources: Iterable[Node],
    choices: Options,
    targets: Sequence[int],
) -> Iterator[tuple[Node, Tree]]:
    nodes = list(sources)
    vertices = [vertex_of(graph, node) for node in nodes]
    if not nodes:
        return
    with networkx_errors():
        for node, result in zip(
            nodes, solve_each(arcs, vertices, choices, SoloChannel(), targets), strict=True
        ):
            assert result is not None
            yield node, Tree(graph, result.distances, result.predecessors)


def distances_from(
    graph: BackendGraph, arcs: Graph, sources: Iterable[Node], choices: Options
) -> Iterator[NDArray[Any]]:
    """The distances from each source, shape (n,); the graph is loaded once."""
    vertices = [vertex_of(graph, node) for node in sources]
    if not vertices:
        return
    with networkx_errors():
        for result in solve_each(arcs, vertices, choices, SoloChannel()):
            assert result is not None
            yield result.distances


def tree(
    graph: BackendGraph, arcs: Graph, source: Node, choices: Options, target: Node | None = None
) -> Tree:
    """The tree of one source; with a target that is a node it need not lead farther."""
    targets = [graph.index[target]] if target is not None and target in graph else []
    ((_, found),) = trees(graph, arcs, [source], choices, targets)
    return found


def nearest(graph: BackendGraph, arcs: Graph, sources: Iterable[Node], choices: Options) -> Tree:
    """The paths from the nearest of several sources."""
    vertices = [vertex_of(graph, node) for node in sources]
    if not vertices:
        raise ValueError("sources must not be empty")
    with networkx_errors():
        found = solve_nearest(arcs, np.array(vertices), choices)
    return Tree(graph, found.distances, found.predecessors)
