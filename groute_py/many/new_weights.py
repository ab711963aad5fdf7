"""Weights that a graph is given in the place of its own: checked, and floats in units."""

from __future__ import annotations

import math
from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, InputError, quoted
from groute_py.graph.arrays import as_int64, as_weights, host_array
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.separators.lengths import WIDE
from groute_py.graph.ids import integers
from groute_py.io.text.arc_reader import EXACT, ROUNDED, first_rounded

FLOAT = np.finfo(np.float64)


def checked_weights(weights: Any, count: int) -> Any:
    """Return weights that can be customized, where they are: int64's, or floats."""
    if weights.shape != (count,):
        raise GraphError(f"{count:,} weights are needed, not an array of shape {weights.shape}")
    if weights.dtype.kind not in "iubf":
        raise GraphError(f"weights must be numbers, not {weights.dtype}")
    values = as_int64(weights, "one of the weights") if weights.dtype == np.uint64 else weights
    if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
        arc = int(finite.argmin())
        raise GraphError(f"the weight of arc {arc} is no finite number ({values[arc]})")
    if count and (least := values.min()) < 0:
        arc = int(values.argmin())
        raise GraphError(f"the weight of arc {arc} is negative ({least})")
    return values


def unit_for(weights: Any, vertex_count: int) -> float:
    """Return the least power of two of which a path has no more than lengths can be."""
    greatest = float(weights.max()) if len(weights) else 0.0
    exponent = math.frexp(greatest)[1] + vertex_count.bit_length()
    if exponent > FLOAT.maxexp:
        raise GraphError(f"with weights up to {greatest} a distance may be beyond float64")
    least = FLOAT.minexp - FLOAT.nmant
    return math.ldexp(1.0, max(exponent - int(WIDE.limit).bit_length() + 1, least))


def in_units(weights: Any, unit: float) -> Any:
    """Return weights as multiples of a unit, int64, each rounded to the nearest."""
    if len(weights) and float(weights.max()) / unit > WIDE.limit:
        raise GraphError(
            f"the weight {weights.max()} is too great beside those that the other arcs have; give "
            "new weights for all arcs"
        )
    return np.rint(weights.astype(np.float64) / unit).astype(np.int64)


def with_other_weights(graph: Graph, weights: Any, arcs: Any = None) -> Graph:
    """Return the graph with other weights for all arcs, or for some: those that are given exactly.

    The type becomes wider if need be; see `groute_py.many.customized.Customized.update`.
    """
    _refuse_rounded(weights)
    values = as_weights(host_array(weights))
    if arcs is None:
        return graph.with_weights(values)
    some = arcs_in(arcs, graph)
    if values.shape != some.shape:
        raise GraphError(f"{len(some):,} weights are needed, not an array of shape {values.shape}")
    kind = graph.weights.dtype
    with np.errstate(all="ignore"):
        fits = np.array_equal(values.astype(kind), values)
    if not fits:
        kind = np.result_type(values, kind if kind.kind == "f" else np.int64)
    if kind.kind == "f":
        for whole in (values, graph.weights):
            if (number := first_rounded(whole)) is not None:
                raise GraphError(ROUNDED.format(number))
    changed = graph.weights.astype(kind)
    changed[some] = values
    return graph.with_weights(changed)


def _refuse_rounded(weights: Any) -> None:
    """Raise `GraphError` for a list with decimals and an integer that float64 may not hold."""
    if isinstance(weights, list) and any(isinstance(weight, float) for weight in weights):
        for weight in weights:
            if isinstance(weight, int) and abs(weight) > EXACT:
                raise GraphError(ROUNDED.format(weight))


def arcs_in(arcs: Any, graph: Graph) -> NDArray[np.int64]:
    """Numbers of arcs as a user gives them, each of them once."""
    some = integers(arcs, "arc")
    if some.ndim != 1:
        raise InputError(f"arcs must be a list of numbers, not of shape {some.shape}")
    wrong = (some < 0) | (some >= graph.arc_count)
    if wrong.any():
        number = int(some[wrong.argmax()])
        raise InputError(
            f"arc {number} is none of {quoted(graph.name)}; arcs are 0..{graph.arc_count - 1}"
        )
    if len(np.unique(some)) < len(some):
        values, counts = np.unique(some, return_counts=True)
        raise InputError(f"arc {int(values[counts.argmax()])} is there twice; give it one weight")
    return some


def count_of(metrics: Any) -> int:
    """Count sets of weights; 1 where their number is not known."""
    return len(metrics) if isinstance(metrics, Sized) else 1
