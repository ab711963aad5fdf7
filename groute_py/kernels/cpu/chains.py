"""Chains of segments between the vertices that are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel


@kernel
def chains(follower: Any) -> Any:
    """The half-edges (int64, (k,)) of every chain, in one direction, and where chains begin.

    Half-edges 2s and 2s + 1 are the directions of segment s. ``follower`` (int64, (2k,)) has the
    next one in the chain, -1 where the head of this one is kept. A ring without such a vertex is
    one chain, which begins and ends anywhere on it. The begins are int64, ascending, with k at the
    end.
    """
    count = len(follower)
    begins = np.ones(count, np.bool_)
    for half in range(count):
        if follower[half] >= 0:
            begins[follower[half]] = False
    seen = np.zeros(count // 2, np.bool_)
    order, starts = np.empty(count // 2, np.int64), np.empty(count // 2 + 1, np.int64)
    placed, chain_count = 0, 0
    for rings in range(2):
        for first in range(count):
            if seen[first // 2] or (rings == 0 and not begins[first]):
                continue
            starts[chain_count] = placed
            chain_count += 1
            half = first
            while half >= 0 and not seen[half // 2]:
                seen[half // 2] = True
                order[placed] = half
                placed += 1
                half = follower[half]
    starts[chain_count] = placed
    return order, starts[: chain_count + 1]
