"""Redistribution of arcs by head when the ranks of a team are linked.

Graphs are read and cut by tail (outgoing edge-cut). Linked ranks hold the in-arcs of the vertices
they own (incoming edge-cut); see kernels/exchange/PROTOCOL.md. Each rank writes arcs directly into
the memory of the peers that own their heads.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.comm.team import Team
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.degree_order import DegreeOrder, order_among_peers
from groute_py.device.cuda.graph.ghosts import Ghosts
from groute_py.device.cuda.graph.in_edges import add_in_edges, add_weight_classes, seeds
from groute_py.device.cuda.runtime.ipc import exportable, mapped, unmap
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.memory_plan import (
    SPARE_BYTES,
    graph_bytes,
    inbox_bytes,
    offset_type,
)
from groute_py.device.cuda.runtime.short_memory import FULL, if_it_fits
from groute_py.device.cuda.runtime.structs import TEAM
from groute_py.partition.share import MOST_LOCAL

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


class Destination(NamedTuple):
    """Room for the arcs that this rank takes, their rows, and owned vertices' leads and degrees."""

    starts: Any  # uint64, (ranks, own): begins of rows in each rank's arcs
    arrays: dict[str, Any]


class Redistribution:
    """Moves the arcs of a team to the owners of their heads; collective."""

    def __init__(self, team: Team, graph: DeviceGraph) -> None:
        self.team, self.graph, self.gpu = team, graph, graph.gpu
        channel = team.channel
        self.ghosts = Ghosts(channel.rank, channel.gather(graph.share.own_count))
        self.order: DegreeOrder | None = None
        self.most_pushed = 0

    def run(self) -> str | None:
        """Redistribute, or return on every rank why not; then the share has to be loaded again."""
        channel, graph, ghosts = self.team.channel, self.graph, self.ghosts
        assert "leads" not in graph.arrays  # it is done once
        most = max(channel.gather(ghosts.rows + len(graph.share.halo)))
        if most > MOST_LOCAL:
            return f"a GPU would have {most:,} local vertices, more than {MOST_LOCAL:,}"
        graph.plan_rows(ghosts.rows, ghosts.before)
        cp.get_default_memory_pool().free_all_blocks()  # peers map what lies outside of it
        destination = self._make_room()
        if destination is None:
            return FULL
        self._write_arcs(destination)
        # with one host no arc leads to a halo any more
        graph.take_redistributed(destination.arrays, graph.halo if self.team.hosts > 1 else 0)
        del destination
        return self._add_in_edges()

    def _make_room(self) -> Destination | None:
        """Count, number and make room; None where a rank has none; collective."""
        channel, graph, ghosts = self.team.channel, self.graph, self.ghosts
        counted = if_it_fits(self._count_arcs)
        totals = channel.gather(counted and counted.totals)
        if counted is None or None in totals:
            return None
        sizes = np.array(totals, np.int64)
        most = int(sizes.sum(axis=0).max())
        self.most_pushed = max(channel.gather(counted.pushed))
        graph.plan_arcs(most, inbox_bytes(self.most_pushed, channel.size, graph.type))
        if graph.terms.pulls:
            redistributed = graph_bytes(graph.rows, 0, most, channel.size, graph.type)
            spare = graph.spare() - redistributed
            self.order = order_among_peers(channel, graph, ghosts.owned, spare)
        row_starts = if_it_fits(partial(self._row_starts, counted, sizes))
        del counted  # before more is made
        room = None if row_starts is None else if_it_fits(partial(self._allocate, sizes))
        if not all(channel.gather(room is not None)):
            return None
        assert row_starts is not None
        assert room is not None
        starts, by_number = row_starts
        return Destination(starts, by_number | room)

    def _add_in_edges(self) -> str | None:
        """Compile for the arcs that are here now, and arrange them to be pulled; collective."""
        channel, graph = self.team.channel, self.graph
        drawn = channel.gather(seeds())[0]
        answers = channel.gather(if_it_fits(lambda: self._arrange(drawn)))
        balances = [balance for balance in answers if balance is not None]
        if len(balances) < len(answers):
            return FULL
        all_lead_back = not np.sum(balances, axis=0, dtype=np.uint64).any()
        if all(channel.gather(graph.has_in_edges)) and all_lead_back:
            if_it_fits(self._add_weight_classes)  # who has none lists what others leave out
        return None

    def _arrange(self, drawn: NDArray[np.uint64]) -> NDArray[np.uint64]:
        with self.gpu.stream:
            self.graph.compile()
            self.graph.point()
            balance = add_in_edges(self.graph, drawn)
        self.gpu.stream.synchronize()
        return balance

    def _add_weight_classes(self) -> None:
        add_weight_classes(self.graph)

    def _count_arcs(self) -> ArcCounts:
        with self.gpu.stream:
            return count_arcs(self.graph, _team_struct(self.team))

    def _row_starts(
        self, counted: ArcCounts, sizes: NDArray[np.int64]
    ) -> tuple[Any, dict[str, Any]]:
        """The starts of a `Destination`, and its arrays by the numbers of vertices."""
        me, earlier = self.ghosts.me, self.ghosts.earlier
        firsts = [int(sizes[earlier(peer, me), peer].sum()) for peer in range(len(sizes))]
        with self.gpu.stream:
            if self.order is not None:
                counted = counted.by_number(self.order)
            starts = row_starts(self.graph.kernels, counted.arcs, firsts)
        return starts, {"leads": counted.leads, "degrees": counted.degrees}

    def _allocate(self, sizes: NDArray[np.int64]) -> dict[str, Any]:
        """Allocate room for the arcs that this rank takes, and their rows."""
        cp.get_default_memory_pool().free_all_blocks()  # what counting has left there
        graph = self.graph
        arcs, rows = int(sizes[:, self.ghosts.me].sum()), graph.rows
        offsets = exportable(rows + 1, np.dtype(offset_type(graph.terms.arcs)))
        with self.gpu.stream:
            offsets[rows:].set(np.array([arcs], offsets.dtype))
        room = {"arcs": exportable(arcs, graph.entry_type), "offsets": offsets}
        if self.gpu.room() < SPARE_BYTES:
            raise MemoryError("what is made while arcs are handed out finds no room")
        return room

    def _write_arcs(self, destination: Destination) -> None:
        """Write arcs and the beginnings of their rows where they are to lie; collective."""
        graph, ghosts, channel = self.graph, self.ghosts, self.team.channel
        starts, arrays = destination
        arcs_at = mapped(channel, arrays["arcs"].data.ptr)
        offsets_at = mapped(channel, arrays["offsets"].data.ptr)
        entry = arrays["offsets"].itemsize
        rows_at = [at + ghosts.at(p, ghosts.me) * entry for p, at in enumerate(offsets_at)]
        own, run = graph.share.own_count, graph.kernels.run
        with self.gpu.stream:
            boxes, rows = (cp.asarray(np.array(at, np.uint64)) for at in (arcs_at, rows_at))
            beginnings = (starts, np.uint32(own), np.uint32(channel.size), rows, np.uint32(entry))
            run("send_beginnings", own, *beginnings)
            numbers = np.uint64(0) if self.order is None else self.order.numbers
            ends = (starts, boxes, np.uint32(ghosts.rows), numbers)
            run("redistribute_arcs", 32 * own, graph.struct, _team_struct(self.team), *ends)
        self.gpu.stream.synchronize()
        channel.gather(None)  # all arcs are there
        unmap(channel, arcs_at)
        unmap(channel, offsets_at)


def _team_struct(team: Team) -> Any:
    """The struct ``Team`` of kernels/layout/redistribute.cuh."""
    return np.array([(team.channel.rank, team.first, team.channel.size)], TEAM)
