"""A graph on every rank: mapped by the ranks that see its file, sent to the others.

The ranks of a host map a file together, or none of them does: each compares a part of it with its
digests, and on another host a file of the same name may be damaged. A native file without digests
is seen by a rank that can read one of the same size that was last changed at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.comm.team import hosts_of, part_of_host
from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.hierarchy.prepared import PreparedFile
from groute_py.io.formats import native, prepared
from groute_py.source.shared import SharedFile

T = TypeVar("T")


class Sight(NamedTuple):
    """The ranks that see a file.

    Attributes:
        contents: what this rank has mapped; None if it does not see the file.
        seen: by rank, the same on every rank.
    """

    contents: Any
    seen: list[bool]


def look_at(file: PreparedFile | SharedFile, channel: Channel) -> Sight:
    """Map a native or a prepared file on every rank that sees it. Collective."""
    hosts = hosts_of(channel)
    contents: Any = None
    with collective(channel), suppress(OSError, FormatError):
        part = part_of_host(hosts, channel.rank)
        if isinstance(file, SharedFile):
            contents = file.read(lambda: file.map(*part))
        else:
            contents = prepared.map_again(file, *part)
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
    """Bring what rank 0 has made of a graph to every rank. Collective."""
    if file is None or channel.size == 1:
        return channel.broadcast(found)
    contents, seen = look_at(file, channel)
    makes = [rank > 0 and sees for rank, sees in enumerate(seen)]
    if not all(makes[1:]):
        group = channel.split([int(own) for own in makes])
        found = found if makes[channel.rank] else group.broadcast(found)
    with collective(channel):
        if makes[channel.rank]:
            found = made(_graph_in(file, contents))
    return found


def _graph_in(file: PreparedFile | SharedFile, contents: Any) -> Graph:
    """The graph in a mapped file that has been compared with its digests."""
    if isinstance(file, SharedFile):
        return native.graph_in(file.path, contents)
    return prepared.compared_graph(file, contents)
