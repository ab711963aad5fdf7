"""All-or-nothing loading of trips on the cores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.kernels.cpu import customization, loading
from groute_py.system.memory_limits import check_room
from groute_py.system.threads import in_slices

LANES = 16
"""Origins of a sweep."""

PARTS = 8
"""Sums of flows, which are added in order: the answer does not depend on the number of threads."""


class Load(NamedTuple):
    """The outcome of one loading."""

    flows: NDArray[np.float64]  # float64, (m,), by arc of the graph
    cost: float  # the sum of trips times their distance
    lost: float  # trips whose destination cannot be reached


class Origins(NamedTuple):
    """Trips by origin, in vertices of the graph."""

    origins: NDArray[np.int64]  # int64, (k,)
    starts: NDArray[np.int64]  # int64, (k + 1,)
    destinations: NDArray[np.int64]  # int64, (d,)
    trips: NDArray[np.float64]  # float64, (d,)


class CpuLoading:
    """A hierarchy that takes costs, and trips on the shortest paths by them."""

    def __init__(self, hierarchy: CustomizableHierarchy) -> None:
        self._hierarchy = hierarchy
        widths = np.diff(hierarchy.offsets)
        self._starts = np.zeros(hierarchy.vertex_count + 1, np.int64)
        np.cumsum(widths * (widths - 1) // 2, out=self._starts[1:])
        count = hierarchy.triangle_count
        check_room(4 * count, f"{count:,} triangles of the hierarchy")
        self._tops = np.empty(count, np.int32)
        rows = hierarchy.offsets, hierarchy.heads
        customization.list_triangles(*rows, self._starts, self._tops)
        self._tails = np.repeat(np.arange(hierarchy.vertex_count, dtype=np.int32), widths)

    def load(self, costs: NDArray[np.float64], trips: Origins) -> Load:
        """Load trips on the shortest paths for these costs, shape (m,)."""
        hierarchy, numbers = self._hierarchy, self._hierarchy.numbers
        own = np.full(2 * hierarchy.arc_count, np.inf)
        lightest = np.full(len(own), -1, np.int32)
        loading.fold_costs(hierarchy.slots, costs, own, lightest)
        lengths = own.copy()
        customization.customize(hierarchy.offsets, self._starts, self._tops, lengths)
        rows = hierarchy.offsets, hierarchy.heads, self._tails, lengths
        origins, destinations = numbers[trips.origins], numbers[trips.destinations]

        def sweep(part: slice) -> tuple[NDArray[np.float64], float, float]:
            flows, cost, lost = np.zeros(len(own)), 0.0, 0.0
            for begin in range(part.start * LANES, len(origins), PARTS * LANES):
                starts = trips.starts[begin : min(begin + LANES, len(origins)) + 1]
                some = slice(starts[0], starts[-1])
                ends = starts - starts[0], destinations[some], trips.trips[some]
                block = origins[begin : begin + LANES]
                sums = loading.load_trips(block, *ends, *rows, flows)
                cost, lost = cost + sums[0], lost + sums[1]
            return flows, cost, lost

        parts = in_slices(min(PARTS, -(-len(origins) // LANES)), 1, sweep)
        flows = sum((part[0] for part in parts), np.zeros(len(own)))
        by_slot = np.zeros(len(own))
        loading.hand_down(hierarchy.offsets, self._starts, self._tops, own, lengths, flows, by_slot)
        slots = np.flatnonzero(by_slot)
        answer = np.zeros(len(costs))
        answer[lightest[slots]] = by_slot[slots]
        return Load(answer, sum(part[1] for part in parts), sum(part[2] for part in parts))
