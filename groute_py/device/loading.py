"""All-or-nothing loading of trips on a device: the protocol, and what goes in and comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

LANES = 16
"""Origins of a block; every `PARTS`-th block belongs to the same part."""

PARTS = 16
"""Parts of all origins, which ranks share out."""


class Load(NamedTuple):
    """The outcome of one loading."""

    flows: Any  # float64, (m,), by arc of the graph; on the device
    cost: float  # the sum of trips times their distance
    lost: float  # trips whose destination cannot be reached


class Origins(NamedTuple):
    """Trips by origin, in vertices of the graph."""

    origins: NDArray[np.int64]  # int64, (k,)
    starts: NDArray[np.int64]  # int64, (k + 1,)
    destinations: NDArray[np.int64]  # int64, (d,)
    trips: NDArray[np.float64]  # float64, (d,)


class Loading(Protocol):
    """A hierarchy that takes costs, and trips on the shortest paths by them."""

    def customize(self, costs: Any) -> None:
        """Take costs of arcs, float64, shape (m,), for all that follows."""

    def parts(self, trips: Origins, numbers: Sequence[int]) -> Any:
        """Load the trips of some of the `PARTS`; return an array for `unpack`, on the device."""

    def unpack(self, trips: Origins, shares: Sequence[Any]) -> Load:
        """Add the parts of all ranks r of k, which have the numbers r, r + k, …"""

    def sums(
        self, pairs: Origins, values: NDArray[np.float64], numbers: Sequence[int]
    ) -> NDArray[np.float64]:
        """Add values of arcs, shape (q, m), along the paths that trips of some pairs take.

        Returns float64, shape (q, d): 0 for pairs of other parts, and infinity without a path.
        """
