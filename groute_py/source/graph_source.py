"""A graph that is still to be read: what it is, how it is read, and all ways to open it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.interop.graph_like import GraphLike, as_graph
from groute_py.io.mapped_file import MappedFile
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.source.base import Supply
from groute_py.source.choose import supply_of, watched_file


@dataclass(frozen=True, eq=False)
class GraphSource:
    """A graph before it is read. Only rank 0's counts.

    Attributes:
        what: as for `groute_py.sssp`.
        columns: of a table, or the weights by name; also whether all arcs are edges.
        direction: in which the arcs lead once the graph is read.
        turns: their costs, by which the graph is expanded; None for none.
        cache: whether copies are read and left: None for those of large files, a folder for all
            files, there.
        prepare: whether a copy with a hierarchy will do, and is left once the graph is contracted.
        progress: called while a file is read, with the bytes read and the bytes of the file.

    >>> GraphSource("road:20x20").graph().arc_count
    914
    """

    what: GraphLike
    columns: Columns = BY_TITLE
    direction: Direction = Direction.FORWARD
    turns: Any = None
    cache: bool | Path | None = None
    prepare: bool = False
    progress: Callable[[int, int], None] | None = field(default=None, repr=False)

    def graph(self) -> Graph:
        """Read the whole graph on the calling rank.

        Raises:
            InputError: it is no valid graph.
        """
        return self.direction.of(
            as_graph(
                self.what,
                undirected=self.columns.undirected,
                cache=self.cache,
                progress=self.progress,
                columns=self.columns,
                turns=self.turns,
            )
        )

    def supply(self, channel: Channel, *, whole: bool = False) -> Supply:
        """Find the graph, so that every rank can get its rows. Collective.

        Args:
            channel: connects the ranks.
            whole: whether rank 0 needs the whole graph anyway, for an order or to verify.

        Raises:
            InputError: it is no valid graph; the same error on every rank.
        """
        return supply_of(
            self.what,
            channel,
            whole=whole,
            undirected=self.columns.undirected,
            reverse=self.direction is Direction.BACKWARD,
            cache=self.cache,
            progress=self.progress,
            columns=self.columns,
            prepare=self.prepare,
            turns=self.turns,
        )

    def watched(self, channel: Channel) -> MappedFile | None:
        """On rank 0 the caller's file if it is mapped, and so must not change. Collective.

        To be called before the graph is read.

        Raises:
            InputError: the file cannot be read; the same error on every rank.
        """
        return watched_file(self.what, channel)
