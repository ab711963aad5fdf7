"""A graph read together with its hierarchy: from the cache, or contracted and kept there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from groute_py.algorithms import contraction
from groute_py.device.registry import kind_of
from groute_py.engine.preparing import (
    BEFORE,
    NOW,
    UnsuitableError,
    prepare_graph,
    refusal,
    refuse_empty,
)
from groute_py.graph.csr import Graph
from groute_py.graph.facts import facts_of
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.interop.graph_like import GraphLike, as_graph, file_of
from groute_py.io.prepared_cache import PreparedCopy
from groute_py.io.registry import prepared_place
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.source.shared import SharedFile
from groute_py.system.clock import phase


class ReadGraph(NamedTuple):
    """A graph, and where its hierarchy is from.

    Attributes:
        graph: a `PreparedGraph` where there is a hierarchy.
        reason: for the hierarchy, or against one.
        file: of the native format, that the graph is mapped from as it is; None if it is not.
    """

    graph: Graph
    reason: str
    file: SharedFile | None = None


class GraphReading(NamedTuple):
    """How a graph is read; attributes as of `groute_py.interop.graph_like.as_graph`."""

    undirected: bool = False
    cache: bool | Path | None = None
    progress: Callable[[int, int], None] | None = None
    columns: Columns = BY_TITLE

    def place_of(self, graph: GraphLike) -> PreparedCopy | None:
        """Where the cache keeps the prepared graph; None where it does not."""
        file = file_of(graph, self.progress)
        if file is None:
            return None
        return prepared_place(file, self.cache, self.columns._replace(undirected=self.undirected))

    def read(self, graph: GraphLike) -> Graph:
        """The graph as it is given."""
        return as_graph(graph, **self._asdict())


def read_prepared(graph: GraphLike, device: str, reading: GraphReading) -> ReadGraph:
    """Read a graph with its hierarchy; one that is in the cache is not contracted anew.

    Args:
        graph: as for `groute_py.sssp`.
        device: where to contract: ``auto``, ``cpu`` or ``cuda``.
        reading: how to read the graph.

    Raises:
        InputError: it is not valid, or cannot be contracted.
        SetupError: the device cannot be used.
    """
    kind, found = kind_of(device, contraction.ALGORITHM.devices), _read(graph, reading)
    refuse_empty(found.graph)
    try:
        return _contracted(found, kind)
    except UnsuitableError as problem:
        raise refusal(facts_of(found.graph).name, problem) from problem


def read_prepared_if_it_suits(
    graph: GraphLike, device: str, reading: GraphReading, memory_limit: int | None
) -> ReadGraph:
    """As `read_prepared`, but a graph that cannot be contracted is returned as it is.

    Args:
        graph, device, reading: as there.
        memory_limit: bytes of a GPU that contraction may use; None for all that are free.
    """
    kind, found = kind_of(device, contraction.ALGORITHM.devices), _read(graph, reading)
    refuse_empty(found.graph)
    try:
        return _contracted(found, kind, memory_limit)
    except UnsuitableError as problem:
        return ReadGraph(found.graph, f"not contracted: {problem}")


class _Found(NamedTuple):
    """What was read, and where the cache keeps it once it is contracted, if it does."""

    graph: Graph
    copy: PreparedCopy | None


def _read(graph: GraphLike, reading: GraphReading) -> _Found:
    copy = reading.place_of(graph)
    with phase("read"):
        kept = None if copy is None else copy.read()
        return _Found(reading.read(graph) if kept is None else kept, copy)


def _contracted(found: _Found, kind: str, memory_limit: int | None = None) -> ReadGraph:
    """Contract a graph without a hierarchy, and keep it; raises as `prepare_graph`."""
    graph, copy = found
    if hierarchy_of(graph) is not None:
        return ReadGraph(graph, BEFORE)
    with phase("contract"):
        made = prepare_graph(graph, facts_of(graph), kind, memory_limit=memory_limit)
    kept = made.graph if copy is None else copy.write(made.graph)
    return ReadGraph(kept, made.because(NOW))
