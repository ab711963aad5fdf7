"""Why a graph has no contraction hierarchy."""

from __future__ import annotations


class DenseError(Exception):
    """Contraction was given up: the rest became too dense, on the mean or in one row."""

    def __init__(self, left: int, degree: float, longest: int = 0) -> None:
        most = f", one of them {longest:,}" if longest else " each"
        super().__init__(
            f"contraction stops at {left:,} vertices with {degree:.0f} neighbours{most}; it pays "
            "on roads, meshes and trees"
        )
        self.left, self.degree = left, degree


class NarrowError(Exception):
    """The weight of a shortcut does not fit in the type that was tried."""


class UnsuitableError(Exception):
    """A graph is not contracted, or not swept, and why."""
