"""Finding a negative cycle from distances that are still sinking."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import does_not_fit


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
    found = []
    for start in range(len(tails)):
        vertex = start
        while vertex >= 0 and seen[vertex] == 0:
            seen[vertex] = start + 1
            vertex = tails[vertex]
        if vertex >= 0 and seen[vertex] == start + 1:
            found.append(vertex)
    return np.array(found, dtype=np.int64)
