"""The choice of a supply: who reads the graph depends on where it lies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.interop.graph_like import GraphLike, as_graph, file_of, mapped_file_of
from groute_py.io.mapped_file import MappedFile
from groute_py.io.prepared_cache import PreparedCopy
from groute_py.io.registry import (
    column_in_copy,
    copy_for,
    is_for_pieces,
    native_file,
    prepared_place,
)
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.source.base import Supply
from groute_py.source.keeping import Keeping
from groute_py.source.mapped import map_together
from groute_py.source.pieces import read_pieces
from groute_py.source.shared import SharedFile
from groute_py.source.turned_round import TurnedRound
from groute_py.source.whole import Whole


def supply_of(
    graph: GraphLike,
    channel: Channel,
    *,
    whole: bool = False,
    undirected: bool = False,
    reverse: bool = False,
    cache: bool | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    columns: Columns = BY_TITLE,
    prepare: bool = False,
    turns: Any = None,
) -> Supply:
    """The supply from which the ranks get their rows of ``graph``. Collective.

    Args:
        graph: as for `groute_py.sssp`; only rank 0's value counts.
        channel: connects the ranks.
        whole: whether rank 0 needs the whole graph anyway, for an order or to verify.
        undirected: as for `as_graph`.
        reverse: whether all arcs are turned round, which rank 0 does.
        cache: as for `read_graph`.
        progress: as for `read_graph`.
        columns: the columns of a table that the caller names.
        prepare: whether what the cache has of the prepared file will do, and whether to keep it
            there once it is made; it is not what there is if the graph is expanded.
        turns: as for `as_graph`.

    Raises:
        InputError: ``graph`` is not a valid graph; the same error on every rank.
    """

    def kept() -> Whole | PreparedCopy | None:
        if not prepare or turns is not None or (file := file_of(graph, progress)) is None:
            return None
        copy = prepared_place(file, cache, columns._replace(undirected=undirected))
        found = None if copy is None else copy.read()
        if found is None:
            return copy
        return Whole(found.reversed() if reverse else found)

    copy = on_root(channel, kept)
    if isinstance(copy, Whole):
        return copy
    reading = Reading(undirected, reverse, cache, progress, columns, turns)
    if copy is None:
        return _unprepared(graph, channel, reading, whole=whole or prepare)
    given = _unprepared(graph, channel, reading._replace(reverse=False), whole=True)
    if reverse:
        return on_root(channel, lambda: TurnedRound(Keeping(given, copy)))
    return given if channel.rank > 0 else Keeping(given, copy)


def shared_native(
    graph: GraphLike, columns: Columns, progress: Callable[[int, int], None] | None = None
) -> SharedFile | None:
    """The file of a graph, if it is of the native format itself, for other ranks to map it too.

    Args:
        graph, columns, progress: as for `supply_of`.

    Raises:
        InputError: as `supply_of`, where the file is looked at.
    """
    file = file_of(graph, progress)
    if file is None or (native := native_file(file, False, columns)) is None:
        return None
    return SharedFile(native, native=True, column=columns.weight)


def watched_file(graph: GraphLike, channel: Channel) -> MappedFile | None:
    """On rank 0 the caller's file if it is mapped itself, and must not change. Collective.

    Args:
        graph, channel: as for `supply_of`, which maps it next.

    Raises:
        InputError: as `supply_of`, where the file is looked at.
    """
    file: MappedFile | None = None
    with collective(channel):
        if channel.rank == 0:
            file = mapped_file_of(graph)
    return file


class Reading(NamedTuple):
    """How a graph is read; attributes as of `supply_of`."""

    undirected: bool
    reverse: bool
    cache: bool | Path | None
    progress: Callable[[int, int], None] | None
    columns: Columns
    turns: Any

    @property
    def is_as_given(self) -> bool:
        """The arcs are those that the file has, with their weights."""
        return not (self.undirected or self.reverse) and self.turns is None


def _unprepared(graph: GraphLike, channel: Channel, reading: Reading, *, whole: bool) -> Supply:
    """The supply of a graph as it is. Collective."""
    undirected, reverse, cache, progress, columns, turns = reading

    def find() -> SharedFile | None:
        if channel.size == 1 or not reading.is_as_given:
            return None
        if (file := file_of(graph, progress)) is None:
            return None
        if (native := native_file(file, cache, columns)) is not None:
            column = column_in_copy(file, columns)
            return SharedFile(native, native=True, copied=native != Path(file), column=column)
        pieces = not whole and not columns.named and is_for_pieces(file)
        return SharedFile(Path(file)) if pieces else None

    def read() -> Whole:
        read = as_graph(
            graph,
            undirected=undirected,
            cache=cache,
            progress=progress,
            columns=columns,
            turns=turns,
        )
        return Whole(read.reversed() if reverse else read)

    file = on_root(channel, find)
    if file is not None and all(channel.gather(file.is_seen())):
        if file.native:
            return map_together(file, channel) or on_root(channel, read)
        copy = on_root(channel, lambda: copy_for(file.path, cache))
        if (pieces := read_pieces(file, channel, copy, progress)) is not None:
            return pieces
    return on_root(channel, read)
