"""A graph on every rank: mapped by the ranks that see its file, sent to the others.

A rank sees a prepared file if it finds one with the content that rank 0 has mapped or written. The
ranks of a host compare it with its digests, a part each, and believe it together: on another host a
file of the same name may be damaged. A native file has no digests; a rank sees it if it can read
one of the same size that was last changed at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.comm.team import hosts_of, part_of_host
from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.hierarchy.prepared import PreparedFile
from groute_py.io.formats import native
from groute_py.io.formats.prepared import Contents, compared_graph, map_again
from groute_py.source.shared import SharedFile

T = TypeVar("T")


class Sight(NamedTuple):
    """Which ranks see a prepared file.

    Attributes:
        contents: what this rank has mapped; None if it does not see the file.
        seen: by rank, the same on every rank.
    """

    contents: Contents | None
    seen: list[bool]


def look_at(file: PreparedFile, channel: Channel) -> Sight:
    """Map a file on every rank that sees it. Collective.

    Args:
        file: that rank 0 has mapped or written; the same on every rank.
        channel: connects the ranks.
    """
    hosts = hosts_of(channel)
    contents: Contents | None = None
    with collective(channel), suppress(OSError, FormatError):
        contents = map_again(file, *part_of_host(hosts, channel.rank))
    right = channel.gather(contents is not None)
    wrong = {host for host, is_right in zip(hosts, right, strict=True) if not is_right}
    seen = [host not in wrong for host in hosts]
    return Sight(contents if seen[channel.rank] else None, seen)


def on_every_rank(
    channel: Channel,
    found: T,
    file: PreparedFile | SharedFile | None,
    made: Callable[[Graph], T],
) -> T:
    """What rank 0 has made of a graph, on every rank. Collective.

    Args:
        channel: connects the ranks.
        found: what was made; rank 0's counts.
        file: that has the graph as rank 0 has it, the same on every rank; None if none.
        made: makes the same of the graph.

    Raises:
        GrouteError: of ``made``; the same error on every rank.
    """
    if file is None or channel.size == 1:
        return channel.broadcast(found)
    if isinstance(file, SharedFile):
        read, seen = _native(file, channel)
    else:
        read, seen = _prepared(file, channel)
    has_it = [rank > 0 and sees for rank, sees in enumerate(seen)]
    found = _sent(channel, found, has_it)
    with collective(channel):
        if has_it[channel.rank]:
            found = made(read())
    return found


def _native(file: SharedFile, channel: Channel) -> tuple[Callable[[], Graph], list[bool]]:
    """The graph in a native file, and which ranks but 0 have mapped it. Collective."""

    def read(path: Path) -> Graph | None:
        if channel.rank == 0:
            return None  # it has what is made of the graph
        graph = native.read(path)
        return graph if file.column is None else graph.with_column(file.column)

    graph, seen = file.read_by(channel, read)

    def mapped() -> Graph:
        assert graph is not None
        return graph

    return mapped, seen


def _prepared(file: PreparedFile, channel: Channel) -> tuple[Callable[[], Graph], list[bool]]:
    """How to get the graph in a prepared file, and which ranks see it. Collective."""
    contents, seen = look_at(file, channel)

    def read() -> Graph:
        assert contents is not None
        return compared_graph(file, contents)

    return read, seen


def _sent(channel: Channel, found: T, has_it: list[bool]) -> T:
    """Rank 0's value on the ranks that do not have it; another rank's own elsewhere. Collective."""
    if all(has_it[1:]):
        return found
    group = channel.split([int(has) for has in has_it])
    return found if has_it[channel.rank] else group.broadcast(found)
