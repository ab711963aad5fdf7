"""All-or-nothing loading of trips on a GPU: the kernels of ``kernels/assignment/``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.assignment.origins import LANES, CudaOrigins, CudaTrees
from groute_py.device.cuda.hierarchy.customizer import (
    ANCESTOR_BYTES,
    BLOCK,
    Arcs,
    LevelLaunches,
    refuse_deep,
    refuse_large,
)
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.launch import Kernels, Repeated, launch_sharing
from groute_py.device.cuda.runtime.transfer import to_device, to_host
from groute_py.device.loading import LANES as BLOCK_ORIGINS
from groute_py.device.loading import PARTS, Load, Origins
from groute_py.graph.arrays import host_array
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.kernels.source import LOADING
from groute_py.system.environment import local_rank

TOTAL_BITS = 57
"""All trips of a class are less than 2 ** TOTAL_BITS units; sums may be 64 times as many."""

NARROW_VERTICES, NARROW_ARCS = 64, 1024
"""Entries of a level that a block takes as fast as a launch begins."""

SHARE_OF_ROOM = 0.8
"""Share of free memory that trees take at most."""

PAIR_BYTES = 12
"""Bytes of the trips of a pair."""


class CudaLoading:
    """A `groute_py.device.loading.Loading` on a GPU, in the current stream.

    Flows are integers in units that are a power of two, so sums do not depend on their order.
    """

    def __init__(self, hierarchy: CustomizableHierarchy, rank: int) -> None:
        self.gpu, self.hierarchy = GpuContext(local_rank(rank)), hierarchy
        slots, self._arc_count = 2 * hierarchy.arc_count, len(hierarchy.slots)
        takes = Arcs.bytes_of(hierarchy) + 36 * slots
        refuse_large(takes, "a customizable hierarchy", self.gpu)
        self._kernels = Kernels(kernels_of(LOADING, np.dtype(np.float64), 0), BLOCK)
        self._arcs, self._most = Arcs(hierarchy, self._kernels), self.gpu.processors * 16 * BLOCK
        refuse_deep(hierarchy, self.gpu)
        self._above = to_device(hierarchy.depths()[hierarchy.heads], np.uint32)
        self._costs = cp.empty(self._arc_count, np.float64)
        self._own, self.lengths = (cp.empty(max(slots, 1), np.uint64) for _ in range(2))
        self._lightest, self._bridges = (cp.empty(max(slots, 1), np.uint32) for _ in range(2))
        self._flows = cp.zeros(max(slots, 1), np.uint64)
        self._relax = self._arcs.relaxation(self._kernels)
        levels, bounds = self._arcs.levels, hierarchy.offsets[hierarchy.levels].tolist()
        self._sweep, self._sweep_sums, self._lift = (
            LevelLaunches(self._kernels[name], levels, 32, NARROW_VERTICES, downward=downward)
            for name, downward in (("sweep", True), ("sweep_sums", True), ("lift", False))
        )
        self._hand_down, self._lift_values = (
            LevelLaunches(self._kernels[name], bounds, 2, NARROW_ARCS, downward=downward)
            for name, downward in (("hand_down", True), ("lift_values", False))
        )
        self._customize = Repeated(self._launch_customization)
        self._trees, self._trips = CudaTrees(0, 0), dict[int, CudaTrips]()

    def customize(self, costs: Any) -> None:
        self.gpu.use()
        self._costs[:] = to_device(costs, np.float64)
        self._customize()

    def parts(self, trips: Origins, numbers: Sequence[int]) -> Any:
        """Load the trips of some parts.

        Returns int64 on the GPU: flows of arcs, (m,), and by origin the bits of the sum of trips
        times distance, (k,), and the trips without a path, (k,); 0 for origins of other parts.
        """
        self.gpu.use()
        return self._trips_of(trips, numbers).load(trips.trips)

    def unpack(self, trips: Origins, shares: Sequence[Any]) -> Load:
        whole = shares[0] if len(shares) == 1 else np.sum(shares, axis=0)
        flows, sums = whole[: self._arc_count], host_array(whole[self._arc_count :])
        costs, lost = sums.reshape(2, -1)
        power = -self._trips[id(trips.destinations)].power
        return Load(
            cp.asarray(flows) * math.ldexp(1.0, power),
            math.ldexp(float(costs.view(np.float64).sum()), power),
            math.ldexp(float(lost.sum()), power),
        )

    def sums(
        self, pairs: Origins, values: NDArray[np.float64], numbers: Sequence[int]
    ) -> NDArray[np.float64]:
        self.gpu.use()
        return self._trips_of(pairs, numbers).sums([self._values(row) for row in values])

    def trees_for(self, packs: int, pairs: int) -> CudaTrees:
        """Room for so many packs, or as many as there is room for beside pairs of trips."""
        if packs > self._trees.packs:
            hierarchy, room = self.hierarchy, int(SHARE_OF_ROOM * self.gpu.room())
            each = CudaTrees.bytes_of(hierarchy.vertex_count)
            each += CudaOrigins.bytes_of(hierarchy.level_count)
            trip_bytes = PAIR_BYTES * pairs
            refuse_large(trip_bytes + each, f"trees of {LANES} origins, and the trips", self.gpu)
            most = max((room - trip_bytes) // each, 1)
            if min(packs, most) > self._trees.packs:
                self._trees = CudaTrees(hierarchy.vertex_count, min(packs, most))
        return self._trees

    def launch_trees(self, origins: CudaOrigins, trees: CudaTrees) -> None:
        """Find the trees of a batch."""
        origin, arcs, lengths = origins.struct, self._arcs, self.lengths
        self._per_origin("climb", origins, arcs.offsets, self._above, lengths)
        words = arcs.offsets, arcs.heads, lengths, trees.struct
        self._sweep(origin, *words, rows=origins.packs)

    def launch_loads(self, origins: CudaOrigins, trees: CudaTrees, costs: Any, lost: Any) -> None:
        """Add the trips of a batch to the flows of slots, and fill the sums of its origins."""
        both, flows = (origins.struct, trees.struct), self._flows
        self._kernels.run("seed", 32 * origins.count, *both, costs, lost)
        self._lift(origins.struct, self._arcs.heads, trees.struct, rows=origins.packs)
        grid = -(-32 * self.hierarchy.vertex_count // BLOCK), origins.packs
        self._kernels["tally"](grid, (BLOCK,), (*both, flows))
        self._per_origin("descend", origins, trees.struct, flows)

    def launch_flows(self, by_arc: Any) -> None:
        """Take the flows from slots to arcs of the graph."""
        first, second, _ = self._arcs.triangles
        self._hand_down(first, second, self._bridges, self._flows)
        words = np.uint32(self._arc_count), self._lightest, self._flows, by_arc
        self._run("take_flows", self._arc_count, self._arcs.slots, *words)

    def launch_sums(
        self, origins: CudaOrigins, trees: CudaTrees, values: Any, by_pair: Any
    ) -> None:
        """Fill sums by pair with those of values of slots."""
        rises = cp.empty(origins.places, np.float64)
        self._per_origin("sum_rises", origins, values, rises)
        words = self._arcs.heads, trees.struct, values, rises, trees.loads
        self._sweep_sums(origins.struct, *words, rows=origins.packs)
        both = origins.struct, trees.struct
        self._kernels.run("take_sums", 32 * origins.count, *both, trees.loads, by_pair)

    def _values(self, by_arc: NDArray[np.float64]) -> Any:
        """Values of slots from those of arcs."""
        first, second, _ = self._arcs.triangles
        values, slots = cp.empty(self._flows.size, np.float64), 2 * self.hierarchy.arc_count
        arcs = to_device(np.append(by_arc, 0.0), np.float64)
        self._run("begin_values", slots, np.uint32(slots), self._lightest, arcs, values)
        self._lift_values(first, second, self._bridges, values)
        return values

    def _trips_of(self, trips: Origins, numbers: Sequence[int]) -> CudaTrips:
        key = id(trips.destinations)
        if key not in self._trips:
            self._trips[key] = CudaTrips(self, trips, numbers)
        return self._trips[key]

    def _launch_customization(self) -> None:
        slots, triangles = 2 * self.hierarchy.arc_count, self.hierarchy.triangle_count
        lengths = self._own, self.lengths
        words = np.uint32(slots), *lengths, self._lightest, self._bridges
        self._run("begin_slots", slots, *words)
        costs = self._costs, self._arcs.slots, np.uint32(self._arc_count)
        self._run("fold_costs", self._arc_count, *costs, *lengths)
        self._run("note_lightest", self._arc_count, *costs, self._own, self._lightest)
        self._relax(*self._arcs.triangles, self.lengths)
        words = np.uint32(triangles), *self._arcs.triangles, *lengths, self._bridges
        self._run("note_bridges", triangles, *words)

    def _run(self, name: str, count: int, *words: Any) -> None:
        if count:
            self._kernels.run(name, min(count, self._most), *words)

    def _per_origin(self, name: str, origins: CudaOrigins, *words: Any) -> None:
        """Launch a kernel by a warp for each origin, with shared memory for its ancestors."""
        nbytes = ANCESTOR_BYTES * self.hierarchy.level_count
        words = origins.struct, *words
        launch_sharing(self._kernels[name], nbytes, origins.count, 32, words)


class CudaTrips:
    """Trips of a class from the origins of a rank, ready to be loaded again and again.

    A trip is 2 ** ``power`` units, the same on all ranks: loads may have fewer than ``trips``.
    """

    def __init__(self, loading: CudaLoading, trips: Origins, numbers: Sequence[int]) -> None:
        self._loading, self._of = loading, trips  # whose arrays keep their addresses
        self.power = TOTAL_BITS - math.frexp(float(trips.trips.sum()))[1]
        self._amounts = np.empty(0)
        count = len(trips.origins)
        places = np.arange(count)
        places = places[np.isin(places // BLOCK_ORIGINS % PARTS, numbers)]
        self._trees = loading.trees_for(-(-len(places) // LANES), len(trips.destinations))
        step = max(self._trees.packs, 1) * LANES
        some = [places[first : first + step] for first in range(0, len(places), step)]
        self._batches = [CudaOrigins(loading.hierarchy, trips, part) for part in some]
        arcs = len(loading.hierarchy.slots)
        self._answer = cp.zeros(arcs + 2 * count, np.int64)
        self._sums = self._answer[arcs : arcs + count], self._answer[arcs + count :]
        self._load = Repeated(self._launch)

    def load(self, trips: NDArray[np.float64]) -> Any:
        """Load so many trips of each pair; see `CudaLoading.parts`."""
        if self._amounts is not trips:
            units = np.rint(np.ldexp(trips, self.power)).astype(np.int64)
            for batch in self._batches:
                batch.put(units)
            self._amounts = trips
        self._load()
        return self._answer

    def sums(self, values: Sequence[Any]) -> NDArray[np.float64]:
        """Add values of slots along the paths to all destinations; see `CudaLoading.sums`."""
        sums = np.zeros((len(values), len(self._of.destinations)))
        for batch in self._batches:
            self._loading.launch_trees(batch, self._trees)
            by_pair = cp.empty(len(batch.pairs), np.float64)
            for row, own in zip(sums, values, strict=True):
                self._loading.launch_sums(batch, self._trees, own, by_pair)
                row[batch.pairs] = to_host(by_pair)
        return sums

    def _launch(self) -> None:
        for batch in self._batches:
            self._loading.launch_trees(batch, self._trees)
            self._loading.launch_loads(batch, self._trees, *self._sums)
        self._loading.launch_flows(self._answer)
