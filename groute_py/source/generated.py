"""A generated graph, of which each rank makes its own rows where they will be solved."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.graph.drawn import RandomGraph, count_drawn, drawn_arcs
from groute_py.graph.facts import LOOKED_AT, Facts, Weighed, first_with_arcs, weighed_together
from groute_py.graph.generate import generate, random_graph_of
from groute_py.graph.ids import Numbering
from groute_py.partition.cutting import Cutting
from groute_py.partition.order import Order, is_dense
from groute_py.partition.share import Partition, Rows, cost_of, partition, quality_of
from groute_py.source.base import Spread, Supply
from groute_py.source.pieces import offsets_of_all
from groute_py.source.whole import GraphSupply
from groute_py.system.memory_limits import check_room


class RowCounts(NamedTuple):
    """The rows of a graph before they are made."""

    offsets: Any  # int64, (n + 1,), on rank 0 or its GPU; other ranks may have none
    weights: Weighed


class OwnRows(NamedTuple):
    """The rows of a part, and its numbers for `quality_of`."""

    rows: Rows
    cost: tuple[int, int, int]


class RowMaker(Protocol):
    """Makes rows of a graph on one rank."""

    def count(self, channel: Channel) -> RowCounts | None:
        """Count the arcs of all rows; None where memory is short. Collective."""

    def make(self, channel: Channel, cut: Partition) -> OwnRows | None:
        """Make this rank's rows; None where memory is short. Collective, and to be called once."""


class HostMaker:
    """Makes rows in host memory."""

    def __init__(self, graph: RandomGraph) -> None:
        self._graph = graph

    def count(self, channel: Channel) -> RowCounts:
        vertices, arcs = self._graph.size
        with collective(channel):
            each = 8 * vertices + 8 * arcs // channel.size
            check_room(each, f"a rank's part of {vertices:,} vertices and {arcs:,} arcs")
            counts, weights = count_drawn(self._graph, channel.rank, channel.size)
        self._offsets = offsets_of_all(channel, counts)
        return RowCounts(self._offsets, weighed_together(channel.gather(weights)))

    def make(self, channel: Channel, cut: Partition) -> OwnRows:
        rank, bounds, offsets = channel.rank, cut.bounds, self._offsets
        parts = None
        if rank == 0:
            parts = [offsets[low : high + 1] - offsets[low] for low, high in pairwise(bounds)]
        own = channel.scatter(parts)
        with collective(channel):
            rows = Rows(own, *drawn_arcs(self._graph, int(bounds[rank]), own))
        return OwnRows(rows, cost_of(rows, cut, rank))


def count_generated(
    spec: str, channel: Channel, on_gpu: Callable[[RandomGraph], RowMaker] | None
) -> Generated | None:
    """Count a graph, by the GPUs if every rank has one; None if rank 0 is to generate it alone.

    So it does with small graphs, and with those that it may have to renumber or contract.
    Collective.
    """
    graph = on_root(channel, lambda: random_graph_of(spec))
    if graph is None or graph.size.arcs <= LOOKED_AT or not is_dense(*graph.size):
        return None
    makers: list[RowMaker] = [HostMaker(graph)] if channel.size > 1 else []
    if all(channel.gather(on_gpu is not None)):
        assert on_gpu is not None
        makers.insert(0, on_gpu(graph))
    for maker in makers:
        counts = maker.count(channel)
        if all(channel.gather(counts is not None)):
            assert counts is not None
            start = on_root(channel, partial(first_with_arcs, counts.offsets))
            return Generated(spec, graph, maker, counts, start)
    return None


class Generated(Supply):
    """A graph whose arcs have been counted; its rows are made when it is spread."""

    def __init__(
        self, spec: str, graph: RandomGraph, maker: RowMaker, counts: RowCounts, start: int
    ) -> None:
        self._spec, self._size, self._start = spec, graph.size, start
        self._offsets, self._weights = counts
        self._maker: RowMaker | None = maker

    def facts(self, channel: Channel) -> Facts:
        return Facts(
            vertex_count=self._size.vertices,
            arc_count=self._size.arcs,
            weight_type=np.dtype(np.int32),
            **self._weights._asdict(),
            start=self._start,
            first_id=0,
            name=self._spec,
        )

    def spread(self, channel: Channel, cutting: Cutting) -> Spread:
        maker, offsets = self._maker, self._offsets
        self._maker = self._offsets = None  # its memory goes
        if maker is not None and not cutting.renumbers:
            cut = on_root(channel, lambda: partition(offsets, channel.size, cutting.partition))
            del offsets
            own = maker.make(channel, cut)
            if all(channel.gather(own is not None)):
                assert own is not None
                quality = quality_of(channel.gather(own.cost))
                return Spread(cut, own.rows, Order("none"), quality)
        return on_root(channel, lambda: GraphSupply(self.graph())).spread(channel, cutting)

    def numbering(self) -> Numbering:
        return Numbering(self._size.vertices, 0)

    def graph(self) -> Graph:
        return self._graph

    @cached_property
    def _graph(self) -> Graph:
        return generate(self._spec)
