"""Loading of trips by several ranks, each from some of the origins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.network import PathFigures
from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.cpu.loading import PARTS, CpuLoading, Load, Origins, SlotLengths
from groute_py.hierarchy.separators.customizable import CustomizableHierarchy

Values = NDArray[np.float64]


class Loads(NamedTuple):
    """The loadings of all c classes of travellers on the shortest paths."""

    flows: Values  # float64, (c, m), and the figures of `PathFigures` behind
    costs: Values  # float64, (c,): trips times their distance
    lost: Values  # float64, (c,): trips without a path
    least: Values  # float64, (c, z²): distances of zones, if there are skims


class RankLoading:
    """Trips of classes, whose origins are shared out among the ranks.

    Rank r of k loads the parts r, r + k, … of each class, and rank 0 adds all parts in their order.
    So flows are the same at any number of ranks, to the last bit.
    """

    def __init__(
        self,
        channel: Channel,
        hierarchy: CustomizableHierarchy,
        trips: Sequence[Origins],
        figures: PathFigures | None,
    ) -> None:
        self._channel, self._trips, self._figures = channel, trips, figures
        self._loading = CpuLoading(hierarchy)
        self._numbers = range(channel.rank, PARTS, channel.size)

    def load(self, costs: Values) -> Loads | None:
        """Load all classes by their costs, shape (c, m); on rank 0, None elsewhere. Collective."""
        loads = [self._load(number, own) for number, own in enumerate(costs)]
        return None if self._channel.rank > 0 else Loads(*map(np.array, zip(*loads, strict=True)))

    def _load(self, number: int, costs: Values) -> tuple[Any, ...]:
        """Load a class, as a column of `Loads`. Collective."""
        trips = self._trips[number]
        with collective(self._channel):
            lengths = self._loading.customize(costs)
            own = self._loading.parts(lengths, trips, self._numbers)
        load = self._unpacked(lengths, own)
        flows, least = [load.flows], np.empty(0)
        if self._figures is not None:
            flows += self._selected(self._figures, number, lengths)
            if self._figures.values.shape[1]:
                *skims, least = self._skims(self._figures, number, lengths, costs)
                flows += [np.where(np.isfinite(least), skim, 0.0) for skim in skims]
        return np.concatenate(flows), load.cost, load.lost, least

    def _selected(self, figures: PathFigures, number: int, lengths: SlotLengths) -> list[Values]:
        """Flows through each selection, and then its trips between zones. Collective."""
        trips, flows, matrices = self._trips[number], [], []
        with collective(self._channel):
            uses = self._loading.sums(lengths, trips, figures.selections, self._numbers)
        for is_used in (uses > 0) & np.isfinite(uses):
            some = trips._replace(trips=np.where(is_used, trips.trips, 0.0))
            with collective(self._channel):
                own = self._loading.parts(lengths, some, self._numbers)
                matrix = np.zeros(len(figures.zones) ** 2)
                np.add.at(matrix, figures.places[number], some.trips)
            flows.append(self._unpacked(lengths, own).flows)
            matrices.append(self._total(matrix))
        return [*flows, *matrices]

    def _skims(
        self, figures: PathFigures, number: int, lengths: SlotLengths, costs: Values
    ) -> Values:
        """Sums of the values of links between zones, and of costs, (q + 1, z²). Collective."""
        with collective(self._channel):
            values = np.concatenate([figures.values[number], costs[np.newaxis]])
            sums = self._loading.sums(lengths, figures.pairs, values, self._numbers)
        return self._total(sums)

    def _total(self, own: Values) -> Values:
        """The sum of all ranks' arrays, on rank 0."""
        collected = self._channel.collect(own.reshape(-1))
        return own if collected is None else np.asarray(sum(collected)).reshape(own.shape)

    def _unpacked(self, lengths: SlotLengths, own: Values) -> Load:
        """Unpack the parts of all ranks, on rank 0."""
        size = self._channel.size
        collected = [own] if size == 1 else self._channel.collect(own.reshape(-1))
        if collected is None:
            return Load(np.empty(0), 0.0, 0.0)  # which nobody uses
        parts = np.empty((PARTS, own.shape[1]))
        for rank, some in enumerate(collected):
            parts[rank::size] = some.reshape(-1, own.shape[1])
        return self._loading.unpack(lengths, parts)
