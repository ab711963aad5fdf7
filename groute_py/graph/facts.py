"""What a method choice needs to know of a graph, small enough to send to every rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from groute_py.graph.csr import Graph


@dataclass(frozen=True)
class Facts:
    """Attributes:
    vertex_count, arc_count: n and m.
    weight_type: the graph's weight type.
    least, greatest, mean: of the weights; 0 where there are no arcs.
    start: the first vertex that an arc leaves, 0 where there is none.
    first_id, name: as in the graph.
    """

    vertex_count: int
    arc_count: int
    weight_type: np.dtype[Any]
    least: float
    greatest: float
    mean: float
    start: int
    first_id: int
    name: str

    @property
    def mean_degree(self) -> float:
        """Arcs for each vertex."""
        return self.arc_count / max(self.vertex_count, 1)

    @property
    def has_negative(self) -> bool:
        """Some weight is below zero."""
        return self.least < 0


def facts_of(graph: Graph) -> Facts:
    """One pass over the weights."""
    weights = graph.weights
    some = graph.arc_count > 0
    return Facts(
        vertex_count=graph.vertex_count,
        arc_count=graph.arc_count,
        weight_type=weights.dtype,
        least=weights.min().item() if some else 0,
        greatest=weights.max().item() if some else 0,
        mean=float(weights.mean(dtype=np.float64)) if some else 0.0,
        start=int((graph.offsets > 0).argmax()) - 1 if some else 0,
        first_id=graph.first_id,
        name=graph.name,
    )
