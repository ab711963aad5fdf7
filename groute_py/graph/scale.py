"""Scales: the way back from distances in a graph that was changed for an objective.

Every objective becomes least distances of other weights (`groute_py.graph.objectives`), and the
scale of that graph says what they stand for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError

if TYPE_CHECKING:
    from groute_py.graph.operators import Operator

LARGEST = np.iinfo(np.int64).max
"""The integer distance, and value, of what no path reaches; floats use infinity."""


class Scale(ABC):
    """Between distances, in the types that users get, and values of an objective."""

    has_maxima: ClassVar[bool] = False
    """A path has the greatest weight of its arcs, not their sum."""

    sums: ClassVar[tuple[str, ...]] = ()
    """The names of what `sums_of` returns."""

    slack: ClassVar[float] = 0.0
    """The relative error of values of the same distance on two machines."""

    type: np.dtype[Any] = np.dtype(np.float64)  # of values

    @property
    def operator(self) -> Operator | None:
        """The expression by which an arc extends a path, if it is not one of ours."""
        return None

    @abstractmethod
    def values_of(self, distances: NDArray[Any]) -> NDArray[Any]:
        """Return the values that distances of paths stand for; of others they say nothing."""

    @abstractmethod
    def bound(self, cutoff: float) -> float:
        """Return the greatest distance whose value is no worse than a cutoff."""

    def sums_of(self, distances: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        """Return what else distances stand for, by name."""
        return {}

    def values(self, distances: NDArray[Any]) -> NDArray[Any]:
        """Return the values of distances, of the same shape, in `type`; unreached where these are.

        >>> Pairs(4).values(np.array([(2 << 4) + 7, LARGEST])).tolist() == [2, LARGEST]
        True
        """
        return self._where_reached(distances, self.values_of)

    def all_sums(self, distances: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return `sums_of` distances, unreached where these are."""

        def named(name: str, some: NDArray[Any]) -> NDArray[Any]:
            return self.sums_of(some)[name]

        every = ((name, partial(named, name)) for name in self.sums)
        return {name: self._where_reached(distances, sum_of) for name, sum_of in every}

    def _where_reached(
        self, distances: NDArray[Any], convert: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> NDArray[Any]:
        reached = distances < (np.inf if distances.dtype.kind == "f" else LARGEST)
        nothing = np.inf if self.type.kind == "f" else LARGEST
        values = np.full(distances.shape, nothing, self.type)
        values[reached] = convert(distances[reached])
        return values


@dataclass(frozen=True, eq=False)
class Ranks(Scale):
    """Distances are ranks in a table of weights, from the best on; rank 0 is of the source."""

    has_maxima = True
    table: NDArray[Any]
    falls: bool  # the greater a weight the better

    @property
    def type(self) -> np.dtype[Any]:  # type: ignore[override]
        return self.table.dtype

    def values_of(self, distances: NDArray[Any]) -> NDArray[Any]:
        values: NDArray[Any] = self.table[distances]
        return values

    def bound(self, cutoff: float) -> float:
        weights: NDArray[Any] = self.table[1:]
        if self.type.kind == "f":
            weights = weights.astype(np.float64, copy=False)
        elif math.isfinite(cutoff):
            cutoff = math.ceil(cutoff) if self.falls else math.floor(cutoff)
        within = weights >= cutoff if self.falls else weights <= cutoff
        return int(np.count_nonzero(within))


class Logarithms(Scale):
    """Distances are −ln of probabilities."""

    slack = 2.0**-50

    def values_of(self, distances: NDArray[Any]) -> NDArray[Any]:
        values: NDArray[Any] = np.exp(-distances)
        return values

    def bound(self, cutoff: float) -> float:
        if cutoff > 1:
            raise InputError(f"the cutoff of the objective reliable is a probability, not {cutoff}")
        return math.inf if cutoff <= 0 else float(0 - np.log(np.float64(cutoff)))


@dataclass(frozen=True, eq=False)
class Pairs(Scale):
    """Distances are the number of arcs, and their length in the lowest bits."""

    sums = ("length",)
    bits: int
    type = np.dtype(np.int64)

    def values_of(self, distances: NDArray[Any]) -> NDArray[Any]:
        return distances >> self.bits

    def sums_of(self, distances: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        return {"length": distances & ((1 << self.bits) - 1)}

    def bound(self, cutoff: float) -> float:
        if cutoff >= LARGEST >> self.bits:
            return math.inf
        return ((math.floor(cutoff) + 1) << self.bits) - 1
