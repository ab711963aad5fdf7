"""The part of a contraction hierarchy above some vertices."""

from __future__ import annotations

from typing import Any

from groute_py.kernels.cpu.kernel import kernel


@kernel
def mark_above(offsets: Any, heads: Any, marked: Any) -> None:
    """Mark (bool, (n,)) all places above the marked ones: arcs lead to lower places only."""
    for place in range(len(marked) - 1, -1, -1):
        if marked[place]:
            for arc in range(offsets[place], offsets[place + 1]):
                marked[heads[arc]] = True
