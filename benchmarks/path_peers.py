"""Other programs beside ``--paths``: on rasters, for k shortest paths, and under objectives.

A program that is not installed is skipped, and so is one that would take minutes. Its own form of
the raster or the graph is made before and is not timed; each runs on one core, but for
xarray-spatial on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import SkippedError, refuse_larger
from benchmarks.comparison import Peer
from benchmarks.job_peers import Held

CELLS, CELLS_ON_GPU = 4_000_000, 25_000_000
"""Cells of the largest raster on a core, and on a GPU."""

PAIRS, VERTICES = 4, 20_000
"""Pairs for which others find paths, and the vertices of the largest graph in which they do."""

OF_FLOAT32 = 1e-5
"""Rounding of our sums of float32 beside those of float64."""


def scikit_image(friction: NDArray[Any], neighbours: int) -> Peer:
    """`skimage.graph.MCP_Geometric`."""
    from skimage.graph import MCP_Geometric

    refuse_larger(friction.size, CELLS, "cells")
    costs = np.where(friction > 0, friction, -1.0)
    find = lambda: MCP_Geometric(costs, fully_connected=neighbours == 8).find_costs([(0, 0)])  # noqa: E731
    return Peer(find, lambda result: result[0], rounding=OF_FLOAT32)


def xarray_spatial(friction: NDArray[Any], neighbours: int) -> Peer:
    """`xrspatial.cost_distance`, compiled before."""
    refuse_larger(friction.size, CELLS, "cells")
    return Peer(_xarray_spatial(friction, neighbours, np), _of_xarray_spatial, rounding=OF_FLOAT32)


def xarray_spatial_on_gpu(friction: NDArray[Any], neighbours: int) -> Peer:
    """`xrspatial.cost_distance` of arrays of CuPy, compiled before; its answer stays there."""
    import cupy
    from xrspatial.utils import has_cuda_and_cupy

    refuse_larger(friction.size, CELLS_ON_GPU, "cells")
    if not has_cuda_and_cupy():
        raise SkippedError("no GPU")
    try:
        find = _xarray_spatial(friction, neighbours, cupy)
    except Exception as error:  # of Numba's compiler for this driver
        raise SkippedError(f"does not run here: {type(error).__name__}") from error

    def run() -> Any:
        result = find()
        cupy.cuda.Device().synchronize()
        return result

    to_host = lambda result: _of_xarray_spatial(result.copy(data=result.data.get()))  # noqa: E731
    return Peer(run, to_host, rounding=OF_FLOAT32)


def _xarray_spatial(friction: NDArray[Any], neighbours: int, arrays: Any) -> Callable[[], Any]:
    """Return a run on arrays of NumPy or CuPy, after one on a part of the raster."""
    from xarray import DataArray
    from xrspatial import cost_distance

    def run_on(values: NDArray[Any]) -> Callable[[], Any]:
        sources = np.zeros_like(values)
        sources[0, 0] = 1
        rows, columns = map(np.arange, values.shape)
        rasters = [
            DataArray(arrays.asarray(some), coords={"y": rows, "x": columns}, dims=("y", "x"))
            for some in (sources, values)
        ]
        return lambda: cost_distance(*rasters, connectivity=neighbours)

    run_on(friction[:9, :9].copy())()
    return run_on(friction)


def _of_xarray_spatial(result: Any) -> NDArray[np.float64]:
    distances: NDArray[np.float64] = result.data.astype(np.float64)
    return np.where(np.isnan(distances), np.inf, distances)


def networkx_routes(held: Held, pairs: NDArray[np.int64], k: int) -> Peer:
    """`networkx.shortest_simple_paths`."""
    import networkx as nx

    refuse_larger(held.graph.vertex_count, VERTICES, "vertices")
    network = nx.from_scipy_sparse_array(held.scipy, create_using=nx.DiGraph)

    def lengths(source: int, target: int) -> list[float]:
        try:
            paths = list(islice(nx.shortest_simple_paths(network, source, target, "weight"), k))
        except nx.NetworkXNoPath:
            return []
        return [nx.path_weight(network, path, "weight") for path in paths]

    return _routes(lengths, pairs, k)


def scipy_routes(held: Held, pairs: NDArray[np.int64], k: int) -> Peer:
    """`scipy.sparse.csgraph.yen`."""
    from scipy.sparse.csgraph import yen

    refuse_larger(held.graph.vertex_count, VERTICES, "vertices")
    matrix = held.scipy
    return _routes(lambda source, target: list(yen(matrix, source, target, k)), pairs, k)


def igraph_routes(held: Held, pairs: NDArray[np.int64], k: int) -> Peer:
    """`igraph.Graph.get_k_shortest_paths`."""
    network = held.igraph
    refuse_larger(held.graph.vertex_count, VERTICES, "vertices")
    weights = np.array(network.es["weight"])

    def lengths(source: int, target: int) -> list[float]:
        how: dict[str, Any] = {"k": k, "weights": "weight", "output": "epath"}
        paths = network.get_k_shortest_paths(source, target, **how)
        return [float(weights[path].sum()) for path in paths]

    return _routes(lengths, pairs, k)


def _routes(lengths: Callable[[int, int], list[float]], pairs: NDArray[np.int64], k: int) -> Peer:
    some = pairs[:PAIRS].tolist()

    def answer(result: list[list[float]]) -> NDArray[np.float64]:
        return np.array([row + [np.inf] * (k - len(row)) for row in result])

    return Peer(lambda: [lengths(*pair) for pair in some], answer, len(some))


class Objective(NamedTuple):
    """Sums or maxima that other programs compute in the place of an objective.

    Attributes:
        costs: of weights; positive float64, of which the best path has the least sum, or the least
            greatest.
        values: rows of our answer, from those of paths and the weights.
        peers: programs by name, from the graph with these costs and a source.
    """

    costs: Callable[[NDArray[Any]], NDArray[np.float64]]
    values: Callable[[NDArray[np.float64], NDArray[Any]], NDArray[np.float64]]
    peers: Mapping[str, Callable[[Held, int], Callable[[], NDArray[np.float64]]]]


def scipy_sums(held: Held, source: int) -> Callable[[], NDArray[np.float64]]:
    """`scipy.sparse.csgraph.dijkstra`."""
    from scipy.sparse.csgraph import dijkstra

    matrix = held.scipy
    return lambda: np.asarray(dijkstra(matrix, indices=source))


def igraph_sums(held: Held, source: int) -> Callable[[], NDArray[np.float64]]:
    """`igraph.Graph.distances`."""
    network = held.igraph
    return lambda: np.array(network.distances([source], weights="weight")[0])


def scipy_greatest(held: Held, source: int) -> Callable[[], NDArray[np.float64]]:
    """A minimum spanning tree of SciPy, and the greatest cost on the way to the source in it.

    Raises:
        SkippedError: of arcs that lead one way.
    """
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    matrix = held.scipy
    if (matrix != matrix.T).nnz:
        raise SkippedError("best paths are no tree where arcs lead one way")

    def run() -> NDArray[np.float64]:
        tree = minimum_spanning_tree(matrix)
        _, parents = breadth_first_order(tree, source, directed=False)
        arcs = tree.tocoo()
        greatest = np.full(len(parents), np.inf)
        for tails, heads in ((arcs.row, arcs.col), (arcs.col, arcs.row)):
            to_child = parents[heads] == tails
            greatest[heads[to_child]] = arcs.data[to_child]
        greatest[source] = 1  # the least cost
        parents[parents < 0] = source
        while (parents != source).any():  # twice as far each time
            greatest = np.maximum(greatest, greatest[parents])
            parents = parents[parents]
        return greatest

    return run


_SUMS = {"SciPy": scipy_sums, "igraph": igraph_sums}
_GREATEST = {"SciPy": scipy_greatest}

UNIT = 2.0**32
"""An arc beside the lengths of paths, exact in float64."""


def _fewest(sums: NDArray[np.float64], weights: NDArray[Any]) -> NDArray[np.float64]:
    arcs = np.floor(sums / UNIT)
    return np.stack([arcs, np.where(np.isfinite(sums), sums - arcs * UNIT, np.inf)])


OBJECTIVES: Mapping[str, Objective] = {
    "minimax": Objective(lambda w: w + 1.0, lambda result, w: result[None] - 1, _GREATEST),
    "widest": Objective(
        lambda w: w.max() + 1.0 - w,
        lambda result, w: np.where(np.isfinite(result), w.max() + 1 - result, np.inf)[None],
        _GREATEST,
    ),
    "reliable": Objective(
        lambda p: -np.log(p),
        lambda result, p: np.where(np.isfinite(result), np.exp(-result), np.inf)[None],
        _SUMS,
    ),
    "fewest-arcs": Objective(lambda w: w + UNIT, _fewest, _SUMS),
}
"""Objectives by name."""

RASTER_PEERS: Mapping[str, Callable[[NDArray[Any], int], Peer]] = {
    "scikit-image": scikit_image,
    "xarray-spatial": xarray_spatial,
    "xarray-spatial on the GPU": xarray_spatial_on_gpu,
}

ROUTE_PEERS: Mapping[str, Callable[[Held, NDArray[np.int64], int], Peer]] = {
    "NetworkX": networkx_routes,
    "SciPy": scipy_routes,
    "igraph": igraph_routes,
}


def objective_peers(
    objective: str, held: Held, weights: NDArray[Any], source: int
) -> Mapping[str, Callable[[], Peer]]:
    """Return the programs for an objective, from the graph with its costs."""
    rule = OBJECTIVES[objective]

    def peer(make: Callable[[Held, int], Callable[[], NDArray[np.float64]]]) -> Peer:
        return Peer(make(held, source), lambda result: rule.values(result, weights))

    return {name: lambda make=make: peer(make) for name, make in rule.peers.items()}  # type: ignore[misc]
