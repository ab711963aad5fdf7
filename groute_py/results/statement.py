"""The statement that a certificate has to prove."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Statement(NamedTuple):
    """The claim that an answer is right for a graph; both lie in host memory."""

    offsets: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any]  # floats have the type of the distances
    source: int
    distances: NDArray[Any]
    predecessors: NDArray[Any] | None  # (n,); None if they are not to be proved
    bound: Any  # the greatest distance that counts, in the type of the distances

    @property
    def is_usual(self) -> bool:
        """Return True if the arrays have the types and shapes that solves give them.

        Others are wrong, or would be changed where they are converted.
        """
        kind, weights, parents = self.distances.dtype, self.weights.dtype, self.predecessors
        if kind.name not in ("int64", "float32", "float64"):
            return False
        if weights != kind and (kind.kind == "f" or weights.kind == "f"):
            return False
        return parents is None or (
            parents.shape == self.distances.shape and parents.dtype == np.dtype(np.int64)
        )
