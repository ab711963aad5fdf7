"""Origins of trips on a GPU, by batches: struct ``Origins`` of ``kernels/assignment/trees.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.device.loading import Origins
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.kernels.source import LOADING
from groute_py.kernels.structs import struct

LANES = 32
"""Origins of a pack."""

NO_VERTEX = np.uint32(0xFFFFFFFF)


class CudaOrigins:
    """Some of the origins of trips, at their places, with their ancestors and trips.

    Attributes:
        count, packs: of origins.
        places: of ancestors, in all packs.
        pairs: places of their pairs among those of all origins.
    """

    def __init__(
        self, hierarchy: CustomizableHierarchy, trips: Origins, places: NDArray[np.int64]
    ) -> None:
        self.count, self.packs = len(places), -(-len(places) // LANES)
        numbers, levels = hierarchy.numbers, hierarchy.level_count
        depths, chains = _chains(hierarchy, numbers[trips.origins[places]], self.packs)
        counts = trips.starts[places + 1] - trips.starts[places]
        starts = np.append(0, np.cumsum(counts))
        some = np.repeat(trips.starts[places] - starts[:-1], counts) + np.arange(starts[-1])
        self.pairs, self.places = some, chains.size
        self._arrays = {
            "depths": cp.asarray(depths),
            "chains": to_device(chains.reshape(-1), np.uint32),
            "rises": cp.empty(chains.size, np.uint64),
            "last_arcs": cp.empty(chains.size, np.uint32),
            "tails": cp.empty(chains.size, np.uint32),
            "starts": to_device(starts, np.uint32),
            "destinations": to_device(numbers[trips.destinations[some]], np.uint32),
            "trips": cp.empty(len(some), np.uint64),
            "places": to_device(places, np.uint32),
        }
        sizes = {"count": self.count, "levels": levels, "vertices": hierarchy.vertex_count}
        self.struct = pointed(struct(LOADING, "Origins"), self._arrays, sizes)

    @staticmethod
    def bytes_of(levels: int) -> int:
        """Bytes of a pack, without its trips."""
        return LANES * (20 * levels + 12)

    def put(self, trips: NDArray[np.int64]) -> None:
        """Take so many trips, of all pairs."""
        self._arrays["trips"][:] = to_device(trips[self.pairs], np.uint64)


class CudaTrees:
    """Room for the trees of so many packs; ``loads`` may hold other words of 8 bytes."""

    def __init__(self, vertices: int, packs: int) -> None:
        self.packs, size = packs, vertices * packs * LANES
        self._distances, self._last_arcs = cp.empty(size, np.uint64), cp.empty(size, np.uint32)
        self.loads = cp.empty(size, np.uint64)
        arrays: dict[str, Any] = {
            "distances": self._distances,
            "last_arcs": self._last_arcs,
            "loads": self.loads,
        }
        self.struct = pointed(struct(LOADING, "Trees"), arrays, {})

    @staticmethod
    def bytes_of(vertices: int) -> int:
        """Bytes of a pack."""
        return 20 * vertices * LANES


def _chains(
    hierarchy: CustomizableHierarchy, origins: NDArray[np.int32], packs: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Depths of origins, and their ancestors by pack, depth and lane."""
    chains = np.full((packs, hierarchy.level_count, LANES), NO_VERTEX, np.uint32)
    depths, lanes = hierarchy.depths()[origins], np.arange(len(origins))
    vertices, left = origins, depths.copy()
    while len(vertices):
        chains[lanes // LANES, left, lanes % LANES] = vertices
        is_below = left > 0
        vertices, lanes, left = vertices[is_below], lanes[is_below], left[is_below] - 1
        vertices = hierarchy.heads[hierarchy.offsets[vertices]]
    return depths.astype(np.uint32), chains
