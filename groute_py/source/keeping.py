"""A file whose hierarchy, once it is made, is kept in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.geography import Geography
from groute_py.graph.ids import Numbering
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.hierarchy.prepared import PreparedGraph
from groute_py.io.prepared_cache import PreparedCopy
from groute_py.source.base import Spread, Supply
from groute_py.source.shared import SharedFile

if TYPE_CHECKING:
    from groute_py.engine.options import Options


class Keeping:
    """A supply on rank 0, and where a prepared copy of its file belongs.

    Args:
        supply: of the same file.
        copy: what is not there, or not fresh.
    """

    def __init__(self, supply: Supply, copy: PreparedCopy) -> None:
        self._supply, self._copy = supply, copy
        self._prepared: PreparedGraph | None = None

    def facts(self, channel: Channel) -> Facts:
        return self._supply.facts(channel)

    def spread(self, channel: Channel, options: Options) -> Spread:
        return self._supply.spread(channel, options)

    def numbering(self) -> Numbering:
        return self._supply.numbering()

    def geography(self) -> Geography:
        return self._supply.geography()

    def graph(self) -> Graph:
        return self._prepared or self._supply.graph()

    def file(self) -> SharedFile | None:
        return None if self._prepared is not None else self._supply.file()

    def hierarchy(self) -> Hierarchy | None:
        return None if self._prepared is None else self._prepared.hierarchy

    def keep(self, graph: PreparedGraph) -> None:
        self._prepared = self._copy.write(graph)
