"""The k shortest walks between two vertices, which may pass a vertex several times.

Fox's method (1975): Dijkstra's algorithm with up to k labels at each vertex, one for each walk from
there to the target. Here it leads from the target against the arcs, with the distances from the
source as its potential (Hart, Nilsson and Raphael, 1968): what it settles are the ends of the k
shortest walks, and of others as long as the last.

Walks are in the order of `k_paths`: by length, by their numbers of arcs, by the first vertex that
differs. An arc before two walks keeps their order, so a label needs no more than its head and the
label there. As steps count, every one is longer than nothing, also by weight 0.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from groute_py.kernels.cpu.atomics import load
from groute_py.kernels.cpu.k_paths import FULL, LOST, STAMP, STOP, put_in_order
from groute_py.kernels.cpu.kernel import kernel

NO_VERTEX = np.uint32(2**32 - 1)


@kernel
def add_walks(
    tree: Any, source: Any, target: Any, limits: Any, spaces: Any, walks: Any, lengths: Any
) -> None:
    """Add the walks of a pair, and their lengths, to those that are found.

    ``tree`` are the arcs turned round and distances from the source, (n,), or a value for none. In
    the space ``arcs`` counts the labels of each vertex; ``lengths`` and ``before`` have the weight
    of the lightest arc from a vertex, and this.
    """
    offsets, heads, weights, row, nothing = tree
    space, one, first = spaces[0], np.uint64(1), len(walks)
    space.clock[STAMP] += 1
    stamp, zero = space.clock[STAMP], np.zeros(1, space.lengths.dtype)[0]
    space.stamps[target], space.arcs[target], space.before[target] = stamp, 0, NO_VERTEX
    # vertices of labels, and the labels that follow on their walks
    labels = [(np.uint32(target), -1)]
    labels.pop()
    end = np.int64(target)
    queue = [(zero + row[target], 0, end, end, -1, zero)]
    while len(queue) > 0 and load(space.clock, STOP) == 0:
        _, arc_count, vertex, _, following, base = heappop(queue)
        tail, label = np.uint64(vertex), len(labels)
        if space.arcs[tail] == limits.most:
            continue
        if label + len(queue) > limits.labels:  # no other pair is looked at
            space.clock[FULL] = space.clock[STOP] = 1
        space.arcs[tail] += 1
        labels.append((np.uint32(vertex), following))
        if vertex == source:
            if base <= limits.longest:
                walk = _walk(labels, arc_count)
                put_in_order(walks, lengths, first, walk, base)
            if space.arcs[tail] == limits.most:
                break
        _find_lightest(tree, tail, stamp, space)
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if row[head] == nothing or space.arcs[head] == limits.most:
                continue
            if space.before[head] != tail or weights[arc] != space.lengths[head]:
                continue
            space.before[head] = NO_VERTEX  # arcs parallel to this one are the same step
            if weights[arc] > limits.greatest - base - row[head]:
                space.clock[LOST] |= limits.is_all
                continue
            length, before = base + weights[arc], np.int64(head)
            heappush(queue, (length + row[head], arc_count + 1, before, vertex, label, length))


@kernel
def _find_lightest(tree: Any, tail: Any, stamp: Any, space: Any) -> None:
    """Keep the weight of the lightest arc to each head, and where it comes from."""
    offsets, heads, weights, _, _ = tree
    for arc in range(offsets[tail], offsets[tail + np.uint64(1)]):
        head = heads[arc]
        if space.stamps[head] != stamp:
            space.stamps[head], space.arcs[head], space.before[head] = stamp, 0, NO_VERTEX
        if space.before[head] != tail or weights[arc] < space.lengths[head]:
            space.before[head], space.lengths[head] = tail, weights[arc]


@kernel
def _walk(labels: Any, arc_count: Any) -> Any:
    """Return the vertices from that of the last label on."""
    walk, label = np.empty(arc_count + 1, np.uint32), len(labels) - 1
    for place in range(arc_count + 1):
        walk[place], label = labels[label]
    return walk
