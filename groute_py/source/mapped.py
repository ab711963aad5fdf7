"""A native file that every rank maps, and of which it takes its own rows.

A rank other than 0 looks at its rows only, and at an even part of the arcs, which it checks. So
the file is looked at once in all, and nothing is sent.
"""

from __future__ import annotations

from functools import cached_property

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.graph.check_arrays import check_arcs, check_coordinates, check_ids, check_offsets
from groute_py.graph.csr import Graph, check_types
from groute_py.graph.facts import Facts, Weighed, first_with_arcs, weighed, weighed_together
from groute_py.graph.geography import Geography
from groute_py.graph.ids import Numbering, check_given_ids
from groute_py.io.formats.graph_arrays import Contents
from groute_py.partition.choose import partition
from groute_py.partition.cutting import Cutting
from groute_py.partition.order import Order, is_dense, is_good
from groute_py.partition.quality import cost_of, quality_of
from groute_py.partition.share import rows_of
from groute_py.source.base import Spread, Supply
from groute_py.source.shared import SharedFile, look_at
from groute_py.source.whole import GraphSupply


class Mapped(Supply):
    """A native file."""

    def __init__(self, shared: SharedFile, file: Contents) -> None:
        self._shared, self._file = shared, file

    def facts(self, channel: Channel) -> Facts:
        with collective(channel):
            self._check_header()
        start = on_root(channel, self._check_rows)
        with collective(channel):
            part = self._check_part(channel.rank, channel.size)
        file = self._file
        return Facts(
            vertex_count=len(file.offsets) - 1,
            arc_count=len(file.heads),
            weight_type=file.weights.dtype,
            **weighed_together(channel.gather(part))._asdict(),
            start=start,
            first_id=file.first_id,
            name=file.name,
        )

    def spread(self, channel: Channel, cutting: Cutting) -> Spread:
        if cutting.renumbers:
            return self._spread_whole(channel, cutting)
        cut = on_root(
            channel, lambda: partition(self._file.offsets, channel.size, cutting.partition)
        )
        rows, (vertices, arcs) = rows_of(self._file, cut, channel.rank), self._counts()
        quality = quality_of(channel.gather(cost_of(rows, cut, channel.rank)))
        renumbers = cutting.order == "auto" and not is_dense(vertices, arcs)
        if renumbers and not is_good(quality, arcs):
            return self._spread_whole(channel, cutting)
        return Spread(cut, rows, Order("none"), quality)

    def numbering(self) -> Numbering:
        return Numbering(self._counts()[0], self._file.first_id, self._file.ids)

    def geography(self) -> Geography:
        return Geography(self._file.more.coordinates, self._file.more.attribution)

    def graph(self) -> Graph:
        return self._graph

    def file(self) -> SharedFile | None:
        return self._shared

    def _spread_whole(self, channel: Channel, cutting: Cutting) -> Spread:
        """Go by way of rank 0: only who has all arcs can put the vertices in another order."""
        return on_root(channel, lambda: GraphSupply(self.graph())).spread(channel, cutting)

    @cached_property
    def _graph(self) -> Graph:
        return self._file.graph()

    def _counts(self) -> tuple[int, int]:
        return len(self._file.offsets) - 1, len(self._file.heads)

    def _check_header(self) -> None:
        file = self._file
        with self._file.refusing_damage():
            check_types(file.offsets, file.heads, file.weights)
            if file.ids is not None:
                check_ids(file.ids, len(file.offsets) - 1)

    def _check_rows(self) -> int:
        """Check all offsets and ids; returns the first vertex that an arc leaves."""
        with self._file.refusing_damage():
            check_offsets(self._file.offsets)
            if self._file.ids is not None and self._file.digests is None:
                check_given_ids(self._file.ids)
            if (places := self._file.more.coordinates) is not None:
                check_coordinates(places, len(self._file.offsets) - 1)
        return first_with_arcs(self._file.offsets)

    def _check_part(self, part: int, parts: int) -> tuple[int, Weighed]:
        """Check an even part of the arcs; returns how many they are, and their weights'."""
        vertices, count = self._counts()
        arcs = slice(count * part // parts, count * (part + 1) // parts)
        heads, weights = self._file.heads[arcs], self._file.weights[arcs]
        with self._file.refusing_damage():
            check_arcs(heads, weights, vertices, arcs.start)
        return len(weights), weighed(weights)


def map_together(file: SharedFile, channel: Channel) -> Mapped | None:
    """Map a native file on every rank; None where one of them does not see it. Collective."""
    contents, seen = look_at(file, channel)
    return Mapped(file, contents) if contents is not None and all(seen) else None
