"""Betweenness by its definition: numbers of shortest paths of all pairs, in Python's integers."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from groute_py import Graph
from support.graphs import all_lengths


def lightest_arcs(graph: Graph) -> dict[tuple[int, int], Any]:
    """The weight of the lightest arc between two vertices, without self-loops."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    result: dict[tuple[int, int], Any] = {}
    for tail, head, weight in zip(tails, graph.heads.tolist(), graph.weights.tolist(), strict=True):
        if tail != head:
            result[tail, head] = min(weight, result.get((tail, head), weight))
    return result


class PathCounts:
    """All shortest paths of a small graph of integer weights, whose cycles weigh more than 0."""

    def __init__(self, graph: Graph) -> None:
        self.count, self.arcs, self.lengths = (
            graph.vertex_count,
            lightest_arcs(graph),
            all_lengths(graph),
        )
        self._tails: list[list[tuple[int, Any]]] = [[] for _ in range(self.count)]
        for (tail, head), weight in self.arcs.items():
            self._tails[head].append((tail, weight))
        self.paths = cache(self._paths)

    def _paths(self, start: int, end: int) -> int:
        """How many shortest paths lead from one vertex to another."""
        if start == end:
            return 1
        if self.lengths[start, end] == np.inf:
            return 0
        return sum(
            self.paths(start, tail)
            for tail, weight in self._tails[end]
            if self.lengths[start, tail] + weight == self.lengths[start, end]
        )

    def over(self, start: int, first: int, weight: Any, second: int, end: int) -> Fraction:
        """The share of the paths that lead over two vertices, ``weight`` apart; equal: over one."""
        lengths = self.lengths
        if start == end or lengths[start, end] == np.inf:
            return Fraction(0)
        if lengths[start, first] + weight + lengths[second, end] != lengths[start, end]:
            return Fraction(0)
        return Fraction(self.paths(start, first) * self.paths(second, end), self.paths(start, end))

    def betweenness(self, sources: list[int], *, endpoints: bool = False) -> list[Fraction]:
        """Of each vertex, over the pairs that begin at some sources."""
        result = [Fraction(0)] * self.count
        for start in sources:
            for end in range(self.count):
                for vertex in range(self.count):
                    if endpoints or vertex not in (start, end):
                        result[vertex] += self.over(start, vertex, 0, vertex, end)
        return result

    def edge_betweenness(self, sources: list[int]) -> dict[tuple[int, int], Fraction]:
        """Of each pair of vertices that an arc joins."""
        return {
            (tail, head): sum(
                (
                    self.over(start, tail, weight, head, end)
                    for start in sources
                    for end in range(self.count)
                ),
                Fraction(0),
            )
            for (tail, head), weight in self.arcs.items()
        }

    def inner_vertices(self) -> Fraction:
        """The mean number of inner vertices of a pair's shortest paths, summed over all pairs."""

        @cache
        def arcs(start: int, end: int) -> int:
            """Of all shortest paths together."""
            if start == end or not self.paths(start, end):
                return 0
            return sum(
                arcs(start, tail) + self.paths(start, tail)
                for tail, weight in self._tails[end]
                if self.lengths[start, tail] + weight == self.lengths[start, end]
            )

        pairs = [
            (start, end)
            for start in range(self.count)
            for end in range(self.count)
            if start != end and self.paths(start, end)
        ]
        return sum((Fraction(arcs(*pair), self.paths(*pair)) - 1 for pair in pairs), Fraction(0))
