"""The type in which distances are computed, so that integers are exact.

Integer weights are summed in 32 bits first. Every sum is checked; if one does not fit, the solve is
repeated in 64 bits. A sum that does not fit in 64 bits is an error. Negative weights use 64 bits
from the start, because a negative cycle would sink below the 32-bit range before it is noticed.
Float weights are summed in their own type; if a float32 sum overflows, the solve is repeated in
float64. Sums of floats are rounded from the source outwards, the same way on every device and with
every number of ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts

RANKS = np.dtype(np.uint32)
"""Type of ranks: it is unsigned, which says how arcs extend; `groute_py.kernels.cpu.algebra`."""


def distance_types(facts: Facts) -> list[np.dtype[Any]]:
    """The types to try, narrowest first."""
    if facts.has_maxima:
        return [RANKS]
    if facts.operator is not None:
        return [facts.operator.type]
    narrow: np.dtype[Any]
    wide: np.dtype[Any]
    if facts.weight_type.kind == "f":
        narrow, wide = np.dtype(np.float32), np.dtype(np.float64)
        narrow_will_do = facts.weight_type == narrow
    else:
        narrow, wide = np.dtype(np.int32), np.dtype(np.int64)
        narrow_will_do = not facts.has_negative and facts.greatest < np.iinfo(np.int32).max
    return [narrow, wide] if narrow_will_do else [wide]


MARGIN = 4
"""Between what sums may come to and what float32 holds, for rounding."""


def one_precision(graph: Graph) -> Graph:
    """The graph, with float64 weights where its float32 ones will not do for all rows.

    That is where sums might overflow: one source is solved for in float32 first, and again where
    that overflows, but of many some would need float64 and others not, and rows would be rounded in
    two ways. And where weights are negative: Johnson's potentials are rounded too, and may be far
    greater than the distances.

    >>> one_precision(Graph.from_arrays([0, 1, 1], [1], np.float32([3e38]))).weights.dtype
    dtype('float64')
    >>> one_precision(Graph.from_arrays([0, 1, 1], [1], np.float32([0.1]))).weights.dtype
    dtype('float32')
    """
    if graph.weights.dtype != np.float32 or not graph.arc_count:
        return graph
    sums = MARGIN * graph.vertex_count * float(graph.weights.max())
    if graph.weights.min() >= 0 and sums < float(np.finfo(np.float32).max):
        return graph
    return graph.changed(weights=graph.weights.astype(np.float64))


def row_types(facts: Facts, device: str, algorithm: str = "") -> list[np.dtype[Any]]:
    """The types to try for distances, narrowest first.

    Only sweeps are faster on cores with short integers.
    """
    types = distance_types(facts)
    wide = device == "cpu" and facts.weight_type.kind != "f" and algorithm != "sweep"
    return types[-1:] if wide else types


def rounding_of(algorithm: str) -> str:
    """Return the order in which a method adds floats, and so rounds; rows of a file share one."""
    return "by middle vertices" if algorithm == "floyd" else "from the source outwards"
