"""Loading of trips by several ranks, each from some of the origins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.cpu.loading import PARTS, CpuLoading, Origins
from groute_py.hierarchy.separators.customizable import CustomizableHierarchy


class Loads(NamedTuple):
    """The loadings of all c classes of travellers on the shortest paths."""

    flows: NDArray[np.float64]  # float64, (c, m)
    costs: NDArray[np.float64]  # float64, (c,): trips times their distance
    lost: NDArray[np.float64]  # float64, (c,): trips without a path


class RankLoading:
    """Trips of classes, whose origins are dealt out over the ranks.

    Rank r of k loads the parts r, r + k, … of each class, and rank 0 adds all parts in their order.
    So flows are the same at any number of ranks, to the last bit.
    """

    def __init__(
        self, channel: Channel, hierarchy: CustomizableHierarchy, trips: Sequence[Origins]
    ) -> None:
        self._channel, self._trips = channel, trips
        self._loading = CpuLoading(hierarchy)

    def load(self, costs: NDArray[np.float64]) -> Loads | None:
        """Load all classes by their costs, shape (c, m); on rank 0, None elsewhere. Collective."""
        channel, loading = self._channel, self._loading
        with collective(channel):
            numbers = range(channel.rank, PARTS, channel.size)
            lengths = [loading.customize(own) for own in costs]
            own = [
                loading.parts(some, trips, numbers)
                for some, trips in zip(lengths, self._trips, strict=True)
            ]
        parts = [self._all_parts(some) for some in own]
        if channel.rank > 0:
            return None
        loads = [loading.unpack(*some) for some in zip(lengths, parts, strict=True)]
        return Loads(
            np.stack([load.flows for load in loads]),
            np.array([load.cost for load in loads]),
            np.array([load.lost for load in loads]),
        )

    def _all_parts(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """All ranks' parts, in order on rank 0."""
        size = self._channel.size
        if size == 1:
            return own
        collected = self._channel.collect(own.reshape(-1))
        parts = np.empty((PARTS, own.shape[1]))
        for rank, some in enumerate(collected or []):
            parts[rank::size] = some.reshape(-1, own.shape[1])
        return parts
