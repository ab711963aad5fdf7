"""A graph that is still to be read: what it is, how it is read, and all ways to open it.

A native file is mapped by every rank that sees it. A rank other than 0 looks at its rows only, and
at an even part of the arcs, which it checks. So the file is looked at once in all, and nothing is
sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.graph.arrays import (
    check_arcs,
    check_coordinates,
    check_ids,
    check_offsets,
    check_types,
)
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Facts, Weighed, first_with_arcs, weighed, weighed_together
from groute_py.graph.generate import is_spec
from groute_py.graph.geography import Geography
from groute_py.graph.hierarchy.prepared import order_of_prepared
from groute_py.graph.hierarchy.separators.order import OneOrder, Orders
from groute_py.graph.ids import Numbering, check_given_ids
from groute_py.graph.objectives import for_objective
from groute_py.graph.read_report import title_of_weights
from groute_py.graph.turns.expanded import expanded
from groute_py.graph.units import units_of
from groute_py.interop.graph_like import as_graph
from groute_py.io import datasets
from groute_py.io.arc_weights import with_arc_weights
from groute_py.io.cache import Copy
from groute_py.io.formats.graph_arrays import Contents
from groute_py.io.graph_file import GraphFile, MappedFile
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.io.turn_files import arc_column, turns_in
from groute_py.partition.cutting import Cutting
from groute_py.partition.order import Order, is_dense, is_good
from groute_py.partition.share import cost_of, partition, quality_of, rows_of
from groute_py.source.base import Spread, Supply
from groute_py.source.pieces import read_pieces
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
        file, more = self._file, self._file.more
        column = next((name for name, of in more.columns.items() if of is file.weights), "")
        title = column or title_of_weights(file.reading)
        return Geography(more.coordinates, more.attribution, units_of(title, more.attribution))

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


@dataclass(frozen=True, eq=False)
class GraphSource:
    """A graph before it is read. Of several ranks' only rank 0's counts.

    >>> GraphSource("road:20x20").graph().arc_count
    914
    """

    what: GraphLike  # as for `groute_py.sssp`
    columns: Columns = BY_TITLE  # also whether all arcs are edges
    direction: Direction = Direction.FORWARD  # of the arcs once the graph is read
    turns: Any = None  # by which the graph is expanded
    cache: bool | str | Path | None = None  # None for copies of large files
    prepare: bool = False  # the copy of a file may have a hierarchy; ignored with turns
    progress: Callable[[int, int], None] | None = field(default=None, repr=False)
    change: Callable[[Graph], Graph] | None = None  # after which the graph is not as in its file
    objective: str = "shortest"  # for any other one the weights are changed

    def graph(self) -> Graph:
        """Read the whole graph on the calling rank, with its hierarchy if a copy has it."""
        return self.whole().graph()

    def whole(self) -> GraphSupply:
        """Read the whole graph on the calling rank, to be spread, or contracted and kept."""
        copy = self._prepared_copy
        forward = None if copy is None else copy.read()
        if forward is None:
            forward = self._read()
        elif self.change is not None:
            forward = self.change(forward)
        copy = copy if self.change is None else None  # which has the graph of the file
        return GraphSupply(
            self.direction.of(forward), file=self._native_file, copy=copy, forward=forward
        )

    def supply(self, channel: Channel, *, whole: bool = False) -> Supply:
        """Find the graph, so that every rank can get its rows. Collective."""
        shared = on_root(channel, lambda: self._shared(channel.size, whole=whole))
        if shared is not None and all(channel.gather(shared.is_seen())):
            supply: Supply | None
            if shared.native:
                supply = map_together(shared, channel)
            else:
                supply = read_pieces(shared, channel, self.progress)
            if supply is not None:
                return supply
        return on_root(channel, self.whole)

    def watched(self, channel: Channel) -> MappedFile | None:
        """On rank 0 the caller's file if it is mapped, and so must not change. Collective.

        To be called before the graph is read.
        """
        file: MappedFile | None = None
        with collective(channel):
            if channel.rank == 0 and self.file is not None and self.file.is_mapped:
                file = MappedFile(self.file.path)
        return file

    @cached_property
    def file(self) -> GraphFile | None:
        """The file that a path or the name of a graph stands for; None for any other graph."""
        what = self.what
        if isinstance(what, str) and ":" in what:
            if is_spec(what):
                return None
            if datasets.is_name(what):
                what = datasets.fetch(what, self.progress)
        if not isinstance(what, str | Path):
            return None
        return GraphFile(what, self._all_columns, self.cache)

    @cached_property
    def orders(self) -> Orders | None:
        """The orders from separators that are kept for a file; None for any other graph."""
        if self.file is None:
            return None
        if self.columns.arc_weights is not None and self.file.is_prepared:
            order = order_of_prepared(self.file.read())
            return self.file.orders if order is None else OneOrder(order)
        return self.file.orders

    def _read(self) -> Graph:
        """The graph as it is given, but for its direction."""
        if self.file is not None:
            graph = self.file.read(self.progress)
        else:
            graph = as_graph(self.what, self._all_columns)
        if self.columns.arc_weights is not None:
            graph = with_arc_weights(graph, Path(self.columns.arc_weights))
        graph = graph if self.change is None else self.change(graph)
        if self.objective != "shortest":
            return for_objective(graph, self.objective)
        if self.turns is None:
            return graph
        return expanded(graph, turns_in(self.turns, graph.numbering))

    @property
    def spec(self) -> str | None:
        """The spec of a graph that is generated and taken as it is; None for any other graph."""
        columns = self.columns
        if not isinstance(self.what, str) or not is_spec(self.what):
            return None
        is_other = columns.named or columns.undirected or columns.profile or columns.carry
        if is_other or self.turns is not None or self._is_changed:
            return None
        return self.what if self.direction is Direction.FORWARD else None

    @property
    def _all_columns(self) -> Columns:
        """The columns, with that of the ids of arcs by which a file lists turns."""
        arc = arc_column(Path(self.turns)) if isinstance(self.turns, str | Path) else None
        return self.columns._replace(arc=arc, arc_weights=None)

    @property
    def _is_changed(self) -> bool:
        """Return True if the graph has other weights or vertices than where it comes from."""
        is_other = self.change is not None or self.objective != "shortest"
        return is_other or self.columns.arc_weights is not None

    @property
    def _is_as_in_file(self) -> bool:
        """Return True if the arcs are those that the file has, with their weights."""
        is_directed = not self.columns.undirected and self.direction is Direction.FORWARD
        return is_directed and self.turns is None and not self._is_changed and self.file is not None

    @property
    def _prepared_copy(self) -> Copy | None:
        """The place of the graph with its hierarchy, if there is to be one."""
        has_own = self.turns is None and self.columns.arc_weights is None
        if not self.prepare or not has_own or self.file is None:
            return None
        return self.file.prepared_copy

    @property
    def _native_file(self) -> SharedFile | None:
        """The file, if it is a native one that has the graph as it is read."""
        if self.file is None or not (self._is_as_in_file and self.file.is_native):
            return None
        return SharedFile(self.file.path, native=True, column=self.file.chosen_column)

    def _shared(self, ranks: int, *, whole: bool) -> SharedFile | None:
        """The file that all ranks read together, if they can; on rank 0."""
        file = self.file
        if ranks == 1 or self.prepare or file is None or not self._is_as_in_file:
            return None
        if (place := file.native()) is not None:
            column, is_copy = file.chosen_column, not file.is_native
            return SharedFile(place, native=True, is_copy=is_copy, column=column)
        if whole or not file.is_for_pieces:
            return None
        return SharedFile(file.path, copy=file.copy.place if file.copy is not None else None)
