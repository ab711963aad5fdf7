"""Predecessors on a GPU: recorded during relaxation, or assigned afterwards by tight arcs.

Linked ranks assign them afterwards if one rank lacks a record. Each arc lies on the owner of its
head, so a tight arc that rises claims its head there, after mirrors have got their owners'
distances. Only along level arcs a rank must know which mirrored vertices have been claimed.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.comm.base import Buffer
from groute_py.device.base import NO_PARENT
from groute_py.device.cuda.graph.redistribute import Dealt
from groute_py.device.cuda.runtime.memory_plan import recording_arrays
from groute_py.device.cuda.sssp.buffers import pieces

NOBODY = 0xFFFFFFFF
"""The source's local number on a rank that does not own it."""


class Claims(Dealt):
    """A GPU that finds predecessors."""

    _source: int
    _recording: bool
    _peers: Any
    _unrecorded: int | None
    """Vertices whose predecessor is not recorded, once the records have been taken."""

    def start_claims(self, monotone: bool) -> bool:
        self._listed, self._unsent, self._done, self._reported = False, False, 0, 0
        recorded = self._recording and self._claim_recorded()
        if self._team is not None:
            recorded = all(self._team.channel.gather(recorded))
        if recorded:
            return True
        self._monotone, self._onward = monotone, not monotone
        with self._stream:
            self._arrays["parent"].fill(NO_PARENT)
            if self._team is not None:
                self._run("refresh_mirrors", self._rows, self._peers, self._work)
        if self._team is not None:
            # where one has level arcs all have to tell it of their vertices
            self._claim_rising()
            self._onward = any(self._team.channel.gather(self._onward))
        return False

    def merge_claims(self, message: Buffer) -> None:
        types = (np.dtype(np.int64), self._type, np.dtype(np.int32))
        with self._stream:
            for count, columns in self._columns(message, *types):
                flags = (np.uint32(count), np.uint32(self._source), np.uint32(self._listed))
                self._run("merge_claims", count, self._work, self._control, *columns, *flags)

    def claim(self) -> bool:
        if self._monotone:
            self._claim_rising()
        if not self._unsent and not self._onward:
            return False
        state = (self._share_at, self._work, self._control)
        with self._stream:
            if self._onward and not self._listed:
                self._listed = True
                self._run("list_claimed", self._rows, *state, np.uint32(self._source))
            listed = int(self._read_control()["claimed_count"])
            if self._onward and listed > self._done:
                bounds = (np.uint32(self._done), np.uint32(listed))
                source = np.uint32(self._source)
                self._run("claim_onward", listed - self._done, *state, source, *bounds)
                self._done = listed
            self._fill_outboxes(with_parents=True)
            left = int(self._read_control()["claimed_count"]) - self._done
        self._unsent = False
        return self._onward and left > 0

    def outgoing_claims(self) -> list[tuple[int, Buffer]]:
        return self._emptied(with_parents=True) + self._news_of_mirrored()

    def _claim_rising(self) -> None:
        self._monotone, self._unsent = False, True
        with self._stream:
            state = (self._share_at, self._work, self._control)
            self._run("claim_rising", len(self._graph["arcs"]) // 8, *state)
            self._onward = bool(self._read_control()["level"])

    def _news_of_mirrored(self) -> list[tuple[int, Buffer]]:
        """Messages to the peers that hold out-arcs of claimed vertices of this rank.

        They are claims on the mirrors; the predecessor itself does not matter there.
        """
        if self._team is None or not self._listed:
            return []
        messages: list[tuple[int, Buffer]] = []
        with self._stream:
            listed = int(self._read_control()["claimed_count"])
            news = self._arrays["claimed"][self._reported : listed]
            for part in pieces(len(news)):
                claimed = news[part]
                mine = claimed[claimed < self._share.own_count]
                leads = self._graph["leads"][mine]
                for peer in range(self._team.channel.size):
                    told = mine[(leads >> peer & 1).astype(bool)]
                    if len(told):
                        numbers = told + np.uint32(self._mirrors.at(peer, self._mirrors.me))
                        columns: list[Any] = [cp.zeros(len(told), np.int64)]
                        columns += [self._arrays["distance"][told], numbers]
                        messages.append((self._team.first + peer, self._message(columns)))
        self._reported = listed
        return messages

    def _claim_recorded(self) -> bool:
        """Take the predecessors that were recorded, if not yet; False if some are missing."""
        if self._unrecorded is None:  # targets were reached before all was relaxed
            with self._stream:
                self._take_records(unless_below=0.0)
                self._unrecorded = int(self._read_control()["unrecorded"])
        return self._unrecorded == 0

    def _take_records(self, unless_below: float) -> None:
        """Unless something nearer than that is still to be relaxed, as the control block says."""
        numbers = (np.uint32(self._source), np.float64(unless_below))
        state = (self._share_at, self._work, self._control)
        self._run("claim_recorded", self._share.own_count, *state, *numbers)

    def _make_room_to_record(self) -> None:
        """Let the kernels see where to record, or that nothing is to be."""
        if self._recording:  # claiming afterwards takes no more memory than there is
            entries, own = self._arrays["near"].shape[1], self._share.own_count
            shapes = recording_arrays(entries, own, self._type)
            self._recording = self._has_room_for(shapes)
        if self._recording == bool(self._work["record"][0]):
            return
        for name in ("near_tail", "far_tail"):
            rows = self._arrays[name] if self._recording else ()
            self._work[name] = [row.data.ptr for row in rows] or 0
        far = self._arrays["far_recorded" if self._recording else "far"]
        self._work["far"], self._work["far_capacity"] = [row.data.ptr for row in far], far.shape[1]
        self._work["record"] = self._arrays["parent"].data.ptr if self._recording else 0
