"""Predecessors on a GPU: recorded during relaxation, or assigned afterwards by tight arcs.

Linked ranks assign them afterwards if one rank lacks a record. Each arc lies on the owner of its
head, so a tight arc that rises claims its head there, after mirrors have got their owners'
distances. Only along level arcs a rank must know which mirrored vertices have been claimed.
"""

from __future__ import annotations

import math
from typing import Any

import cupy as cp
import numpy as np

from groute_py.comm.base import Buffer
from groute_py.device.base import NO_PARENT
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.redistribute import Redistribution
from groute_py.device.cuda.runtime.memory_plan import recording_arrays
from groute_py.device.cuda.runtime.short_memory import pieces
from groute_py.device.cuda.sssp.buffers import SolveBuffers
from groute_py.device.cuda.sssp.outbox import Outbox
from groute_py.device.cuda.sssp.relax_kernel import RelaxKernel

NOBODY = 0xFFFFFFFF
"""The source's local number on a rank that does not own it."""


class Predecessors:
    """Finds the predecessors of the owned vertices, with or without records."""

    def __init__(
        self,
        graph: DeviceGraph,
        buffers: SolveBuffers,
        outbox: Outbox,
        kernel: RelaxKernel,
        redistribution: Redistribution | None,
    ) -> None:
        self.graph, self.buffers = graph, buffers
        self._outbox, self._kernel, self._redistribution = outbox, kernel, redistribution
        self._stream = graph.gpu.stream
        self._state = (graph.struct, buffers.work, buffers.control)
        self.recording = False
        self.unrecorded: int | None = None
        self._listed, self._unsent, self._done, self._reported = False, False, 0, 0
        self._monotone, self._onward = False, False

    def begin(self, *, record: bool) -> None:
        """Before a solve: whether its kernels record predecessors."""
        self.recording = record and self.graph.type.itemsize == 4
        self.unrecorded = None
        self._make_room_to_record()

    def count(self, control: Any) -> None:
        """After a launch: note how many records are missing, if they have been taken."""
        if self.recording and math.isinf(
            control["floor"]
        ):  # nothing has kept them from being taken
            self.unrecorded = int(control["unrecorded"])

    def take_records(self, unless_below: float) -> None:
        """Unless something nearer than that is still to be relaxed, as the control block says."""
        numbers = (np.uint32(self._kernel.source), np.float64(unless_below))
        own = self.graph.share.own_count
        self.graph.kernels.run("claim_recorded", own, *self._state, *numbers)

    def start(self, monotone: bool) -> bool:
        self._listed, self._unsent, self._done, self._reported = False, False, 0, 0
        team = None if self._redistribution is None else self._redistribution.team
        recorded = self.recording and self.claim_recorded()
        if team is not None:
            recorded = all(team.channel.gather(recorded))
        if recorded:
            return True
        self._monotone, self._onward = monotone, not monotone
        with self._stream:
            self.buffers.arrays["parent"].fill(NO_PARENT)
            if team is not None:
                words = (self._kernel.peers, self.buffers.work)
                self.graph.kernels.run("refresh_mirrors", self.graph.rows, *words)
        if team is not None:
            # where one has level arcs all have to tell it of their vertices
            self.claim_rising()
            self._onward = any(team.channel.gather(self._onward))
        return False

    def merge(self, message: Buffer) -> None:
        types = (np.dtype(np.int64), self.graph.type, np.dtype(np.int32))
        _, work, control = self._state
        with self._stream:
            for count, columns in self._outbox.columns(message, *types):
                flags = (np.uint32(count), np.uint32(self._kernel.source), np.uint32(self._listed))
                self.graph.kernels.run("merge_claims", count, work, control, *columns, *flags)

    def claim(self) -> bool:
        if self._monotone:
            self.claim_rising()
        if not self._unsent and not self._onward:
            return False
        run, source = self.graph.kernels.run, np.uint32(self._kernel.source)
        with self._stream:
            if self._onward and not self._listed:
                self._listed = True
                run("list_claimed", self.graph.rows, *self._state, source)
            listed = int(self.buffers.read_control()["claimed_count"])
            if self._onward and listed > self._done:
                bounds = (np.uint32(self._done), np.uint32(listed))
                run("claim_onward", listed - self._done, *self._state, source, *bounds)
                self._done = listed
            self._outbox.fill(with_parents=True)
            rest = int(self.buffers.read_control()["claimed_count"]) - self._done
        self._unsent = False
        return self._onward and rest > 0

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return self._outbox.emptied(with_parents=True) + self._news_of_mirrored()

    def claim_rising(self) -> None:
        """Claim along all arcs that rise, and look whether any is level."""
        self._monotone, self._unsent = False, True
        with self._stream:
            self.graph.kernels.run("claim_rising", self.graph.arc_count // 8, *self._state)
            self._onward = bool(self.buffers.read_control()["level"])

    def claim_recorded(self) -> bool:
        """Take the predecessors that were recorded, if not yet; False if some are missing."""
        if self.unrecorded is None:  # targets were reached before all was relaxed
            with self._stream:
                self.take_records(unless_below=0.0)
                self.unrecorded = int(self.buffers.read_control()["unrecorded"])
        return self.unrecorded == 0

    def _news_of_mirrored(self) -> list[tuple[int, Buffer]]:
        """Claims on mirrors, for peers with out-arcs of claimed vertices, without predecessors."""
        if self._redistribution is None or not self._listed:
            return []
        team, ghosts = self._redistribution.team, self._redistribution.ghosts
        arrays, messages = self.buffers.arrays, list[tuple[int, Buffer]]()
        with self._stream:
            listed = int(self.buffers.read_control()["claimed_count"])
            news = arrays["claimed"][self._reported : listed]
            for part in pieces(len(news)):
                claimed = news[part]
                mine = claimed[claimed < self.graph.share.own_count]
                leads = self.graph.arrays["leads"][mine]
                for peer in range(team.channel.size):
                    sent = mine[(leads >> peer & 1).astype(bool)]
                    if len(sent):
                        numbers = sent + np.uint32(ghosts.at(peer, ghosts.me))
                        columns: list[Any] = [cp.zeros(len(sent), np.int64)]
                        columns += [arrays["distance"][sent], numbers]
                        messages.append((team.first + peer, self._outbox.message(columns)))
        self._reported = listed
        return messages

    def _make_room_to_record(self) -> None:
        """Let the kernels see where to record, or that nothing is to be."""
        arrays, work = self.buffers.arrays, self.buffers.work
        if self.recording:  # claiming afterwards takes no more memory than there is
            entries, own = arrays["near"].shape[1], self.graph.share.own_count
            shapes = recording_arrays(entries, own, self.graph.type)
            self.recording = self.buffers.have_room_for(shapes)
        if self.recording == bool(work["record"][0]):
            return
        for name in ("near_tail", "far_tail"):
            rows = arrays[name] if self.recording else ()
            work[name] = [row.data.ptr for row in rows] or 0
        far = arrays["far_recorded" if self.recording else "far"]
        work["far"], work["far_capacity"] = [row.data.ptr for row in far], far.shape[1]
        work["record"] = arrays["parent"].data.ptr if self.recording else 0
