"""Counts of the arcs that each rank of a team takes of each row, and where they begin there."""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.degree_order import DegreeOrder
from groute_py.device.cuda.runtime.launch import Kernels

TILE = 1 << 12
"""Rows whose counts a warp adds up; the sums of tiles are added up on the host."""


class ArcCounts(NamedTuple):
    """The arcs that each rank of a team takes, and the most vertices pushed to a peer."""

    arcs: Any  # uint32, (ranks, own): of each row for each rank
    leads: Any  # uint8, (own,): bit p where another rank p takes some
    degrees: Any  # uint32, (own,): sums over all ranks
    totals: list[int]  # for each rank
    pushed: int

    def by_number(self, order: DegreeOrder) -> ArcCounts:
        """The same by the numbers of the rows; ``arcs`` is overwritten."""
        for counts in self.arcs:
            counts[:] = order.by_number(counts)
        leads, degrees = order.by_number(self.leads), order.by_number(self.degrees)
        return self._replace(leads=leads, degrees=degrees)


def count_arcs(graph: DeviceGraph, team: Any) -> ArcCounts:
    """Count them, in the current stream."""
    own, ranks, me = graph.share.own_count, int(team["count"][0]), int(team["me"][0])
    arcs, leads = cp.empty((ranks, own), np.uint32), cp.empty(own, np.uint8)
    degrees = cp.empty(own, np.uint32)
    graph.kernels.run("count_redistributed", 32 * own, graph.struct, team, arcs, leads, degrees)
    arc_sums, rows = (sums.sum(axis=1).tolist() for sums in _tile_sums(graph.kernels, arcs))
    pushed = max(some for peer, some in enumerate(rows) if peer != me)
    return ArcCounts(arcs, leads, degrees, arc_sums, pushed)


def row_starts(kernels: Kernels, arcs: Any, firsts: list[int]) -> Any:
    """Return each row's begin in each rank's arcs, uint64, (ranks, own), from ``firsts`` on."""
    sums, _ = _tile_sums(kernels, arcs)
    begins = np.cumsum(sums, axis=1, dtype=np.uint64) - sums
    begins += np.array(firsts, np.uint64)[:, np.newaxis]
    starts = cp.empty(arcs.shape, np.uint64)
    numbers = _numbers(arcs)
    kernels.run("begin_redistributed", 32 * begins.size, arcs, *numbers, cp.asarray(begins), starts)
    return starts


def _tile_sums(kernels: Kernels, arcs: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The arcs of each tile, and its rows that have some; each uint64, shape (ranks, tiles)."""
    ranks, own = arcs.shape
    sums = cp.zeros((2, ranks, -(-own // TILE)), np.uint64)
    kernels.run("sum_tiles", 32 * sums[0].size, arcs, *_numbers(arcs), sums[0], sums[1])
    arc_sums, rows = sums.get()
    return arc_sums, rows


def _numbers(arcs: Any) -> tuple[np.uint32, np.uint32, np.uint32]:
    ranks, own = arcs.shape
    return np.uint32(own), np.uint32(ranks), np.uint32(TILE)
