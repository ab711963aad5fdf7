"""Conversion of the arguments, answers and errors of SciPy's functions.

A graph is a sparse array, whose explicit zeros are arcs of weight 0, or a dense array, in which
zero, infinity and NaN mean that there is no arc. In a masked array the mask means that. An infinite
or NaN entry of a sparse array, or without a mask, is an arc only where arcs are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph as scipy_csgraph

from groute_py.device.base import unreached
from groute_py.errors import InputError, quote
from groute_py.errors import NegativeCycleError as AnyNegativeCycleError
from groute_py.graph.csr import Graph
from groute_py.graph.tails import all_tails
from groute_py.kernels.cpu.build import csr_from_arcs

Csr = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # offsets, heads, weights
NAME = "csgraph"  # the graph in errors: the argument's name
NOBODY = -9999  # SciPy's value for no predecessor


def graph_of(csgraph: Any, *, directed: bool, unweighted: bool = False) -> Graph:
    """The graph, with each arc also backwards unless ``directed``; float weights become float64."""
    rows_of = _rows_of if hasattr(csgraph, "tocsr") else _rows_of_dense
    offsets, heads, weights = rows_of(csgraph, all_stored=unweighted)
    if unweighted:
        weights = np.ones(len(heads), np.int32)
    elif weights.dtype.kind == "f":
        weights = weights.astype(np.float64, copy=False)
    if not directed:
        tails = all_tails(offsets)
        ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        both = np.concatenate([weights, weights])
        offsets, heads, weights = csr_from_arcs(len(offsets) - 1, *ends, both)
    return Graph.from_arrays(offsets, heads, weights, copy=False, name=NAME)


def matrix_of(
    csgraph: Any, *, directed: bool, unweighted: bool, overwrite: bool
) -> NDArray[np.float64]:
    """The weights as a matrix, infinite where there is no arc; ``csgraph`` itself if it may be."""
    if hasattr(csgraph, "tocsr"):
        graph = graph_of(csgraph, directed=True)
        matrix = np.full((graph.vertex_count, graph.vertex_count), np.inf)
        ends = all_tails(graph.offsets), graph.heads
        np.minimum.at(matrix, ends, graph.weights)  # the lightest of parallel arcs
    else:
        dense = _dense(csgraph)
        nothing = ~_has_arc(dense, all_stored=False)
        data = np.ma.getdata(dense)
        make = np.asarray if overwrite else np.array
        matrix = make(data, np.float64, order="C")
        matrix[nothing] = np.inf
    if unweighted:
        matrix[np.isfinite(matrix)] = 1
    if not directed:
        np.minimum(matrix, matrix.T, out=matrix)
    return matrix


def in_floats(graph: Graph) -> Graph:
    """The graph with its weights in float64."""
    weights = graph.weights.astype(np.float64)
    return Graph.from_arrays(graph.offsets, graph.heads, weights, copy=False, name=graph.name)


def vertices_of(indices: Any, count: int) -> NDArray[np.int64]:
    """The sources, in the shape they were given in; those below 0 count from the end."""
    if indices is None:
        return np.arange(count)
    numbers = _array(indices, "indices")
    if numbers.size and numbers.dtype.kind not in "iub":
        raise InputError(f"indices must be integers, not {quote(indices)}; leave them out for all")
    numbers = numbers.astype(np.int64) if numbers.dtype.kind == "b" else numbers
    vertices = np.where(numbers < 0, numbers + count, numbers).astype(np.int64)
    wrong = (vertices < 0) | (vertices >= count)
    if wrong.any():
        raise InputError(f"indices: {numbers[wrong][0]} is not a vertex; there are {count}")
    return vertices


def _rows_of(csgraph: Any, *, all_stored: bool) -> Csr:
    rows = csgraph.tocsr()
    count = _side(rows.shape)
    there = np.isfinite(rows.data)
    if all_stored or there.all():
        return rows.indptr, rows.indices, rows.data
    tails = all_tails(rows.indptr)[there]
    return csr_from_arcs(count, tails, rows.indices[there], rows.data[there])


def _rows_of_dense(csgraph: Any, *, all_stored: bool) -> Csr:
    matrix = _dense(csgraph)
    tails, heads = np.nonzero(_has_arc(matrix, all_stored=all_stored))
    return csr_from_arcs(len(matrix), tails, heads, np.ma.getdata(matrix)[tails, heads])


def _dense(csgraph: Any) -> Any:
    matrix = np.ma.asarray(csgraph) if np.ma.isMaskedArray(csgraph) else _array(csgraph, NAME)
    _side(matrix.shape)
    if matrix.dtype.kind not in "iufb":
        raise InputError(f"{NAME} must hold real numbers, not {matrix.dtype}")
    return matrix


def _array(values: Any, what: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as problem:
        raise InputError(f"{what} is not an array of numbers: {problem}") from None


def _has_arc(matrix: Any, *, all_stored: bool) -> NDArray[np.bool_]:
    masked = np.ma.isMaskedArray(matrix)
    there: NDArray[np.bool_] = ~np.ma.getmaskarray(matrix) if masked else matrix != 0
    return there if masked and all_stored else there & np.isfinite(np.ma.getdata(matrix))


def _side(shape: tuple[int, ...]) -> int:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"{NAME} must be a square matrix, not of shape {shape}")
    return shape[0]


def distances_out(distances: NDArray[Any]) -> NDArray[np.float64]:
    """float64, infinite where no path leads."""
    floats: NDArray[np.float64] = distances.astype(np.float64, copy=False)
    if distances.dtype.kind != "f":
        floats[distances == unreached(distances.dtype)] = np.inf
    return floats


def vertices_out(vertices: NDArray[np.int64]) -> NDArray[np.int32]:
    """int32, −9999 where ours are negative."""
    return np.where(vertices < 0, NOBODY, vertices).astype(np.int32)


class NegativeCycleError(AnyNegativeCycleError, scipy_csgraph.NegativeCycleError):  # type: ignore[misc]
    """`groute_py.NegativeCycleError` that is also `scipy.sparse.csgraph.NegativeCycleError`."""


@contextmanager
def scipy_errors() -> Iterator[None]:
    """Raise what SciPy's functions raise."""
    try:
        yield
    except AnyNegativeCycleError as error:
        raise NegativeCycleError(error.cycle, error.weight) from None
