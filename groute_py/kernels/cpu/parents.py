"""Predecessors of a row of exact distances, as of ``kernels/multi_source/parents.cu``."""

from __future__ import annotations

from typing import Any

from groute_py.kernels.cpu.kernel import kernel

OPEN = -2
"""Reached, and its predecessor not found yet."""


@kernel
def find_parents(arcs: Any, source: Any, distances: Any, nothing: Any, parents: Any) -> None:
    """Fill ``parents`` (int32, (n,)) of a row; ``offsets`` and ``tails`` are of incoming arcs."""
    offsets, tails, weights = arcs
    left = False
    for head in range(len(distances)):
        distance = distances[head]
        parents[head] = -1
        if head == source or distance == nothing:
            continue
        parents[head] = OPEN
        for arc in range(offsets[head], offsets[head + 1]):
            tail = tails[arc]
            before = distances[tail]
            if before > distance or before + weights[arc] != distance:
                continue
            if tail == source:
                parents[head] = tail
                break
            if before < distance:
                parents[head] = tail
        left = left or parents[head] == OPEN
    while left:
        left = False
        for head in range(len(distances)):
            if parents[head] != OPEN:
                continue
            distance = distances[head]
            for arc in range(offsets[head], offsets[head + 1]):
                tail = tails[arc]
                level = distances[tail] == distance and distance + weights[arc] == distance
                if level and parents[tail] >= 0:
                    parents[head] = tail
                    left = True
                    break
