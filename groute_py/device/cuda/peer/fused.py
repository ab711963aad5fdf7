"""The persistent kernel, and how the ranks of a team are linked so that one launch is the solve."""

from __future__ import annotations

import math
from typing import Any

import cupy as cp
import cupyx
import numpy as np
from cupy.cuda import runtime

from groute_py.comm.team import Team
from groute_py.device.base import Counters, Linked
from groute_py.device.cuda.graph.redistribute import Dealt
from groute_py.device.cuda.peer.link import FULL, Link, linked, nobody, why_not
from groute_py.device.cuda.runtime.memory_plan import ring_that_fits
from groute_py.device.cuda.runtime.structs import ENDING, MAILBOX, offset_of
from groute_py.errors import RunError
from groute_py.kernels.source import BLOCK, GO_ON, NEW_RUN, NEW_SOLVE

NOT_READY = 600
"""CUDA's answer of a stream that is at work."""

DEPTH = 32
"""Levels a block goes down by itself in a turn, which then ends for all."""


class Fused(Dealt):
    """See `groute_py.device.base.Linked` for the verbs.

    Args:
        local_rank, direct: as for `Loaded`.
    """

    _first: Any
    _delta: Any
    _cutoff: Any
    _source: int

    def __init__(self, local_rank: int, *, direct: bool) -> None:
        super().__init__(local_rank, direct=direct)
        self._beside = cp.cuda.Stream(non_blocking=True)  # while the other is busy
        self._link: Link | None = None
        self._all_linked, self._begins = False, NEW_SOLVE
        self.floor, self.overflowed, self.all_quiet = 0.0, False, False
        self._sent: list[int] = []
        self._peers = nobody()
        self._ending = cupyx.empty_pinned(1, ENDING)

    def obstacle(self, team: Team) -> str | None:
        return why_not(team.channel, self._gpu.id, team.first)

    def link(self, team: Team) -> Linked | str:
        assert self._terms.mode in ("fused", "hierarchical")  # its kernels exchange
        self.unlink()
        reason = self._deal(team) or self._map(team)
        if reason is not None:
            return reason
        self._all_linked = team.hosts == 1
        return self

    @property
    def arcs(self) -> int:
        return len(self._graph["arcs"])

    def _map(self, team: Team) -> str | None:
        """Map the peers' mailboxes and distances; why not, the same on every rank; collective."""
        cp.get_default_memory_pool().free_all_blocks()  # peers map what lies outside of it
        rooms = team.channel.gather(int(self._gpu.mem_info[0]))
        ring = ring_that_fits(self._most_told, len(rooms), self._type, min(rooms))
        entry_bytes, distances = self._arc_type().itemsize, self._arrays["distance"]
        link = linked(team, self._mirrors, distances, entry_bytes, ring) if ring else FULL
        if isinstance(link, str):
            return link
        self._link = link
        self._peers = link.peers(limit=0.0, ahead=0.0, widest=np.inf, bound=np.inf)
        return None

    def unlink(self) -> None:
        if self._link is not None:
            self._beside.synchronize()  # what wakes links may still read what is unmapped
            self._link.close()
        self._link, self._peers = None, nobody()

    def window(self) -> float:
        return float("inf") if self._delta == self._nothing else float(self._delta)

    def wake(self) -> None:
        self._gpu.use()
        with self._beside:
            self._run("wake", BLOCK * int(self._peers["count"][0]), self._peers)

    def prepare(self, lead: float, bound: float) -> None:
        assert self._link is not None
        # windows that grow are shared to the end; among others one may be some ahead
        delta, first = float(self._delta), float(self._first)
        grow, widest = first < delta, min(delta, lead)
        ahead = 0.0 if grow or math.isinf(lead) else lead - widest
        limit = min(min(first, widest) + ahead, bound)
        self._peers = self._link.peers(limit, ahead, widest, bound)
        self._peers["ending"] = self._ending.ctypes.data

    def launch(self) -> None:
        assert self._link is not None
        with self._stream:
            self._launch(np.inf, 1, DEPTH)
        self._link.runs += 1
        self._begins = NEW_RUN

    def finished(self) -> bool:
        # `Stream.done` stays false after an error, which to synchronize raises
        if runtime.streamQuery(self._stream.ptr) == NOT_READY:
            return False
        if not self._all_linked:
            with self._stream:
                self._fill_outboxes(with_parents=False)
        self._stream.synchronize()
        self.floor, all_quiet, overflowed, unheard = self._ending[0].item()
        self.all_quiet, self.overflowed = bool(all_quiet), bool(overflowed)
        if unheard:
            raise RunError(
                "another rank's kernel has not ended a second after this one was told to stop; "
                "see whether something else keeps its GPU busy"
            )
        return True

    def count(self) -> None:
        assert self._link is not None
        with self._stream:
            seen = self._read_control()
        sent = self._link.bytes_sent(seen["exchange"])
        self._sent = [before + now for before, now in zip(self._sent, sent, strict=True)]
        self._count(seen)

    def stop(self) -> None:
        flag = np.ones(1, np.uint32)
        place = int(self._peers["mailbox"][0, self._peers["me"][0]]) + offset_of(MAILBOX, "stop")
        words = (place, flag.ctypes.data, 4, runtime.memcpyHostToDevice)
        runtime.memcpyAsync(*words, self._beside.ptr)
        self._beside.synchronize()

    def _launch(self, limit: float, turns: int, depth: int) -> None:
        self._relaxing.launch(
            self._stream,
            share=self._share_at,
            work=self._work,
            peers=self._peers,
            control=self._control.data.ptr,
            delta=self._delta,
            cutoff=self._cutoff,
            limit=limit,
            max_turns=turns,
            depth=depth,
            begins=self._begins,
            source=self._source,
            first=self._first,
        )
        self._begins = GO_ON

    def _begin(self) -> None:
        """Begin the solve, if that is still to be done, before something else than relaxing."""
        if self._begins != NEW_SOLVE:
            return
        with self._stream:
            self._launch(np.inf, 0, DEPTH)
        if self._link is not None:
            self._begins = NEW_RUN

    def _count(self, seen: Any) -> None:
        self.counters = Counters(
            relaxations=int(seen["relaxations"]),
            steps=int(seen["steps"]),
            slices=self.counters.slices + int(seen["steps"] > self.counters.steps),
            overflowed=bool(seen["overflowed"]),
            sent=self._bytes_to_peers(),
        )

    def _bytes_to_peers(self) -> list[int]:
        if self._link is None:
            return []
        return [0] * self._link.first + self._sent
