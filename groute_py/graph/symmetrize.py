"""Other forms of a graph: undirected, by reverse arcs, and with rows sorted by weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph, has_more, of_arcs
from groute_py.graph.tails import all_tails, transposed
from groute_py.kernels.cpu.build import csr_from_arcs
from groute_py.kernels.cpu.rows import ascend, sort_rows


def mirrored(graph: Graph, sign: int = 1) -> Graph:
    """The graph with the reverse of every arc but self-loops, at ``sign`` (1, −1) of its weight."""
    tails = all_tails(graph.offsets, graph.heads.dtype)
    other = tails != graph.heads
    if sign > 0 and has_more(graph):
        return _mirrored_with_more(graph, tails, other)
    back = graph.weights[other]
    if sign < 0:
        back = -(back.astype(np.int64) if back.dtype.kind in "iu" else back)
    offsets, heads, weights = csr_from_arcs(
        graph.vertex_count,
        np.concatenate([tails, graph.heads[other]]),
        np.concatenate([graph.heads, tails[other]]),
        np.concatenate([graph.weights, back]),
    )
    return graph.changed(offsets=offsets, heads=heads, weights=weights)


def _mirrored_with_more(graph: Graph, tails: NDArray[Any], other: NDArray[np.bool_]) -> Graph:
    """The same with columns, shapes and ids of the arcs, which both directions share."""
    numbers = np.concatenate([np.arange(graph.arc_count), np.flatnonzero(other)])
    offsets, heads, places = csr_from_arcs(
        graph.vertex_count,
        np.concatenate([tails, graph.heads[other]]),
        np.concatenate([graph.heads, tails[other]]),
        np.arange(len(numbers)),
    )
    more = of_arcs(graph, numbers[places])
    if (shapes := more["shapes"]) is not None:
        back = places >= graph.arc_count
        more["shapes"] = shapes._replace(lines=np.where(back, ~shapes.lines, shapes.lines))
    return graph.changed(offsets=offsets, heads=heads, **more)


def is_symmetric(graph: Graph) -> bool:
    """Find out whether each arc has a reverse arc of the same weight, as often as it occurs itself.

    Arcs are transposed twice, by counting: that also sorts the rows by head, both ways.
    """
    back = transposed(graph.offsets, graph.heads, graph.weights)
    there = transposed(*back)
    if not (np.array_equal(there[0], back[0]) and np.array_equal(there[1], back[1])):
        return False
    if np.array_equal(there[2], back[2]):
        return True
    # parallel arcs may still stand in another order
    tails = all_tails(there[0], there[1].dtype)
    one, other = (w[np.lexsort((w, there[1], tails))] for w in (there[2], back[2]))
    return np.array_equal(one, other)


def with_ascending_rows(graph: Graph) -> Graph:
    """The graph, every row by ascending weight; the same one where it is so already."""
    if ascend(graph.offsets, graph.weights):
        return graph
    if has_more(graph):
        tails = graph.tails()
        order = np.lexsort((graph.weights, tails))
        return graph.changed(heads=graph.heads[order], **of_arcs(graph, order))
    heads, weights = graph.heads.copy(), graph.weights.copy()
    sort_rows(graph.offsets, heads, weights)
    return graph.changed(heads=heads, weights=weights)
