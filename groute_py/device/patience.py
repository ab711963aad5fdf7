"""When a window is too wide: Δ adapts to graphs whose weights are nothing like their mean.

Inside a window vertices are relaxed in any order, as often as they improve. Where Δ fits the graph
that is a few times each. Where it does not (some weights near 10⁹, paths of light arcs) a single
window can take as many relaxations as plain Bellman-Ford. So a window that has cost many times all
arcs is narrowed, and Δ with it: each time by enough that a few times find the right scale, at the
cost of a few dozen passes over the arcs in all.
"""

from __future__ import annotations

from typing import Any

PASSES, NARROWING = 8, 8
"""A window may cost so many relaxations of every arc; then Δ is divided by so much."""


class Patience:
    """Watches the work of one solve.

    Args:
        arc_count: of the share.
        delta: Δ in the distance type; the unreached value stands for an infinite one, which is
            Bellman-Ford's and stays.
        nothing: the unreached value.
    """

    def __init__(self, arc_count: int, delta: Any, nothing: Any) -> None:
        self._limit = PASSES * (arc_count + 1000)
        self._delta, self._fixed = delta, delta == nothing
        self._window, self._before = 0.0, 0

    def narrower(self, window: float, relaxations: int) -> Any | None:
        """The Δ to narrow the current window to, or None to go on as it is.

        Args:
            window: which window is open; another number means another window.
            relaxations: so far.
        """
        if window != self._window:
            self._window, self._before = window, relaxations
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
    """Where a window of width Δ ends, in the distance type; at most the unreached value."""
    return nothing if start >= nothing - delta else type(nothing)(start + delta)
