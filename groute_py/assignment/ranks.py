"""Loading of trips by several ranks, each from some of the origins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.network import PathFigures
from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.loading import PARTS, Load, Loading, Origins
from groute_py.device.registry import Makers, kind_of, of_module
from groute_py.graph.arrays import host_array
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy

Values = NDArray[np.float64]

MAKERS: Makers = {
    "cpu": lambda *_: of_module("groute_py.device.cpu.loading", "CpuLoading"),
    "cuda": lambda *_: of_module("groute_py.device.cuda.assignment.loading", "CudaLoading"),
}
"""Makers of loadings, by the kind of device."""


class Loads(NamedTuple):
    """The loadings of all c classes of travellers on the shortest paths."""

    flows: Sequence[Any]  # of each, float64, (m,), and the figures of `PathFigures` behind
    costs: Values  # float64, (c,): trips times their distance
    lost: Values  # float64, (c,): trips without a path
    least: Values  # float64, (c, z²): distances of zones, if there are skims


class RankLoading:
    """Trips of classes, whose origins are shared out among the ranks.

    Rank r of k loads the parts r, r + k, … of each class, and rank 0 adds all parts. Flows are the
    same at any number of ranks, to the last bit.
    """

    def __init__(
        self,
        channel: Channel,
        hierarchy: CustomizableHierarchy,
        trips: Sequence[Origins],
        figures: PathFigures | None,
        device: str,
    ) -> None:
        self._channel, self._trips, self._figures = channel, trips, figures
        with collective(channel):
            kind = kind_of(device, MAKERS)
        self.kind = min(channel.gather(kind))  # the CPU if a rank has no GPU
        with collective(channel):
            make: Any = MAKERS[self.kind](0, False)
            self._loading: Loading = make(hierarchy, channel.rank)
        self._numbers = range(channel.rank, PARTS, channel.size)

    def load(self, costs: Any) -> Loads | None:
        """Load all classes by their costs, shape (c, m); on rank 0, None elsewhere. Collective."""
        loads = [self._load(number, own) for number, own in enumerate(costs)]
        if self._channel.rank > 0:
            return None
        flows, *sums = zip(*loads, strict=True)
        return Loads(flows, *map(np.array, sums))

    def _load(self, number: int, costs: Values) -> tuple[Any, ...]:
        """Load a class, as a column of `Loads`. Collective."""
        trips = self._trips[number]
        with collective(self._channel):
            self._loading.customize(costs)
            own = self._loading.parts(trips, self._numbers)
        load = self._unpacked(trips, own)
        if self._figures is None:
            return load.flows, load.cost, load.lost, np.empty(0)
        flows, least = [load.flows, *self._selected(self._figures, number)], np.empty(0)
        if self._figures.values.shape[1]:
            *skims, least = self._skims(self._figures, number, costs)
            flows += [np.where(np.isfinite(least), skim, 0.0) for skim in skims]
        return np.concatenate([*map(host_array, flows)]), load.cost, load.lost, least

    def _selected(self, figures: PathFigures, number: int) -> list[Values]:
        """Flows through each selection, and then its trips between zones. Collective."""
        trips, flows, matrices = self._trips[number], [], []
        with collective(self._channel):
            uses = self._loading.sums(trips, figures.selections, self._numbers)
        for is_used in (uses > 0) & np.isfinite(uses):
            some = trips._replace(trips=np.where(is_used, trips.trips, 0.0))
            with collective(self._channel):
                own = self._loading.parts(some, self._numbers)
                matrix = np.zeros(len(figures.zones) ** 2)
                np.add.at(matrix, figures.places[number], some.trips)
            flows.append(self._unpacked(some, own).flows)
            matrices.append(self._total(matrix))
        return [*flows, *matrices]

    def _skims(self, figures: PathFigures, number: int, costs: Values) -> Values:
        """Sums of the values of links between zones, and of costs, (q + 1, z²). Collective."""
        with collective(self._channel):
            values = np.concatenate([figures.values[number], costs[np.newaxis]])
            sums = self._loading.sums(figures.pairs, values, self._numbers)
        return self._total(sums)

    def _total(self, own: Values) -> Values:
        """The sum of all ranks' arrays, on rank 0."""
        collected = self._channel.collect(own.reshape(-1))
        return own if collected is None else np.asarray(sum(collected)).reshape(own.shape)

    def _unpacked(self, trips: Origins, own: Any) -> Load:
        """Unpack the parts of all ranks, on rank 0."""
        is_alone = self._channel.size == 1
        shares = [own] if is_alone else self._channel.collect(host_array(own).reshape(-1))
        if shares is None:
            return Load(np.empty(0), 0.0, 0.0)  # which nobody uses
        return self._loading.unpack(trips, shares)
