"""Redistribution of arcs by head when the ranks of a team are linked.

Graphs are read and cut by tail: a rank starts with the out-arcs of the vertices it owns (outgoing
edge-cut). Linked ranks hold the in-arcs of the vertices they own (incoming edge-cut); see
kernels/peers.cuh. Each rank writes arcs directly into the memory of the peers that own their heads.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import NDArray

from groute_py.comm.team import Team
from groute_py.device.base import Terms
from groute_py.device.cuda.graph.degree_order import lengths
from groute_py.device.cuda.graph.ghosts import Mirrors
from groute_py.device.cuda.graph.in_edges import seeds
from groute_py.device.cuda.peer.link import FULL, exportable, mapped, unmap
from groute_py.device.cuda.runtime.memory_plan import (
    SPARE_BYTES,
    graph_bytes,
    inbox_bytes,
    offset_type,
)
from groute_py.device.cuda.runtime.structs import DEAL
from groute_py.device.cuda.sssp.buffers import if_it_fits, pieces
from groute_py.device.cuda.sssp.outbox import Messages
from groute_py.partition.share import MOST_LOCAL, Share


class Counted(NamedTuple):
    """Attributes:
    arcs: uint32, shape (ranks, own): how many of each row each rank takes.
    leads: uint8, shape (own,): bit p where rank p takes some, and is another one.
    totals: how many arcs each takes.
    told: of how many vertices this rank tells a peer at the most.
    """

    arcs: Any
    leads: Any
    totals: list[int]
    told: int


class Handing(NamedTuple):
    """Attributes:
    sizes: int64, shape (ranks, ranks): how many arcs of each rank each one takes.
    starts: uint64, shape (ranks, own + 1): where each row begins in what each rank takes, by the
        numbers of the rows.
    graph: room for the arcs that this rank takes, and for their rows.
    """

    sizes: NDArray[np.int64]
    starts: Any
    graph: dict[str, Any]


class Dealt(Messages):
    """A GPU whose arcs may have been dealt out, in a team then."""

    _team: Team | None = None
    _all_lead_back = False
    _mirrors: Mirrors
    _most_told: int

    def load(self, share: Share, terms: Terms) -> None:
        self._team, self._all_lead_back = None, False
        super().load(share, terms)

    def _deal(self, team: Team) -> str | None:
        """Deal out the arcs of a team; why not, the same on every rank of it; collective.

        Where it cannot be, arcs or worklists may be gone: the share has to be loaded again.
        """
        assert self._team is None
        channel = team.channel
        mirrors = Mirrors(channel.rank, channel.gather(self._share.own_count))
        most = max(channel.gather(mirrors.rows + len(self._share.halo)))
        if most > MOST_LOCAL:
            return f"a GPU would have {most:,} local vertices, more than {MOST_LOCAL:,}"
        # what kernels are told of stays as it was until arcs have been dealt out from there
        self._rows, self._before = mirrors.rows, mirrors.before
        self._arrays = {}
        cp.get_default_memory_pool().free_all_blocks()  # peers map what lies outside of it
        handing = self._ready_to_hand_out(team, mirrors)
        if handing is None:
            return FULL
        self._hand_out(team, mirrors, handing)
        self._graph |= handing.graph
        del handing
        self._team, self._mirrors = team, mirrors
        if team.hosts == 1:
            self._halo = 0  # no arc leads there any more
        drawn = channel.gather(seeds())[0]
        found = channel.gather(if_it_fits(lambda: self._arrange_dealt(drawn)))
        balances = [balance for balance in found if balance is not None]
        if len(balances) < len(found):
            return FULL
        self._all_lead_back = not np.sum(balances, axis=0, dtype=np.uint64).any()
        if all(channel.gather(self._pulls)) and self._all_lead_back:
            if_it_fits(self._grade)  # who has none lists what others leave out
        fits = if_it_fits(self._allocate_dealt)
        return None if all(channel.gather(fits)) else FULL

    def _ready_to_hand_out(self, team: Team, mirrors: Mirrors) -> Handing | None:
        """Count, number and make room; None where a rank has none; collective."""
        channel = team.channel
        counted = if_it_fits(lambda: self._counted(team))
        totals = channel.gather(counted and counted.totals)
        if counted is None or None in totals:
            return None
        sizes = np.array(totals, np.int64)
        self._terms = self._terms._replace(arcs=int(sizes.sum(axis=0).max()))
        self._most_told = max(channel.gather(counted.told))
        self._inbox_bytes = inbox_bytes(self._most_told, channel.size, self._type)
        if self._terms.pulls:
            dealt = graph_bytes(self._rows, 0, self._terms.arcs, channel.size, self._type)
            self._number_among(channel, mirrors.owned, self._spare() - dealt)
        starts = if_it_fits(partial(self._starts_of, counted))
        del counted  # before more is made
        graph = None if starts is None else if_it_fits(lambda: self._room_for(sizes, mirrors.me))
        if not all(channel.gather(graph is not None)):
            return None
        assert graph is not None
        return Handing(sizes, starts, graph)

    def _arrange_dealt(self, drawn: NDArray[np.uint64]) -> NDArray[np.uint64]:
        with self._stream:
            self._compile()
            self._point_to_share()
            balance = self._turn(drawn)
        self._stream.synchronize()
        return balance

    def _allocate_dealt(self) -> bool:
        with self._stream:
            self._allocate(exported=True)
        self._stream.synchronize()
        return True

    def _counted(self, team: Team) -> Counted:
        own, ranks = self._share.own_count, team.channel.size
        with self._stream:
            counts, leads = cp.zeros((ranks, own), np.uint32), cp.zeros(own, np.uint8)
            self._run("count_dealt", 32 * own, self._share_at, _deal_of(team), counts, leads)
            sums = [cp.cumsum(row, dtype=np.uint64)[-1:].get() for row in counts]
            told = [0] * ranks
            for part in pieces(own):
                for peer in range(ranks):
                    told[peer] += int((leads[part] >> peer & 1).sum())
            return Counted(counts, leads, [int(last.sum()) for last in sums], max(told))

    def _starts_of(self, counted: Counted) -> Any:
        """As a `Handing` has them; from here on whom rows lead to goes by numbers too."""
        ranks, own = counted.arcs.shape
        with self._stream:
            self._graph["leads"] = self._by_number(counted.leads)
            self._graph["degrees"] = self._by_number(lengths(self._graph["offsets"]))
            starts = cp.zeros((ranks, own + 1), np.uint64)
            for peer in range(ranks):
                arcs = self._by_number(counted.arcs[peer])
                cp.cumsum(arcs, dtype=np.uint64, out=starts[peer, 1:])
        return starts

    def _room_for(self, sizes: NDArray[np.int64], me: int) -> dict[str, Any]:
        """For the arcs that this rank takes, and their rows."""
        cp.get_default_memory_pool().free_all_blocks()  # what counting has left there
        arcs, rows = int(sizes[:, me].sum()), self._rows
        offsets = exportable(rows + 1, np.dtype(offset_type(self._terms.arcs)))
        with self._stream:
            offsets[rows:].fill(arcs)
        graph = {"arcs": exportable(arcs, self._arc_type()), "offsets": offsets}
        if self.room() < SPARE_BYTES:
            raise MemoryError("what is made while arcs are handed out finds no room")
        return graph

    def _hand_out(self, team: Team, mirrors: Mirrors, handing: Handing) -> None:
        """Write arcs and the beginnings of their rows where they are to lie; collective."""
        ranks, me, channel = team.channel.size, mirrors.me, team.channel
        sizes, starts, graph = handing
        arcs_at = mapped(channel, graph["arcs"].data.ptr)
        offsets_at = mapped(channel, graph["offsets"].data.ptr)
        boxes, entry = np.zeros(ranks, np.uint64), graph["arcs"].itemsize
        kind = graph["offsets"].dtype
        with self._stream:
            for peer in range(ranks):
                begin = int(sizes[mirrors.earlier(peer, me), peer].sum())
                boxes[peer] = arcs_at[peer] + begin * entry
                place = offsets_at[peer] + mirrors.at(peer, me) * kind.itemsize
                for part in pieces(self._share.own_count):
                    rows = (starts[peer, part] + np.uint64(begin)).astype(kind)
                    words = (rows.data.ptr, rows.nbytes, runtime.memcpyDefault, self._stream.ptr)
                    runtime.memcpyAsync(place + part.start * kind.itemsize, *words)
                    self._stream.synchronize()
            numbers = np.uint64(0) if self._places is None else self._places
            deal = (_deal_of(team), starts, cp.asarray(boxes), np.uint32(mirrors.rows), numbers)
            self._run("deal_out", 32 * self._share.own_count, self._share_at, *deal)
        self._stream.synchronize()
        channel.gather(None)  # all arcs are there
        unmap(channel, arcs_at)
        unmap(channel, offsets_at)


def _deal_of(team: Team) -> Any:
    """The struct ``Deal`` of kernels/dealt.cu."""
    return np.array([(team.channel.rank, team.first, team.channel.size)], DEAL)
