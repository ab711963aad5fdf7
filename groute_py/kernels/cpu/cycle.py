"""Cycles: negative ones, from distances that are still sinking, and any among some arcs."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.algebra import does_not_fit
from groute_py.kernels.cpu.kernel import kernel


@kernel
def best_arcs(offsets: Any, heads: Any, weights: Any, distances: Any, nothing: Any) -> Any:
    """The tails and arcs (int64, or −1) that reach each vertex best, if within its distance.

    The rows may be those of the first vertices only; the distances are of all that are heads.
    """
    count = len(distances)
    tails = np.full(count, -1, np.int64)
    arcs = np.full(count, -1, np.int64)
    best = distances.copy()
    for tail in range(len(offsets) - 1):
        if distances[tail] == nothing:
            continue
        for arc in range(offsets[tail], offsets[tail + 1]):
            if does_not_fit(distances[tail], weights[arc], nothing):
                continue
            head, reach = heads[arc], distances[tail] + weights[arc]
            level = reach == best[head] and tails[head] < 0 and head != tail
            if reach < best[head] or level:
                best[head], tails[head], arcs[head] = reach, tail, arc
    return tails, arcs


@kernel
def starts(tails: Any) -> Any:
    """One vertex of each cycle of the map vertex → tail."""
    seen = np.zeros(len(tails), np.int64)
    vertices = []
    for start in range(len(tails)):
        vertex = start
        while vertex >= 0 and seen[vertex] == 0:
            seen[vertex] = start + 1
            vertex = tails[vertex]
        if vertex >= 0 and seen[vertex] == start + 1:
            vertices.append(vertex)
    return np.array(vertices, dtype=np.int64)


@kernel
def find_cycle(offsets: Any, heads: Any, in_offsets: Any, tails: Any) -> Any:
    """The vertices of a cycle in order, int64; none is left once those without arcs are gone."""
    count = len(offsets) - 1
    left = offsets[1:] - offsets[:-1]
    bare = np.empty(count, np.int64)
    bare_count = 0
    for vertex in range(count):
        if left[vertex] == 0:
            bare[bare_count] = vertex
            bare_count += 1
    done = 0
    while done < bare_count:
        for arc in range(in_offsets[bare[done]], in_offsets[bare[done] + 1]):
            left[tails[arc]] -= 1
            if left[tails[arc]] == 0:
                bare[bare_count] = tails[arc]
                bare_count += 1
        done += 1
    if bare_count == count:
        return bare[:0]
    vertex = 0
    while left[vertex] == 0:
        vertex += 1
    place, length = np.full(count, -1, np.int64), 0
    while place[vertex] < 0:  # an arc leads from each vertex that is left to another one
        place[vertex], bare[length] = length, vertex
        length += 1
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            if left[heads[arc]] > 0:
                vertex = heads[arc]
                break
    return bare[place[vertex] : length].copy()
