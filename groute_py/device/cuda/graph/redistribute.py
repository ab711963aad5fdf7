"""Redistribution of arcs by head when the ranks of a team are linked.

Graphs are read and cut by tail: a rank starts with the out-arcs of the vertices it owns (outgoing
edge-cut). Linked ranks hold the in-arcs of the vertices they own (incoming edge-cut); see
kernels/exchange/PROTOCOL.md. Each rank writes arcs directly into the memory of the peers that own
their heads.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import NDArray

from groute_py.comm.team import Team
from groute_py.device.cuda.graph.csr import DeviceGraph, lengths
from groute_py.device.cuda.graph.degree_order import DegreeOrder, order_among_peers
from groute_py.device.cuda.graph.ghosts import Ghosts
from groute_py.device.cuda.graph.in_edges import add_in_edges, add_weight_classes, seeds
from groute_py.device.cuda.runtime.ipc import exportable, mapped, unmap
from groute_py.device.cuda.runtime.memory_plan import (
    SPARE_BYTES,
    graph_bytes,
    inbox_bytes,
    offset_type,
)
from groute_py.device.cuda.runtime.short_memory import FULL, if_it_fits, pieces
from groute_py.device.cuda.runtime.structs import TEAM
from groute_py.partition.share import MOST_LOCAL


class ArcCounts(NamedTuple):
    """Attributes:
    arcs: uint32, shape (ranks, own): how many of each row each rank takes.
    leads: uint8, shape (own,): bit p where rank p takes some, and is another one.
    totals: how many arcs each takes.
    pushed: the most vertices that this rank pushes to a peer.
    """

    arcs: Any
    leads: Any
    totals: list[int]
    pushed: int


class Destination(NamedTuple):
    """Attributes:
    sizes: int64, shape (ranks, ranks): how many arcs of each rank each one takes.
    starts: uint64, shape (ranks, own + 1): where each row begins in what each rank takes, by the
        numbers of the rows.
    arrays: room for the arcs that this rank takes, and for their rows; and by the numbers of the
        owned vertices whom their rows lead to, and their degrees.
    """

    sizes: NDArray[np.int64]
    starts: Any
    arrays: dict[str, Any]


class Redistribution:
    """Moves the arcs of a team to the owners of their heads; collective.

    Args:
        team: the ranks.
        graph: of this rank; `run` replaces its arcs.

    Attributes:
        ghosts: the numbering of the team's vertices on this rank.
        order: by degree, if vertices are renumbered.
        most_pushed: the most vertices that a rank pushes to a peer.
    """

    def __init__(self, team: Team, graph: DeviceGraph) -> None:
        self.team, self.graph, self.gpu = team, graph, graph.gpu
        channel = team.channel
        self.ghosts = Ghosts(channel.rank, channel.gather(graph.share.own_count))
        self.order: DegreeOrder | None = None
        self.most_pushed = 0

    def run(self) -> str | None:
        """Redistribute, or say why not; the same on every rank.

        If it fails, arcs may be gone: the share has to be loaded again.
        """
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
        begun = if_it_fits(partial(self._row_starts, counted))
        del counted  # before more is made
        room = None if begun is None else if_it_fits(partial(self._allocate, sizes))
        if not all(channel.gather(room is not None)):
            return None
        assert begun is not None
        assert room is not None
        starts, by_number = begun
        return Destination(sizes, starts, by_number | room)

    def _add_in_edges(self) -> str | None:
        """Compile for the arcs that are here now, and arrange them to be pulled; collective."""
        channel, graph = self.team.channel, self.graph
        drawn = channel.gather(seeds())[0]
        found = channel.gather(if_it_fits(lambda: self._arrange(drawn)))
        balances = [balance for balance in found if balance is not None]
        if len(balances) < len(found):
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
        graph, team = self.graph, self.team
        own, ranks = graph.share.own_count, team.channel.size
        with self.gpu.stream:
            counts, leads = cp.zeros((ranks, own), np.uint32), cp.zeros(own, np.uint8)
            state = (graph.struct, _team_struct(team), counts, leads)
            graph.kernels.run("count_redistributed", 32 * own, *state)
            sums = [cp.cumsum(row, dtype=np.uint64)[-1:].get() for row in counts]
            pushed = [0] * ranks
            for part in pieces(own):
                for peer in range(ranks):
                    pushed[peer] += int((leads[part] >> peer & 1).sum())
            return ArcCounts(counts, leads, [int(last.sum()) for last in sums], max(pushed))

    def _row_starts(self, counted: ArcCounts) -> tuple[Any, dict[str, Any]]:
        """The starts of a `Destination`, and its arrays by the numbers of vertices."""
        ranks, own = counted.arcs.shape
        with self.gpu.stream:
            by_number = {
                "leads": self._by_number(counted.leads),
                "degrees": self._by_number(lengths(self.graph.arrays["offsets"])),
            }
            starts = cp.zeros((ranks, own + 1), np.uint64)
            for peer in range(ranks):
                arcs = self._by_number(counted.arcs[peer])
                cp.cumsum(arcs, dtype=np.uint64, out=starts[peer, 1:])
        return starts, by_number

    def _by_number(self, values: Any) -> Any:
        return values if self.order is None else self.order.by_number(values)

    def _allocate(self, sizes: NDArray[np.int64]) -> dict[str, Any]:
        """For the arcs that this rank takes, and their rows."""
        cp.get_default_memory_pool().free_all_blocks()  # what counting has left there
        graph = self.graph
        arcs, rows = int(sizes[:, self.ghosts.me].sum()), graph.rows
        offsets = exportable(rows + 1, np.dtype(offset_type(graph.terms.arcs)))
        with self.gpu.stream:
            offsets[rows:].fill(arcs)
        room = {"arcs": exportable(arcs, graph.entry_type), "offsets": offsets}
        if self.gpu.room() < SPARE_BYTES:
            raise MemoryError("what is made while arcs are handed out finds no room")
        return room

    def _write_arcs(self, destination: Destination) -> None:
        """Write arcs and the beginnings of their rows where they are to lie; collective."""
        graph, ghosts, channel = self.graph, self.ghosts, self.team.channel
        ranks, me = channel.size, ghosts.me
        sizes, starts, arrays = destination
        arcs_at = mapped(channel, arrays["arcs"].data.ptr)
        offsets_at = mapped(channel, arrays["offsets"].data.ptr)
        boxes, entry = np.zeros(ranks, np.uint64), arrays["arcs"].itemsize
        kind = arrays["offsets"].dtype
        with self.gpu.stream as stream:
            for peer in range(ranks):
                begin = int(sizes[ghosts.earlier(peer, me), peer].sum())
                boxes[peer] = arcs_at[peer] + begin * entry
                place = offsets_at[peer] + ghosts.at(peer, me) * kind.itemsize
                for part in pieces(graph.share.own_count):
                    rows = (starts[peer, part] + np.uint64(begin)).astype(kind)
                    words = (rows.data.ptr, rows.nbytes, runtime.memcpyDefault, stream.ptr)
                    runtime.memcpyAsync(place + part.start * kind.itemsize, *words)
                    stream.synchronize()
            numbers = np.uint64(0) if self.order is None else self.order.numbers
            ends = (starts, cp.asarray(boxes), np.uint32(ghosts.rows), numbers)
            state = (_team_struct(self.team), *ends)
            graph.kernels.run("redistribute_arcs", 32 * graph.share.own_count, graph.struct, *state)
        self.gpu.stream.synchronize()
        channel.gather(None)  # all arcs are there
        unmap(channel, arcs_at)
        unmap(channel, offsets_at)


def _team_struct(team: Team) -> Any:
    """The struct ``Team`` of kernels/layout/redistribute.cuh."""
    return np.array([(team.channel.rank, team.first, team.channel.size)], TEAM)
