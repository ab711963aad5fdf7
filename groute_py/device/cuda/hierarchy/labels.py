"""Labels of a customized hierarchy on GPUs; see `groute_py.graph.hierarchy.separators.labels`."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel, SoloChannel
from groute_py.device.cuda.hierarchy.customizer import TOO_WIDE, Arcs, Customizer, refuse_large
from groute_py.device.cuda.peer.access import why_not
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.ipc import Shared
from groute_py.device.cuda.runtime.launch import Repeated
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.device.rows import NarrowError
from groute_py.errors import GraphError
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.hierarchy.separators.labels import STEP, LabelShares, depth_minima
from groute_py.graph.hierarchy.separators.lengths import Lengths
from groute_py.kernels.source import CUSTOMIZATION
from groute_py.kernels.structs import struct

PAIR_THREADS, PARTS, PAIR_BLOCK = 8, 32, 256
"""Threads of a pair; entries of a label that a warp computes at once; see labels.cu. Threads of a
block that looks up pairs."""

BLOCKS_A_PROCESSOR = 64


def team_for(
    channel: Channel, hierarchy: CustomizableHierarchy, kind: Lengths, gpu: GpuContext
) -> Channel:
    """Connect the ranks that have labels together: this one alone if each has room for all.

    Collective. If they do not fit on all GPUs together either, that is a `GraphError` on each rank.
    """
    with collective(channel):
        takes, room = _bytes_of(LabelShares(hierarchy, 1), 0, hierarchy, kind), gpu.room()
    if channel.size == 1 or all(channel.gather(takes <= room)):
        refuse_large(takes, "labels of all vertices", gpu)
        return SoloChannel()
    if problem := why_not(channel, gpu.id):
        raise GraphError(f"labels of all vertices do not fit on each GPU, and {problem}")
    with collective(channel):
        takes = _bytes_of(LabelShares(hierarchy, channel.size), channel.rank, hierarchy, kind)
        refuse_large(takes, f"labels in a share for each of {channel.size} ranks", gpu)
    return channel


def _bytes_of(
    shares: LabelShares, share: int, hierarchy: CustomizableHierarchy, kind: Lengths
) -> int:
    count = hierarchy.vertex_count
    finding = count * (2 * max(count.bit_length(), 1) + 18)
    return 2 * kind.type.itemsize * int(shares.begins(share)[-1]) + finding


class CudaLabels:
    """The labels of all vertices, both ways; ``are_due`` if lengths have changed since.

    Each rank of a `team_for` them has a share, and maps the others'. Collective, but for look-ups.
    """

    def __init__(
        self,
        team: Channel,
        hierarchy: CustomizableHierarchy,
        arcs: Arcs,
        depths: Any,
        customizer: Customizer,
        gpu: GpuContext,
    ) -> None:
        self.team, self._arcs, self._depths, self._customizer = team, arcs, depths, customizer
        self.kind, self._most_blocks = customizer.kind, gpu.processors * BLOCKS_A_PROCESSOR
        with collective(team):
            shares = LabelShares(hierarchy, team.size)
            begins, rows = shares.begins(team.rank), shares.rows(np.zeros(team.size, np.int64))
            self._spans, numbers = _spans(begins, hierarchy.levels), cp.asarray(hierarchy.numbers)
            self._rows = to_device(begins[:-1] // STEP, np.uint32)
            self._arrays = {
                "places": cp.asarray(hierarchy.preorder)[numbers].astype(np.uint32),
                "rows": to_device(rows // STEP, np.uint32)[numbers],
                "minima": depth_minima(hierarchy, cp),
            }
            self._shared = Shared(team, 2 * int(begins[-1]), self.kind.type)
        halves = np.array(team.gather(self._shared.array.nbytes // 2), np.uint64)
        addresses = np.array(self._shared.map(), np.uint64)
        counts = {"shares": team.size, "vertices": hierarchy.vertex_count}
        self._struct = pointed(struct(CUSTOMIZATION, "Labels"), self._arrays, counts)
        own = self._struct[0]
        own["firsts"][: team.size] = shares.bounds[:-1]
        own["up"][: team.size], own["down"][: team.size] = addresses, addresses + halves
        self.are_due, self.flags = True, cp.zeros(1, np.uint32)
        self._fill = Repeated(self._fill_levels)

    def fill(self) -> None:
        """Fill them by the customized lengths; `NarrowError` on all ranks if one does not fit."""
        with collective(self.team):
            self.flags.fill(0)
            self._fill()
            is_wide = int(self.flags[0]) & TOO_WIDE  # read when they are filled
        if any(self.team.gather(is_wide)):
            raise NarrowError
        self.are_due = False

    def close(self) -> None:
        """Free them."""
        self._shared.close()

    def pairs(self, sources: Any, targets: Any) -> Any:
        """Return distances (int64) of pairs of vertices that are on the GPU, in 4 or 8 bytes."""
        distances = cp.empty(len(sources), np.int64)
        self._look_up("look_up_pairs", (sources, targets), np.uint64(len(sources)), distances, 1)
        return distances

    def rows(self, sources: Any, targets: Any, distances: Any) -> None:
        """Fill a matrix with the distances from each source to each target."""
        count = np.uint32(len(targets))
        self._look_up("look_up_rows", (sources, targets), count, distances, len(sources))

    def _look_up(self, kernel: str, ends: Any, count: Any, distances: Any, rows: int) -> None:
        blocks = -(-int(count) * PAIR_THREADS // PAIR_BLOCK)
        grid = max(min(blocks, self._most_blocks), 1), rows
        sizes = (np.uint32(end.itemsize) for end in ends)
        words = self._struct, *ends, *sizes, count, distances, self.flags
        self._customizer.kernels[kernel](grid, (PAIR_BLOCK,), words)

    def _fill_levels(self) -> None:
        arcs, labels = self._arcs, self._shared.array.reshape(2, -1)
        arrays = arcs.offsets, arcs.heads, self._depths, self._rows, self._customizer.lengths
        for depth, begin, end in self._spans:
            warps = 2 * (end - begin) * (depth // PARTS + 1)
            numbers = np.uint32(begin), np.uint32(end), np.uint32(depth)
            words = *numbers, *arrays, *labels, self.flags
            self._customizer.kernels.run("fill_labels", 32 * warps, *words)


def _spans(begins: NDArray[np.int64], levels: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Depths, each with the range of the numbers that have a label there."""
    numbers = np.flatnonzero(np.diff(begins))
    firsts, stops = np.searchsorted(numbers, levels[:-1]), np.searchsorted(numbers, levels[1:])
    depths = np.flatnonzero(firsts < stops)
    spans = depths, numbers[firsts[depths]], numbers[stops[depths] - 1] + 1
    return list(zip(*(column.tolist() for column in spans), strict=True))
