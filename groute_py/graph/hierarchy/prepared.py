"""A graph with its contraction hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.hierarchy import Hierarchy


class PreparedFile(NamedTuple):
    """The file that a prepared graph is in, for other processes to map it."""

    path: Path  # absolute, and no link
    content: str  # identifies the content
    is_copy: bool  # a copy in the cache, believed only of this user or of root


class PreparedGraph(Graph):
    """A graph that was contracted, as `groute_py.prepare` returns it; taken wherever a graph is.

    Args:
        graph: any graph with integer weights, none of them negative.
        hierarchy: of this graph.
        file: that has both, if there is one: they are mapped from it, or were written to it.
        order: int32, shape (n,), an order from separators: vertices in order of elimination.

    Attributes:
        hierarchy: as given. Its arrays may lie on a GPU.
        file, order: as given.

    Raises:
        GraphError: the hierarchy is of a graph with another number of vertices.
    """

    hierarchy: Hierarchy
    file: PreparedFile | None
    order: NDArray[np.int32] | None

    contract: ClassVar[Callable[[Graph, str], PreparedGraph]]
    """Contracts a graph on a device; set by `groute_py.engine.preparing`, which lies above."""

    def __init__(
        self,
        graph: Graph,
        hierarchy: Hierarchy,
        file: PreparedFile | None = None,
        order: NDArray[np.int32] | None = None,
    ) -> None:
        if hierarchy.vertex_count != graph.vertex_count:
            raise GraphError(
                f"a hierarchy of {hierarchy.vertex_count:,} vertices is none of a graph with "
                f"{graph.vertex_count:,}"
            )
        own = {entry.name: getattr(graph, entry.name) for entry in fields(Graph)}
        # the graph has checked its arrays
        vars(self).update(own, hierarchy=hierarchy, file=file, order=order)

    def with_weights(self, weights: Any, *, device: str = "auto") -> PreparedGraph:
        """The same vertices and arcs, and order, with other weights, contracted anew.

        Args:
            weights: integers, none negative, shape (m,), in the order of `weights`.
            device: where to contract: ``auto``, ``cpu`` or ``cuda``.

        Raises:
            InputError: there are not as many weights as arcs, or the graph does not suit with them.
            SetupError: the device cannot be used.
        """
        other = PreparedGraph.contract(super().with_weights(weights), device)
        return PreparedGraph(other, other.hierarchy, order=self.order)

    def reversed(self) -> PreparedGraph:
        """The graph with each arc turned round, in host memory; it is not contracted anew."""
        return PreparedGraph(super().reversed(), self.hierarchy.reversed(), order=self.order)

    def to_host(self) -> PreparedGraph:
        """The same with all arrays in host memory."""
        graph, hierarchy = super().to_host(), self.hierarchy.to_host()
        if graph is self and hierarchy is self.hierarchy:
            return self
        return PreparedGraph(graph, hierarchy, order=self.order)

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays and of the hierarchy."""
        return super().nbytes + self.hierarchy.nbytes

    def __repr__(self) -> str:
        return f"Prepared{super().__repr__()}"


def hierarchy_of(graph: Graph) -> Hierarchy | None:
    """The hierarchy of a graph that was prepared; None of any other."""
    return graph.hierarchy if isinstance(graph, PreparedGraph) else None


def order_of_prepared(graph: Graph) -> NDArray[np.int32] | None:
    """The order from separators that a graph was prepared with, if any; None of any other."""
    return graph.order if isinstance(graph, PreparedGraph) else None


def file_of_prepared(graph: Graph) -> PreparedFile | None:
    """The file that a prepared graph is in, if any; None of any other."""
    return graph.file if isinstance(graph, PreparedGraph) else None


def without_hierarchy(graph: Graph) -> Graph:
    """The same graph, not prepared; its arrays are shared."""
    if not isinstance(graph, PreparedGraph):
        return graph
    plain = object.__new__(Graph)
    vars(plain).update({entry.name: getattr(graph, entry.name) for entry in fields(Graph)})
    return plain  # whose arrays have been checked
