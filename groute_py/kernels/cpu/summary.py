"""The sum of a row of integer distances in two words, the greatest and how many there are."""

from __future__ import annotations

from typing import Any

from groute_py.kernels.cpu.kernel import kernel


@kernel
def summary_of(row: Any, nothing: Any, low_bits: int) -> Any:
    """One pass over a row.

    Args:
        row: integers, shape (n,).
        nothing: the unreached value.
        low_bits: of the lower word.

    Returns:
        How many vertices are reached, the first of the farthest, the greatest distance, the sum of
        what the distances have above the lower word, and the sum of their lower words.
    """
    mask = (1 << low_bits) - 1
    reached = high = low = farthest = 0
    greatest = -nothing
    for vertex in range(len(row)):
        distance = row[vertex]
        if distance == nothing:
            continue
        reached += 1
        high += distance >> low_bits
        low += distance & mask
        if distance > greatest:
            greatest, farthest = distance, vertex
    return reached, farthest, greatest, high, low
