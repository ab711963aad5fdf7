"""The sum of a row of integer distances in two words, the greatest and how many there are."""

from __future__ import annotations

from typing import Any

from groute_py.kernels.cpu.kernel import kernel


@kernel
def summary_of(row: Any, nothing: Any, low_bits: int) -> Any:
    """Summarize a row of integers in one pass.

    Returns the number of reached vertices, the first of the farthest, the greatest distance, and
    the sum in two words: of the distances above their ``low_bits``, and of these.
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
