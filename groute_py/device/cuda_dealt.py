"""Among peers an arc lies where its head is: arcs are dealt out anew when peers are linked.

Ranks come with the rows of what they own, which is how graphs are read and cut (an outgoing
edge-cut). Linked they keep the arcs that lead to what they own (an incoming one): see
kernels/peers.cuh. Each writes the arcs straight into the memory of the peers that take them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import cupy as cp
import numpy as np
from cupy.cuda import driver, runtime
from numpy.typing import NDArray

from groute_py.comm.team import Team
from groute_py.device.base import Terms
from groute_py.device.cuda_loaded import pieces
from groute_py.device.cuda_messages import Messages
from groute_py.device.cuda_turned import seeds
from groute_py.device.layout import DEAL
from groute_py.device.memory import SPARE_BYTES, inbox_bytes, offset_type
from groute_py.device.mirrors import Mirrors
from groute_py.device.peers import FULL, exportable, mapped
from groute_py.partition.share import MOST_LOCAL, Share

T = TypeVar("T")


class Counted(NamedTuple):
    """Attributes:
    starts: uint64, shape (ranks, own + 1): where each row's arcs begin in what each rank takes.
    leads: uint8, shape (own,): bit p where rank p takes some, and is another one.
    totals: how many arcs each takes.
    """

    starts: Any
    leads: Any
    totals: list[int]


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
        self._arrays = {}
        cp.get_default_memory_pool().free_all_blocks()  # peers map what lies outside of it
        counted = _if_it_fits(lambda: self._counted(team))
        totals = channel.gather(counted and counted.totals)
        sizes = np.array(totals, np.int64) if None not in totals else None
        graph = None
        if sizes is not None:
            self._terms = self._terms._replace(arcs=int(sizes.sum(axis=0).max()))
            graph = _if_it_fits(lambda: self._room_for(sizes, mirrors))
        if not all(channel.gather(graph is not None)):
            return FULL
        assert counted is not None
        assert sizes is not None
        assert graph is not None
        self._hand_out(team, mirrors, sizes, counted.starts, graph)
        self._graph |= graph | {"leads": counted.leads}
        del counted, graph
        self._team, self._mirrors = team, mirrors
        self._rows, self._before = mirrors.rows, mirrors.before
        if team.hosts == 1:
            self._halo = 0  # no arc leads there any more
        self._most_told = max(channel.gather(self._count_told()))
        self._inbox_bytes = inbox_bytes(self._most_told, channel.size, self._type)
        drawn = channel.gather(seeds())[0]
        found = channel.gather(_if_it_fits(lambda: self._arrange_dealt(drawn)))
        balances = [balance for balance in found if balance is not None]
        if len(balances) < len(found):
            return FULL
        self._all_lead_back = not np.sum(balances, axis=0, dtype=np.uint64).any()
        if all(channel.gather(self._pulls)) and self._all_lead_back:
            _if_it_fits(self._grade)  # who has none lists what others leave out
        fits = _if_it_fits(self._allocate_dealt)
        return None if all(channel.gather(fits)) else FULL

    def _counted_at(self) -> Any:
        if not (self._pulls and self._all_lead_back):
            return super()._counted_at()
        # who owns a dead end tells nobody of it; but as many arcs lead to what is owned as from it
        share = self._share_at.copy()
        share["offsets"], share["rows"] = share["in_offsets"], share["own"]
        return share

    def _count_told(self) -> int:
        """Of how many vertices this rank tells a peer at the most."""
        with self._stream:
            leads, told = self._graph["leads"], [0] * len(self._mirrors.owned)
            for part in pieces(len(leads)):
                for peer in range(len(told)):
                    told[peer] += int((leads[part] >> peer & 1).sum())
        return max(told)

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
            starts = cp.zeros((ranks, own + 1), np.uint64)
            for peer in range(ranks):
                cp.cumsum(counts[peer], dtype=np.uint64, out=starts[peer, 1:])
            return Counted(starts, leads, starts[:, -1].get().tolist())

    def _room_for(self, sizes: NDArray[np.int64], mirrors: Mirrors) -> dict[str, Any]:
        """For the arcs that this rank takes, ``sizes[sender, taker]``, and their rows."""
        cp.get_default_memory_pool().free_all_blocks()  # what counting has left there
        arcs = int(sizes[:, mirrors.me].sum())
        offsets = exportable(mirrors.rows + 1, np.dtype(offset_type(self._terms.arcs)))
        with self._stream:
            offsets[mirrors.rows :].fill(arcs)
        graph = {"arcs": exportable(arcs, self._arc_type()), "offsets": offsets}
        if self.room() < SPARE_BYTES:
            raise MemoryError("what is made while arcs are handed out finds no room")
        return graph

    def _hand_out(
        self,
        team: Team,
        mirrors: Mirrors,
        sizes: NDArray[np.int64],
        starts: Any,
        graph: dict[str, Any],
    ) -> None:
        """Write arcs and the beginnings of their rows where they are to lie; collective."""
        ranks, me, channel = team.channel.size, mirrors.me, team.channel
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
            own, boxes = self._share.own_count, cp.asarray(boxes)
            state = (self._share_at, _deal_of(team), starts, boxes, np.uint32(mirrors.rows))
            self._run("deal_out", 32 * own, *state)
        self._stream.synchronize()
        channel.gather(None)  # all arcs are there
        for peer in range(ranks):
            if peer != me:
                runtime.ipcCloseMemHandle(arcs_at[peer])
                runtime.ipcCloseMemHandle(offsets_at[peer])


def _deal_of(team: Team) -> Any:
    """The struct ``Deal`` of kernels/dealt.cu."""
    return np.array([(team.channel.rank, team.first, team.channel.size)], DEAL)


def _if_it_fits(action: Callable[[], T]) -> T | None:
    """What an action makes, or None where the GPU has no memory for it: others wait to know."""
    try:
        return action()
    except (MemoryError, runtime.CUDARuntimeError, driver.CUDADriverError):
        return None
