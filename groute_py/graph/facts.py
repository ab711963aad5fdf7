"""Facts of a graph for the choice of a method, small enough to send to every rank; its size."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.arrays import on_device
from groute_py.graph.csr import Graph
from groute_py.graph.operators import Operator
from groute_py.system.threads import in_slices

FULL_ROWS, LOOKED_AT = 128.0, 1 << 22
"""Mean degree and arcs of graphs whose heads are counted, for the choice of a method."""

WEIGHED_AT_ONCE = 1 << 19
"""Weights that a thread looks at in one go, so that its three passes find them in its cache."""


@dataclass(frozen=True)
class Facts:
    """Numbers that describe a graph."""

    vertex_count: int
    arc_count: int
    weight_type: np.dtype[Any]
    least: float  # of the weights, as greatest and mean; 0 without arcs
    greatest: float
    mean: float
    start: int  # the first vertex that an arc leaves; 0 without
    first_id: int
    name: str
    most_incoming: int = 0  # of one vertex; 0 where arcs were not counted
    rounded_to: np.dtype[Any] | None = None  # before float weights were widened
    has_maxima: bool = False  # weights are ranks, of which a path has the greatest of its arcs
    operator: Operator | None = None  # by which arcs extend a path

    @property
    def adds(self) -> bool:
        """A path is as long as the sum of its weights."""
        return not self.has_maxima and self.operator is None

    @property
    def precision(self) -> np.dtype[Any]:
        """The type that decides how exact weights are."""
        return self.rounded_to or self.weight_type

    @property
    def mean_degree(self) -> float:
        """Arcs for each vertex."""
        return self.arc_count / max(self.vertex_count, 1)

    @cached_property
    def has_negative(self) -> bool:
        """Some weight is below zero."""
        return self.least < 0


def facts_of(graph: Graph) -> Facts:
    """One pass over the weights; with an operator their mean is that of paths of one arc."""
    operator = None if graph.scale is None else graph.scale.operator
    about = weighed(graph.weights)
    about = about if operator is None else about._replace(mean=operator.mean)
    return Facts(
        vertex_count=graph.vertex_count,
        arc_count=graph.arc_count,
        weight_type=graph.weights.dtype,
        **about._asdict(),
        start=first_with_arcs(graph.offsets),
        first_id=graph.first_id,
        name=graph.name,
        most_incoming=most_incoming(graph),
        has_maxima=graph.scale is not None and graph.scale.has_maxima,
        operator=operator,
    )


def counting_hops(facts: Facts) -> Facts:
    """Facts of the same graph when every arc weighs 1."""
    one = 1 if facts.arc_count else 0
    ones: dict[str, Any] = {"least": one, "greatest": one, "mean": float(one)}
    return replace(facts, weight_type=np.dtype(np.int32), **ones, has_maxima=False, operator=None)


def first_with_arcs(offsets: NDArray[np.int64]) -> int:
    """The first vertex that an arc leaves, 0 where there is none."""
    rows = range(len(offsets))
    return bisect_right(rows, 0, key=lambda row: int(offsets[row])) - 1 if offsets[-1] else 0


def most_incoming(graph: Graph) -> int:
    """The most arcs that lead to one vertex; 0 of graphs with few arcs a vertex, or very many."""
    if not FULL_ROWS * graph.vertex_count <= graph.arc_count <= LOOKED_AT or not graph.arc_count:
        return 0
    return int(np.bincount(graph.heads).max())


class Weighed(NamedTuple):
    """Least, greatest and mean of some weights; 0 where there are none."""

    least: float
    greatest: float
    mean: float


def weighed(weights: NDArray[Any]) -> Weighed:
    """One pass over weights, by several threads where they are many and on the host."""
    if on_device(weights) or len(weights) <= WEIGHED_AT_ONCE:
        return _weighed(weights)

    def look(some: slice) -> tuple[int, Weighed]:
        return some.stop - some.start, _weighed(weights[some])

    return weighed_together(in_slices(len(weights), WEIGHED_AT_ONCE, look))


def _weighed(weights: NDArray[Any]) -> Weighed:
    if not len(weights):
        return Weighed(0, 0, 0.0)
    with np.errstate(over="ignore"):  # the mean of what sums up beyond floats is infinite
        mean = float(weights.mean(dtype=np.float64))
    return Weighed(weights.min().item(), weights.max().item(), mean)


def weighed_together(parts: list[tuple[int, Weighed]]) -> Weighed:
    """Merge parts that have so many weights each."""
    some = [part for part in parts if part[0]]
    if not some:
        return Weighed(0, 0, 0.0)
    mean = sum(count * part.mean for count, part in some) / sum(count for count, _ in some)
    return Weighed(
        min(part.least for _, part in some), max(part.greatest for _, part in some), mean
    )


class Size(NamedTuple):
    """Numbers of vertices and arcs; a file may state them wrongly."""

    vertices: int
    arcs: int

    @classmethod
    def of(cls, graph: Any) -> Size:
        """Return the size of a graph, or of one with some `Facts`."""
        return cls(graph.vertex_count, graph.arc_count)
