"""Answers of jobs by SciPy, one source at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from groute_py import Graph, NearestFacilities
from support.graphs import graph_of, scipy_distances


def rows_from(graph: Graph, sources: Iterable[int]) -> Any:
    """Distances from k sources, shape (k, n), in our conventions."""
    return np.array([scipy_distances(graph, source) for source in sources])


def turned_round(graph: Graph) -> Graph:
    """The graph with its arcs turned round, by sorting them one by one."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    arcs = zip(graph.heads.tolist(), tails, graph.weights.tolist(), strict=True)
    return graph_of(graph.vertex_count, list(arcs), graph.weights.dtype.name)


def nearest_of(graph: Graph, facilities: Sequence[int]) -> tuple[Any, Any]:
    """For each vertex the lowest of the nearest facilities, −1 where there is none; distances."""
    every = np.unique(facilities)
    rows = rows_from(graph, every)
    distances = rows.min(axis=0)
    owners = every[rows.argmin(axis=0)]  # the first of several
    nothing = np.inf if rows.dtype.kind == "f" else np.iinfo(np.int64).max
    return np.where(distances == nothing, -1, owners), distances


def check_path(graph: Graph, path: Sequence[int], length: Any) -> None:
    """Each step is an arc, and their weights sum up to the length, within rounding."""
    total = 0.0
    for tail, head in pairwise(path):
        row = slice(graph.offsets[tail], graph.offsets[tail + 1])
        result = graph.weights[row][graph.heads[row] == head]
        assert len(result), f"no arc {tail} → {head}"
        total += float(result.min())
    np.testing.assert_allclose(total, float(length), rtol=1e-5, atol=1e-5)


def check_nearest(
    graph: Graph, facilities: Sequence[int], result: NearestFacilities | None, *, to_facility: bool
) -> None:
    """Owners, distances, and each vertex's path by the next vertices."""
    assert result is not None
    assert result.to_facility == to_facility
    owners, distances = nearest_of(turned_round(graph) if to_facility else graph, facilities)
    np.testing.assert_array_equal(result.distances, distances)
    np.testing.assert_array_equal(result.facilities, owners)
    check_next(graph, result)


def check_next(graph: Graph, result: NearestFacilities) -> None:
    """Each vertex's path by the next vertices."""
    for vertex, owner in enumerate(result.facilities.tolist()):
        path = [vertex]
        while result.next[path[-1]] >= 0:
            path.append(int(result.next[path[-1]]))
            assert len(path) <= graph.vertex_count
        if owner < 0:
            assert path == [vertex]
            assert not result.reached[vertex]
            continue
        assert path[-1] == owner
        assert (result.facilities[path] == owner).all()
        check_path(graph, path if result.to_facility else path[::-1], result.distances[vertex])
