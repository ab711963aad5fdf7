"""Graph supplies: from a graph's location to rows on every rank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from groute_py.comm.base import Channel
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.geography import Geography
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.hierarchy.prepared import PreparedFile, PreparedGraph
from groute_py.graph.ids import Numbering
from groute_py.partition.cutting import Cutting
from groute_py.partition.order import Order
from groute_py.partition.share import Partition, Quality, Rows
from groute_py.source.shared import SharedFile


@dataclass(frozen=True, eq=False)
class Spread:
    """A graph cut into rows."""

    partition: Partition
    rows: Rows  # this rank's
    order: Order  # only rank 0's counts
    quality: Quality | None = None  # None where nobody has measured it


class Supply(ABC):
    """A source of a graph: memory or a file. Rank 0 alone calls what takes no channel."""

    @abstractmethod
    def facts(self, channel: Channel) -> Facts:
        """Check the graph; return its facts on every rank."""

    @abstractmethod
    def spread(self, channel: Channel, cutting: Cutting) -> Spread:
        """Give every rank its rows; to be called once."""

    @abstractmethod
    def numbering(self) -> Numbering:
        """The ids of the vertices."""

    @abstractmethod
    def graph(self) -> Graph:
        """The whole graph, for verification, for orders and to contract it."""

    def geography(self) -> Geography:
        """The places of the vertices, if they are known."""
        return Geography()

    def file(self) -> PreparedFile | SharedFile | None:
        """The file that has the graph just as `graph` gives it, for other ranks to map it."""
        return None

    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy, if the graph was contracted before."""
        return None

    def keep(self, graph: PreparedGraph) -> None:
        """Have this graph, now contracted, from now on; leave a copy where that is wanted."""
        return
