"""A graph on rank 0, which sends the other ranks their rows, but for those that map them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.geography import Geography
from groute_py.graph.ids import Numbering
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.hierarchy.prepared import PreparedGraph, file_of_prepared, hierarchy_of
from groute_py.io.unchanged import known_facts
from groute_py.partition.base import Partition
from groute_py.partition.choose import partition
from groute_py.partition.order import Order, arrange
from groute_py.partition.share import Rows, rows_of
from groute_py.source.base import Spread
from groute_py.source.every_rank import look_at
from groute_py.source.shared import SharedFile
from groute_py.turns.expanded import solved_form

if TYPE_CHECKING:
    from groute_py.engine.options import Options


class Whole:
    """A whole graph on rank 0; when broadcast, the other ranks get an empty one.

    Args:
        graph: on rank 0; other ranks' values are not looked at.
        rounded_to: the type that float weights had before they were widened, likewise.
    """

    def __init__(self, graph: Graph | None, rounded_to: np.dtype[Any] | None = None) -> None:
        self._graph, self._rounded_to = graph, rounded_to

    def __reduce__(self) -> tuple[Any, ...]:
        return Whole, (None,)

    def facts(self, channel: Channel) -> Facts:
        def known() -> Facts:
            return replace(known_facts(self.graph()), rounded_to=self._rounded_to)

        return on_root(channel, known)

    def spread(self, channel: Channel, options: Options) -> Spread:
        arranged = on_root(channel, lambda: _Arranged(self.graph(), options, channel.size))
        return Spread(arranged.partition, _spread(channel, arranged), arranged.order)

    def numbering(self) -> Numbering:
        return solved_form(self.graph()).numbering

    def geography(self) -> Geography:
        return self.graph().geography

    def graph(self) -> Graph:
        assert self._graph is not None
        return self._graph

    def file(self) -> SharedFile | None:
        return None

    def hierarchy(self) -> Hierarchy | None:
        return hierarchy_of(self.graph())

    def keep(self, graph: PreparedGraph) -> None:
        """Nowhere."""


class _Arranged:
    """A graph in a good order, cut; when broadcast, the others learn where it is cut."""

    def __init__(self, graph: Graph, options: Options, size: int) -> None:
        def cut(graph: Graph) -> Partition:
            return partition(graph.offsets, size, options.partition)

        if size > 1 or options.renumbers:
            graph = graph.to_host()
        graph, self.order = arrange(graph, options.order, options.coordinates, size, cut)
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
        """Whether all rows are rank 0's."""
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
    columns = [
        channel.scatter([getattr(part, name) for part in parts] if parts else None)
        for name in ("offsets", "heads", "weights")
    ]
    return Rows(*columns)
