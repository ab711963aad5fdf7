"""A graph that is still to be read: what it is, how it is read, and all ways to open it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.generate import is_spec
from groute_py.interop.graph_like import GraphLike, as_graph
from groute_py.io import datasets
from groute_py.io.cache import Copy
from groute_py.io.graph_file import GraphFile, MappedFile
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.source.base import Supply
from groute_py.source.mapped import map_together
from groute_py.source.pieces import read_pieces
from groute_py.source.shared import SharedFile
from groute_py.source.whole import GraphSupply
from groute_py.turns.expanded import expanded
from groute_py.turns.files import arc_column


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

    def graph(self) -> Graph:
        """Read the whole graph on the calling rank, with its hierarchy if a copy has it."""
        return self.whole().graph()

    def whole(self) -> GraphSupply:
        """Read the whole graph on the calling rank, to be spread, or contracted and kept."""
        copy = self._prepared_copy
        forward = None if copy is None else copy.read()
        if forward is None:
            forward = self._read()
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

    def _read(self) -> Graph:
        """The graph as it is given, but for its direction."""
        if self.file is not None:
            graph = self.file.read(self.progress)
        else:
            graph = as_graph(self.what, self._all_columns)
        return graph if self.turns is None else expanded(graph, self.turns)

    @property
    def _all_columns(self) -> Columns:
        """The columns, with that of the ids of arcs by which a file lists turns."""
        arc = arc_column(Path(self.turns)) if isinstance(self.turns, str | Path) else None
        return self.columns._replace(arc=arc)

    @property
    def _is_as_in_file(self) -> bool:
        """Return True if the arcs are those that the file has, with their weights."""
        is_directed = not self.columns.undirected and self.direction is Direction.FORWARD
        return is_directed and self.turns is None and self.file is not None

    @property
    def _prepared_copy(self) -> Copy | None:
        """The place of the graph with its hierarchy, if there is to be one."""
        if not self.prepare or self.turns is not None or self.file is None:
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
