"""Rasters of friction, and their distances by SciPy on a graph with an arc for each step."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from groute_py import CostDistance

STEPS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""By rows and columns, clockwise from east."""

SIZES = (1, 2, 7, 33, 64, 65)


def random_raster(seed: int) -> tuple[NDArray[Any], NDArray[np.int64], dict[str, Any]]:
    """Return friction with barriers, some sources that lie on none, and options."""
    generator = np.random.default_rng(seed)
    shape = generator.choice(SIZES, 2, p=[0.1, 0.1, 0.5, 0.1, 0.1, 0.1])
    friction = generator.uniform(0.5, 9, shape)
    if seed % 3 == 0:
        friction = generator.integers(1, 4, shape).astype(float)  # many ties
    barriers = generator.choice([np.nan, 0.0, -1.0, np.inf], shape)
    is_barrier = generator.random(shape) < generator.choice([0, 0.2, 0.5])
    friction = np.where(is_barrier, barriers, friction)
    count = int(generator.integers(1, 5))
    sources = np.stack([generator.integers(0, length, count) for length in shape], axis=1)
    friction[tuple(sources.T)] = generator.integers(1, 9, count)
    kind = generator.choice(["float32", "float64", "int16", "int64"])
    if kind.startswith("int"):
        friction = np.nan_to_num(friction, posinf=0)
    sizes = [1.0, 2.5, (2.0, 3.0), (0.1, 30.0)]
    words = {"cell_size": sizes[seed % 4], "neighbours": int(generator.choice([4, 8]))}
    words["cutoff"] = None if generator.random() < 0.6 else float(generator.uniform(0, 100))
    return friction.astype(kind), sources, words


def graph_of(friction: NDArray[Any], cell_size: Any, neighbours: int) -> Any:
    """Return the matrix of the costs of all steps."""
    x, y = cell_size if isinstance(cell_size, tuple) else (cell_size, cell_size)
    passable = np.where((friction > 0) & np.isfinite(friction), friction, np.nan).astype(float)
    cells = np.arange(passable.size).reshape(passable.shape)
    costs, tails, heads = [], [], []
    for down, right in STEPS:
        if neighbours == 4 and down and right:
            continue
        starts, ends = _shifted(cells.shape, (down, right)), _shifted(cells.shape, (-down, -right))
        cost = (passable[starts] + passable[ends]) / 2 * np.hypot(down * y, right * x)
        known = np.isfinite(cost)
        costs.append(cost[known])
        tails.append(cells[starts][known])
        heads.append(cells[ends][known])
    places = np.concatenate(tails), np.concatenate(heads)
    return csr_array((np.concatenate(costs), places), shape=(cells.size, cells.size))


def _shifted(shape: tuple[int, ...], step: tuple[int, int]) -> tuple[slice, ...]:
    """Return the cells from which a step does not leave the raster."""
    ends = zip(shape, step, strict=True)
    return tuple(slice(max(-by, 0), length - max(by, 0)) for length, by in ends)


def by_scipy(
    friction: NDArray[Any], sources: NDArray[np.int64], *, cell_size: Any, neighbours: int
) -> NDArray[np.float64]:
    """Return the distances from each source, (k, rows, columns)."""
    graph = graph_of(friction, cell_size, neighbours)
    starts = sources[:, 0] * friction.shape[1] + sources[:, 1]
    return np.asarray(dijkstra(graph, indices=starts)).reshape(-1, *friction.shape)


def check(
    result: CostDistance, friction: NDArray[Any], sources: NDArray[np.int64], words: dict[str, Any]
) -> None:
    """Compare distances, allocation and directions with SciPy's distances."""
    cutoff = np.inf if words.get("cutoff") is None else words["cutoff"]
    measures = {"cell_size": words.get("cell_size", 1), "neighbours": words.get("neighbours", 8)}
    rows = by_scipy(friction, sources, **measures)
    expected = rows.min(axis=0)
    accuracy = 1e-4 if result.distance.dtype == np.float32 else 1e-12
    near = np.isclose(expected, cutoff, rtol=accuracy, atol=0)  # where rounding decides
    near &= cutoff < np.inf
    expected[(expected > cutoff) & ~near] = np.inf
    reached = np.isfinite(result.distance)
    assert ((reached == np.isfinite(expected)) | near).all()
    assert np.allclose(result.distance[reached], expected[reached], rtol=accuracy, atol=0)
    assert ((result.allocation >= 0) == reached).all()
    assert result.sources.tolist() == sources.tolist()
    own = rows[result.allocation[reached], *np.nonzero(reached)]
    assert np.allclose(own, expected[reached], rtol=accuracy, atol=0)
    check_directions(result, friction, measures)


def check_directions(
    result: CostDistance, friction: NDArray[Any], measures: dict[str, Any]
) -> None:
    """Follow the directions of all cells to sources, and compare costs of some paths."""
    codes, distance = result.back_direction, result.distance
    reached = np.isfinite(distance)
    assert ((codes == 255) == ~reached).all()
    is_source = np.zeros(codes.shape, bool)
    is_source[tuple(result.sources.T)] = True
    assert (codes[is_source] == 0).all()
    graph = graph_of(friction, **measures)
    for row, column in np.argwhere(reached)[:: max(reached.sum() // 5, 1)].tolist():
        path = result.path(row, column)
        assert path[-1].tolist() == [row, column]
        start = result.sources[result.allocation[row, column]]
        assert path[0].tolist() == start.tolist()
        cells = path[:, 0] * codes.shape[1] + path[:, 1]
        cost = sum(float(graph[a, b]) for a, b in pairwise(cells))
        assert np.isclose(cost, distance[row, column], rtol=1e-4, atol=0)
