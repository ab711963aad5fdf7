"""A file that all ranks may see, also from other hosts.

The ranks of a host map a file together, or none of them does: each compares a part of it with its
digests, and on another host a file of the same name may be damaged. A native file without digests
is seen by a rank that can read one of the same size that was last changed at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.comm.team import hosts_of, part_of_host
from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.prepared import PreparedFile
from groute_py.io.cache import map_copy
from groute_py.io.file_head import Source
from groute_py.io.formats import native, prepared
from groute_py.io.formats.graph_arrays import Contents

T = TypeVar("T")


class SharedFile:
    """A text or a native file as rank 0 sees it."""

    def __init__(
        self,
        path: Path,
        *,
        native: bool = False,
        is_copy: bool = False,
        column: str | None = None,
        copy: Path | None = None,
    ) -> None:
        self.path, self.native, self.is_copy = path.absolute(), native, is_copy
        self.column, self.copy = column, copy
        self.source = Source.of(path)
        self.size = self.source.size
        self._state = self._state_now()

    def is_seen(self) -> bool:
        """Return True if this rank sees the same: of the same size, last changed at the same time.

        A copy has the same digests: whoever uses it sets its time.
        """
        try:
            return self._state_now() == self._state
        except (OSError, FormatError):
            return False

    def read(self, read: Callable[[], T]) -> T | None:
        """Read the file by a function; None if this rank does not see it, also afterwards."""
        content = read() if self.is_seen() else None
        return content if self.is_seen() else None

    def map(self, part: int, parts: int) -> Contents:
        """Map a native file, and compare an even part of it with its digests, if it has any."""
        contents: Contents = map_copy(self.path) if self.is_copy else native.map_file(self.path)
        contents.check_digests(part, parts)
        return contents.with_column(self.column)

    def _state_now(self) -> tuple[Any, ...]:
        if not self.is_copy:
            return Source.of(self.path)
        digests = map_copy(self.path).digests
        return self.path.stat().st_size, digests.tobytes()


class Sight(NamedTuple):
    """The ranks that see a file, and what this one has mapped."""

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
    channel: Channel, value: T, file: PreparedFile | SharedFile | None, make: Callable[[Graph], T]
) -> T:
    """Bring what rank 0 has made of a graph to every rank. Collective."""
    if file is None or channel.size == 1:
        return channel.broadcast(value)
    contents, seen = look_at(file, channel)
    makes = [rank > 0 and sees for rank, sees in enumerate(seen)]
    if not all(makes[1:]):
        group = channel.split([int(own) for own in makes])
        value = value if makes[channel.rank] else group.broadcast(value)
    with collective(channel):
        if makes[channel.rank]:
            if isinstance(file, SharedFile):
                value = make(contents.graph())
            else:
                value = make(prepared.compared_graph(file, contents))
    return value
