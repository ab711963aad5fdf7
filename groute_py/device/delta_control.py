"""Adaptive Δ, for graphs whose weights differ by orders of magnitude.

If Δ suits the graph, the vertices of a bucket are relaxed a few times each. If not (some weights
near 10⁹, paths of light arcs), a bucket can take as many relaxations as plain Bellman-Ford. So if a
bucket has relaxed every arc many times, the bucket and Δ are narrowed, by a factor that finds the
right scale within a few dozen passes over the arcs.
"""

from __future__ import annotations

from typing import Any

PASSES, NARROWING = 8, 8
"""A bucket may cost so many relaxations of every arc; then Δ is divided by so much."""


class DeltaControl:
    """Counts the relaxations of one solve and narrows Δ."""

    def __init__(self, arc_count: int, delta: Any, nothing: Any) -> None:
        self._limit = PASSES * (arc_count + 1000)
        self._delta, self._fixed = delta, delta == nothing
        self._bucket, self._before = 0.0, 0

    def narrower(self, bucket: float, relaxations: int) -> Any | None:
        """The Δ to narrow the current bucket to, or None to go on as it is."""
        if bucket != self._bucket:
            self._bucket, self._before = bucket, relaxations
        if self._fixed or relaxations - self._before <= self._limit:
            return None
        self._before = relaxations
        whole = self._delta.dtype.kind != "f"
        delta = max(self._delta // NARROWING, 1) if whole else self._delta / NARROWING
        if delta == self._delta:
            return None
        self._delta = self._delta.dtype.type(delta)
        return self._delta


def threshold_after(start: Any, delta: Any, nothing: Any) -> Any:
    """Return where a bucket of width Δ ends, in the distance type; at most the unreached value."""
    return nothing if start >= nothing - delta else type(nothing)(start + delta)
