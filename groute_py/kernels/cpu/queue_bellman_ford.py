"""Bellman-Ford with a queue of changed vertices, in one of three orders.

* ``FIFO``: first in, first out (Moore, 1959; also known as SPFA).
* ``SLF``, small label first: a vertex nearer than the head of the queue is put before it.
* ``SLF_LLL``: in addition large label last: a head that is farther than the mean of the queue moves
  to the end. Bertsekas, "A simple and fast label correcting algorithm for shortest paths" (1993),
  and Bertsekas, Guerriero and Musmanno (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.choices import FIFO, SLF_LLL
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import (
    BUCKETS,
    HEAD,
    NEAR_COUNT,
    OVERFLOWED,
    RELAXATIONS,
    reach_of,
)


@kernel
def relax(
    arcs: Any, distances: Any, queued: Any, queue: Any, at: Any, total: Any, order: Any, bounds: Any
) -> None:
    """Relax for a slice, or until the queue is empty.

    ``queued`` (uint8, (n,)) is 1 for vertices in ``queue`` (uint32, (n,)), a ring from ``at[HEAD]``
    with ``at[NEAR_COUNT]`` of them; ``at[BUCKETS]`` counts those taken from it. ``total[0]``
    (float64) is the sum of the distances in the queue; ``order`` is `FIFO`, `SLF` or `SLF_LLL`.
    """
    offsets, heads, weights = arcs
    _, cutoff, nothing, budget = bounds
    one, places = np.uint64(1), np.uint64(len(queue))
    first, count, done = np.uint64(at[HEAD]), np.uint64(at[NEAR_COUNT]), np.uint64(0)
    while count > 0 and done < budget:
        tail = queue[first]
        if order == SLF_LLL:
            passed = np.uint64(0)  # rounding may put every one above the mean
            while distances[tail] * float(count) > total[0] and passed < count:
                queue[(first + count) % places] = tail
                first = first + one if first + one < places else np.uint64(0)
                tail = queue[first]
                passed += one
        first = first + one if first + one < places else np.uint64(0)
        count -= one
        queued[tail] = 0
        at[BUCKETS] += 1
        base = distances[tail]
        total[0] -= base
        done += one + offsets[tail + one] - offsets[tail]
        at[RELAXATIONS] += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(base, weights[arc], nothing)
            if reach == nothing:
                at[OVERFLOWED] |= cutoff == nothing
                continue
            if reach >= distances[head] or reach > cutoff:
                continue
            if queued[head]:
                total[0] -= distances[head] - reach
                distances[head] = reach
                continue
            queued[head] = 1
            total[0] += reach
            if order != FIFO and count > 0 and reach < distances[queue[first]]:
                first = first - one if first > 0 else places - one
                queue[first] = head
            else:
                queue[(first + count) % places] = head
            distances[head] = reach
            count += one
    at[HEAD], at[NEAR_COUNT] = first, count
