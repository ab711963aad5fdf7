"""What a user asks for of a centrality, and the graph that it is asked of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.many.request import Request

Load = Callable[[], tuple[Graph, NDArray[np.int64] | None]]
"""Gives the graph and the sources, or None for all vertices."""


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How distances are taken, and where they are computed.

    Attributes:
        weighted: whether weights are added, not arcs counted.
        reverse: whether distances to a vertex count, not those from it.
        device: ``auto``, ``cpu`` or ``cuda``.
        memory_limit: bytes of a GPU's memory that may be used; None for what is free.
    """

    weighted: bool = True
    reverse: bool = False
    device: str = "auto"
    memory_limit: int | None = None

    @property
    def request(self) -> Request:
        """For the rows of distances, which are reduced."""
        return Request(device=self.device, memory_limit=self.memory_limit, destination="nowhere")

    def check(self) -> None:
        """Raise `InputError` for what there is not, `SetupError` where there is no such device."""
        self.request.check()

    def applied(self, graph: Graph) -> Graph:
        """The graph, in host memory, whose out-distances are asked for."""
        whole = graph.to_host() if self.weighted else graph.with_unit_weights()
        return whole.reversed() if self.reverse else whole
