"""Predecessors from distances by several threads; see `groute_py.kernels.cpu.claim`.

Threads take ranges of tails. Parents are shared, and only fall, from −1 read as the greatest
unsigned number: the predecessor is the least of the tails whose arc is tight and rises, in every
order. A look and a change are relaxed: nothing else is read because of a parent's value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.atomics import load, prefetch, replace
from groute_py.kernels.cpu.claim import is_tight
from groute_py.kernels.cpu.kernel import kernel

AHEAD = np.uint64(16)
"""Arcs by which a thread loads ahead."""


@kernel
def claim_rising(
    arcs: Any, distances: Any, parents: Any, first: Any, last: Any, nothing: Any
) -> bool:
    """Claim along arcs of some tails that are tight and rise; True if some tight arc is level.

    ``parents`` are uint64, of local vertices; this is for a rank alone.
    """
    offsets, heads, weights = arcs
    one, arc_count = np.uint64(1), np.uint64(len(heads))
    level = False
    for tail in range(np.uint64(first), np.uint64(last)):
        base = distances[tail]
        if base == nothing:
            continue
        for arc in range(offsets[tail], offsets[tail + one]):
            if arc + AHEAD < arc_count:
                prefetch(distances, heads[arc + AHEAD])
            head = heads[arc]
            if not is_tight(base, weights[arc], distances[head], nothing):
                continue
            if base == distances[head]:
                level = level or head != tail
                continue
            parent = load(parents, head)
            while tail < parent and not replace(parents, head, parent, tail):
                parent = load(parents, head)
    return level
