"""Bellman-Ford with a queue and a tree: no improvement may close a cycle of the tree.

Each label is the float sum of the weights along the tree path to its vertex, from the source
outwards. When a vertex becomes nearer, the vertices below it leave the tree, because their paths
have changed; each keeps its label as a bound, and joins again where a label no greater is found
(Tarjan's subtree disassembly). An arc that would improve a vertex above its own tail closes a
cycle. Its weight is summed with compensation: a cycle that is negative beyond the tolerance ends
the solve, and any other improves by rounding alone, so the arc is left out. Hence the tree is whole
at the end, the source keeps the label 0, and cycles of weight 0 do no harm.

The tree is kept as a ring in preorder with the depth of each vertex: what follows a vertex and is
deeper lies below it. Cherkassky and Goldberg, "Negative-cycle detection algorithms" (1999).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel

HEAD, COUNT, RELAXATIONS, CYCLE_TAIL, CYCLE_ARC, OVERFLOWED, CURSORS = range(7)
"""Places in the cursor array, int64; ``CYCLE_TAIL`` is −1 until a negative cycle is found."""


class GrowingTree(NamedTuple):
    """The state of a solve on n vertices; −1 stands outside the tree."""

    labels: NDArray[np.float64]  # float64, infinite where no path has been found
    absolute: NDArray[np.float64]  # float64, the sums of the absolute weights along the tree
    parents: NDArray[np.int64]  # int64, the vertex before; ``via`` is the arc from it
    via: NDArray[np.int64]
    after: NDArray[np.int64]  # int64, the neighbours in the ring
    before: NDArray[np.int64]
    depth: NDArray[np.int64]  # int64, arcs from the source
    in_tree: NDArray[np.bool_]  # bool
    queued: NDArray[np.bool_]
    queue: NDArray[np.int64]  # int64, a ring from ``at[HEAD]`` with ``at[COUNT]`` vertices
    at: NDArray[np.int64]


def planted(count: int, source: int) -> GrowingTree:
    """A tree of the source alone, which waits in the queue."""
    labels, absolute = np.full(count, np.inf), np.zeros(count)
    parents, via, after, before = np.full((4, count), -1, np.int64)
    in_tree, queued = np.zeros((2, count), np.bool_)
    depth, queue = np.zeros((2, count), np.int64)
    at = np.zeros(CURSORS, np.int64)
    labels[source], in_tree[source], queued[source] = 0.0, True, True
    after[source] = before[source] = queue[0] = source
    at[COUNT], at[CYCLE_TAIL] = 1, -1
    ring = after, before, depth
    return GrowingTree(labels, absolute, parents, via, *ring, in_tree, queued, queue, at)


@kernel
def is_below(tree: Any, top: Any, vertex: Any) -> bool:
    """Return True if ``vertex`` is ``top`` or below it: climbs from one and searches the other."""
    up, down = vertex, tree.after[top]
    while tree.depth[up] > tree.depth[top] and tree.depth[down] > tree.depth[top]:
        if down == vertex:
            return True
        up, down = tree.parents[up], tree.after[down]
    return bool(up == top)


@kernel
def cut_off(tree: Any, top: Any) -> None:
    """Take ``top`` and all that lies below it out of the tree."""
    first, vertex = tree.before[top], tree.after[top]
    while tree.depth[vertex] > tree.depth[top]:
        tree.in_tree[vertex], tree.parents[vertex] = False, -1
        vertex = tree.after[vertex]
    tree.in_tree[top], tree.parents[top] = False, -1
    tree.after[first], tree.before[vertex] = vertex, first


@kernel
def hang(tree: Any, vertex: Any, parent: Any, arc: Any) -> None:
    """Put a vertex that is not in the tree right below ``parent``."""
    following = tree.after[parent]
    tree.after[parent], tree.before[vertex] = vertex, parent
    tree.after[vertex], tree.before[following] = following, vertex
    tree.parents[vertex], tree.via[vertex] = parent, arc
    tree.depth[vertex] = tree.depth[parent] + 1
    tree.in_tree[vertex] = True


@kernel
def closes_negative(weights: Any, tolerance: Any, tree: Any, tail: Any, arc: Any, top: Any) -> bool:
    """Return True if arc and path from ``top`` to its tail weigh too little, by Neumaier's sum."""
    total, lost, absolute = weights[arc], 0.0, abs(weights[arc])
    vertex = tail
    while vertex != top:
        value = weights[tree.via[vertex]]
        both = total + value
        if abs(total) >= abs(value):
            lost += (total - both) + value
        else:
            lost += (value - both) + total
        total, absolute = both, absolute + abs(value)
        vertex = tree.parents[vertex]
    return bool(total + lost < -tolerance * absolute)


@kernel
def relax(
    offsets: Any, heads: Any, weights: Any, tolerance: Any, slack: Any, tree: Any, budget: Any
) -> None:
    """Relax until the queue is empty, about ``budget`` arcs are done, or a cycle is negative.

    ``tolerance`` is of a cycle, as a part of the sum of its absolute weights. A path must be
    shorter than that in the tree by ``slack``, as a part of the absolute weights on both; so the
    tree does not follow what rounding alone prefers.
    """
    labels, at, places = tree.labels, tree.at, len(tree.queue)
    done = 0
    while at[COUNT] > 0 and done < budget:
        tail = tree.queue[at[HEAD]]
        at[HEAD] = (at[HEAD] + 1) % places
        at[COUNT] -= 1
        tree.queued[tail] = False
        if not tree.in_tree[tail]:
            continue  # queued again when it has joined again
        done += offsets[tail + 1] - offsets[tail] + 1
        at[RELAXATIONS] += offsets[tail + 1] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + 1]):
            head, reach = np.int64(heads[arc]), labels[tail] + weights[arc]
            if not np.isfinite(reach):
                at[OVERFLOWED] = 1
                continue
            joins = reach == labels[head] and not tree.in_tree[head]
            if not (reach < labels[head] or joins):
                continue
            both = tree.absolute[tail] + abs(weights[arc]) + tree.absolute[head]
            if tree.in_tree[head]:
                if is_below(tree, head, tail):
                    if closes_negative(weights, tolerance, tree, tail, arc, head):
                        at[CYCLE_TAIL], at[CYCLE_ARC] = tail, arc
                        return
                    continue
                if labels[head] - reach <= slack * both:
                    continue  # as near as rounding can tell
                cut_off(tree, head)
            labels[head] = reach
            tree.absolute[head] = tree.absolute[tail] + abs(weights[arc])
            hang(tree, head, tail, arc)
            if not tree.queued[head]:
                tree.queued[head] = True
                tree.queue[(at[HEAD] + at[COUNT]) % places] = head
                at[COUNT] += 1


@kernel
def sums_along(weights: Any, tree: Any, source: Any, sums: Any) -> None:
    """Fill ``sums``, unreached so far, with those along the tree, in the type of the weights."""
    sums[source] = 0
    vertex = tree.after[source]
    while vertex != source:
        sums[vertex] = sums[tree.parents[vertex]] + weights[tree.via[vertex]]
        vertex = tree.after[vertex]
