"""All-or-nothing loading of trips on the cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.customization import lower_triangles, triangles_of
from groute_py.device.loading import LANES, PARTS, Load, Origins
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.tails import all_tails
from groute_py.kernels.cpu import customization, loading
from groute_py.system.memory_limits import check_room
from groute_py.system.threads import in_slices, thread_count

SLOT_BYTES = 8 * (2 * PARTS + 3)
"""Bytes for a slot: its flows by part, as loaded and as added, and its lengths."""

LANE_BYTES = 24
"""Bytes for a vertex and a lane of a block that is loaded: distances, trips, and two slots."""


class SlotLengths(NamedTuple):
    """A customized hierarchy."""

    own: NDArray[np.float64]  # float64, (2 a,): of the graph's arcs, infinite without one
    lightest: NDArray[np.int32]  # int32, (2 a,): the arc of that length
    lengths: NDArray[np.float64]  # float64, (2 a,): of the shortest ways


class CpuLoading:
    """A `groute_py.device.loading.Loading` on the cores."""

    def __init__(self, hierarchy: CustomizableHierarchy, rank: int = 0) -> None:
        self._hierarchy = hierarchy
        blocks = LANE_BYTES * LANES * hierarchy.vertex_count * min(thread_count(), PARTS)
        slots = SLOT_BYTES * 2 * hierarchy.arc_count
        check_room(slots + blocks, f"trips on {hierarchy.arc_count:,} arcs of the hierarchy")
        self._triangles = triangles_of(hierarchy)
        self._lower = lower_triangles(hierarchy, self._triangles)
        self._arcs = *hierarchy.rows, all_tails(hierarchy.offsets, np.int32)

    def load(self, costs: NDArray[np.float64], trips: Origins) -> Load:
        """Load trips on the shortest paths for these costs, shape (m,)."""
        self.customize(costs)
        return self.unpack(trips, [self.parts(trips, range(PARTS))])

    def customize(self, costs: NDArray[np.float64]) -> None:
        hierarchy = self._hierarchy
        own = np.full(2 * hierarchy.arc_count, np.inf)
        lightest = np.full(len(own), -1, np.int32)
        loading.fold_costs(hierarchy.slots, costs, own, lightest)
        lengths = own.copy()
        customization.customize(hierarchy.rows, self._triangles, lengths)
        self._lengths = SlotLengths(own, lightest, lengths)

    def parts(self, trips: Origins, numbers: Sequence[int]) -> NDArray[np.float64]:
        """Load the trips of some parts.

        Returns float64, shape (k, 2 a + 2): the flow of each slot, then the sum of trips times
        their distance, and the trips without a path.
        """
        sums = np.zeros((len(numbers), 2 * self._hierarchy.arc_count + 2))

        def sweep(place: slice) -> None:
            own = sums[place.start]
            for some, block, ends in self._blocks(trips, numbers[place.start]):
                state = trips.trips[some], self._arcs, self._lengths.lengths
                own[-2:] += loading.load_trips(block, ends, *state, own[:-2])

        in_slices(len(numbers), 1, sweep)
        return sums

    def sums(
        self, pairs: Origins, values: NDArray[np.float64], numbers: Sequence[int]
    ) -> NDArray[np.float64]:
        lengths = self._lengths
        has_arc = lengths.lightest >= 0
        own = np.zeros((len(values), len(lengths.own)))
        own[:, has_arc] = values[:, lengths.lightest[has_arc]]
        for row in own:
            loading.lift_values(self._lower, lengths.own, lengths.lengths, row)
        sums = np.zeros((len(values), len(pairs.destinations)))

        def sweep(place: slice) -> None:
            for some, block, ends in self._blocks(pairs, numbers[place.start]):
                part = np.empty((len(values), len(ends[1])))
                loading.sum_values(block, ends, self._arcs, lengths.lengths, own, part)
                sums[:, some] = part

        in_slices(len(numbers), 1, sweep)
        return sums

    def unpack(self, trips: Origins, shares: Sequence[NDArray[np.float64]]) -> Load:
        """Add all parts in their order, and hand their flows to the arcs of the graph."""
        lengths, width = self._lengths, 2 * self._hierarchy.arc_count + 2
        parts = np.empty((PARTS, width))
        for rank, share in enumerate(shares):
            parts[rank :: len(shares)] = share.reshape(-1, width)
        sums = parts.sum(axis=0)
        by_slot, flows = sums[:-2], np.zeros(len(self._hierarchy.slots))
        loading.hand_down(self._lower, lengths.own, lengths.lengths, by_slot)
        slots = np.flatnonzero(by_slot)
        flows[lengths.lightest[slots]] = by_slot[slots]
        return Load(flows, float(sums[-2]), float(sums[-1]))

    def _blocks(self, trips: Origins, number: int) -> Iterator[tuple[Any, ...]]:
        """Yield the places, origins, and starts and destinations of the blocks of a part."""
        origins = self._hierarchy.numbers[trips.origins]
        for begin in range(number * LANES, len(origins), PARTS * LANES):
            starts = trips.starts[begin : min(begin + LANES, len(origins)) + 1]
            some = slice(starts[0], starts[-1])
            ends = self._hierarchy.numbers[trips.destinations[some]]
            yield some, origins[begin : begin + LANES], (starts - starts[0], ends)
