"""Downward in a contraction hierarchy from the places within a cutoff, and no farther.

A sweep looks at every arc, however few vertices are within the cutoff. This looks at the arcs to
the vertices below those that are. Places are visited in ascending order: arcs lead to lower places
only, so what lies above a place is final when it is visited. A bit for each place (``words``,
uint64) says that it is reached and has not been visited. Distances stand by places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel

BITS = 64
"""Bits of a word."""


@kernel
def arcs_below(arcs: Any, below: Any) -> None:
    """Sort the arcs of a hierarchy (offsets, heads and weights) by their heads.

    Fills what is ``below``: begins (uint64, (n + 1,), all 0), tails (uint32, (a,)) and weights.
    """
    (offsets, heads, down), (starts, tails, weights) = arcs, below
    one = np.uint64(1)
    for arc in range(len(heads)):
        starts[heads[arc]] += one
    before = np.uint64(0)
    for head in range(len(starts)):
        before += starts[head]
        starts[head] = before
    for tail in range(len(offsets) - 2, -1, -1):
        for arc in range(offsets[tail], offsets[tail + 1]):
            place = starts[heads[arc]] - one
            starts[heads[arc]] = place
            tails[place], weights[place] = tail, down[arc]


@kernel
def open_places(places: Any, distances: Any, cutoff: Any, words: Any) -> None:
    """Set the bits of the places that are within the cutoff."""
    for place in places:
        if distances[place] <= cutoff:
            words[place // BITS] |= np.uint64(1) << np.uint64(place % BITS)


@kernel
def descend(
    below: Any, cutoff: Any, distances: Any, words: Any, space: Any, most: Any, at: Any
) -> int:
    """Find the distances within the cutoff; return how many, or −1 if given up after ``most`` arcs.

    The arcs ``below`` are of `arcs_below`; ``words`` are the bits to begin with, all 0 at the end.
    Fills ``space`` (uint32, (n,)) with the places, and adds the arcs that were looked at to
    ``at[0]``.
    """
    starts, tails, weights = below
    count, looked = 0, np.uint64(0)
    for number in range(len(words)):
        while words[number] != 0:
            word = words[number]
            lowest = word & (~word + np.uint64(1))
            words[number] = word ^ lowest
            if looked > most:
                words[number:] = 0
                at[0] += np.int64(looked)
                return -1
            place = number * BITS + _position(lowest)
            space[count] = place
            count += 1
            base = np.uint64(distances[place])
            begin, end = starts[place], starts[place + 1]
            looked += end - begin
            for arc in range(begin, end):
                reach = base + np.uint64(weights[arc])
                tail = tails[arc]
                if reach <= np.uint64(cutoff) and reach < np.uint64(distances[tail]):
                    distances[tail] = reach
                    words[tail // BITS] |= np.uint64(1) << np.uint64(tail % BITS)
    at[0] += np.int64(looked)
    return count


@kernel
def _position(bit: Any) -> int:
    """Return the position of the only bit that is set in a word."""
    position = 0
    for width in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(width):
            bit >>= np.uint64(width)
            position += width
    return position


@kernel
def answer_found(space: Any, vertices: Any, distances: Any, nothing: Any, answers: Any) -> None:
    """Put distances of places into ``answers``, by ``vertices`` (uint32, (n,)), and clear them."""
    for place in space:
        answers[vertices[place]] = distances[place]
        distances[place] = nothing
