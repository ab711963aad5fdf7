"""A graph on rank 0, which sends the other ranks their rows, but for those that map them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, facts_of
from groute_py.graph.geography import Geography
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.hierarchy.prepared import (
    PreparedFile,
    PreparedGraph,
    file_of_prepared,
    hierarchy_of,
)
from groute_py.graph.ids import Numbering
from groute_py.graph.turns.expanded import layout_of, solved_graph
from groute_py.io.cache import Copy
from groute_py.partition.cutting import Cutting
from groute_py.partition.order import Order, arrange
from groute_py.partition.share import Partition, Rows, partition, rows_of
from groute_py.source.base import Spread, Supply
from groute_py.source.shared import SharedFile, look_at


class GraphSupply(Supply):
    """A whole graph on rank 0; when broadcast, the other ranks get an empty one.

    ``forward`` is the graph before its arcs were reversed. It stays in memory until the graph is
    contracted and ``copy`` is written, so that runs of both directions find one hierarchy.
    """

    def __init__(
        self,
        graph: Graph | None,
        rounded_to: np.dtype[Any] | None = None,
        *,
        file: SharedFile | None = None,
        copy: Copy | None = None,
        forward: Graph | None = None,
    ) -> None:
        self._graph, self._rounded_to, self._file = graph, rounded_to, file
        self._copy, self._forward = copy, forward if copy is not None else None

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphSupply, (None,)

    def facts(self, channel: Channel) -> Facts:
        def make() -> Facts:
            return replace(facts_of(self.graph()), rounded_to=self._rounded_to)

        return on_root(channel, make)

    def spread(self, channel: Channel, cutting: Cutting) -> Spread:
        arranged = on_root(channel, lambda: _Arranged(self.graph(), cutting, channel.size))
        return Spread(arranged.partition, _spread(channel, arranged), arranged.order)

    def numbering(self) -> Numbering:
        return solved_graph(self.graph()).numbering

    def geography(self) -> Geography:
        return self.graph().geography

    def graph(self) -> Graph:
        assert self._graph is not None
        return self._graph

    def file(self) -> PreparedFile | SharedFile | None:
        if isinstance(self._graph, PreparedGraph):
            return self._graph.file
        return self._file

    def hierarchy(self) -> Hierarchy | None:
        return hierarchy_of(self.graph())

    def keep(self, graph: PreparedGraph) -> None:
        if layout_of(self.graph()).is_expanded:  # a prepared graph would know no turns
            return
        forward, is_as_given = self._forward, self._forward is self._graph
        self._graph, self._forward = graph, None
        if self._copy is None or forward is None:
            return
        if is_as_given:
            self._graph = self._copy.write(graph)
        else:
            self._copy.write(PreparedGraph(forward, graph.hierarchy.reversed()))


class _Arranged:
    """A graph in a good order, cut; when broadcast, the others learn where it is cut."""

    def __init__(self, graph: Graph, cutting: Cutting, size: int) -> None:
        def cut(graph: Graph) -> Partition:
            return partition(graph.offsets, size, cutting.partition)

        if size > 1 or cutting.renumbers:
            graph = graph.to_host()
        graph, self.order = arrange(graph, cutting.order, cutting.coordinates, size, cut)
        self.partition = cut(graph)
        self.file = file_of_prepared(graph)
        self.parts: list[Rows] | None = [rows_of(graph, self.partition, p) for p in range(size)]

    def __getstate__(self) -> dict[str, Any]:
        return {
            "order": Order(self.order.name),
            "partition": self.partition,
            "file": self.file,
            "parts": None,
        }

    @property
    def is_on_one_rank(self) -> bool:
        """Return True if all rows are rank 0's."""
        return bool(self.partition.bounds[1] == self.partition.bounds[-1])


def _spread(channel: Channel, arranged: _Arranged) -> Rows:
    """This rank's rows: from the file of the graph, if it sees it, else from rank 0. Collective."""
    if arranged.file is None or arranged.is_on_one_rank:
        return _scattered(channel, arranged.parts)
    contents, seen = look_at(arranged.file, channel)
    if contents is None or channel.rank == 0:
        return _scattered(channel, _without(arranged.parts, seen))
    _scattered(channel, None)
    rows = Rows(*(contents.arrays[name] for name in ("offsets", "heads", "weights")))
    return rows_of(rows, arranged.partition, channel.rank)


def _without(parts: list[Rows] | None, seen: list[bool]) -> list[Rows] | None:
    """The parts of ranks, empty but for rank 0's where they see them."""
    if parts is None:
        return None
    nothing = Rows(parts[0].offsets[:0], parts[0].heads[:0], parts[0].weights[:0])
    first, *others = zip(parts, seen, strict=True)
    return [first[0], *(nothing if sees else part for part, sees in others)]


def _scattered(channel: Channel, parts: list[Rows] | None) -> Rows:
    """This rank's of the rows that rank 0 has."""
    if channel.size == 1 and parts is not None:
        return parts[0]
    columns = [
        channel.scatter([getattr(part, name) for part in parts] if parts else None)
        for name in ("offsets", "heads", "weights")
    ]
    return Rows(*columns)
