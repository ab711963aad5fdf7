"""Why a graph has no contraction hierarchy."""

from __future__ import annotations


class DenseError(Exception):
    """Contraction was given up: what is left of the graph became too dense.

    Args:
        left: vertices that are left.
        degree: arcs that each of them has on the mean.
    """

    def __init__(self, left: int, degree: float) -> None:
        super().__init__(
            f"contraction stops at {left:,} vertices with {degree:.0f} neighbours each; it pays on "
            "roads, meshes and trees"
        )
        self.left, self.degree = left, degree


class NarrowError(Exception):
    """The weight of a shortcut does not fit in the type that was tried."""
