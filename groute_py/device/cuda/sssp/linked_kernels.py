"""Runs of a team: one launch of the persistent kernel on each rank is a solve, or a slice of it."""

from __future__ import annotations

import math

import numpy as np
from cupy.cuda import runtime

from groute_py.device.cuda.peer.link import Link
from groute_py.device.cuda.runtime.pinned import empty_pinned
from groute_py.device.cuda.runtime.structs import ENDING, MAILBOX, offset_of
from groute_py.device.cuda.sssp.method import SolveParts
from groute_py.errors import RunError
from groute_py.kernels.source import BLOCK

NOT_READY = 600
"""CUDA's answer of a stream that is at work."""


class LinkedKernels:
    """See `groute_py.device.base.Linked` for the verbs."""

    def __init__(self, link: Link, parts: SolveParts, *, all_linked: bool) -> None:
        self._link, self._parts, self._all_linked = link, parts, all_linked
        self._gpu, self._kernel = parts.graph.gpu, parts.kernel
        self._kernel.exchange_with(link.peers(limit=0.0, ahead=0.0, widest=np.inf, bound=np.inf))
        self._ending = empty_pinned(1, ENDING)
        self.floor, self.overflowed, self.all_quiet = 0.0, False, False
        self._sent: list[int] = []

    @property
    def arcs(self) -> int:
        return self._parts.graph.arc_count

    def start(self) -> None:
        """Before a solve: nothing has been sent."""
        self._sent = [0] * self._link.size

    def bucket_width(self) -> float:
        return self._parts.near_far.bucket_width()

    def wake(self) -> None:
        self._gpu.use()
        peers = self._kernel.peers
        with self._gpu.beside:
            self._parts.graph.kernels.run("wake", BLOCK * int(peers["count"][0]), peers)

    def prepare(self, lead: float, bound: float) -> None:
        # buckets that grow are shared to the end; among others one may be some ahead
        delta, first = float(self._kernel.delta), float(self._kernel.first)
        grow, widest = first < delta, min(delta, lead)
        ahead = 0.0 if grow or math.isinf(lead) else lead - widest
        limit = min(min(first, widest) + ahead, bound)
        peers = self._link.peers(limit, ahead, widest, bound)
        peers["ending"] = self._ending.ctypes.data
        self._kernel.exchange_with(peers)

    def launch(self) -> None:
        predecessors = self._parts.predecessors
        with self._gpu.stream:
            self._kernel.launch_run()
        self._link.next_run()
        if predecessors.recording:
            with self._gpu.stream:
                predecessors.take_records(unless_below=np.inf)

    def finished(self) -> bool:
        # `Stream.done` stays false after an error, which to synchronize raises
        if runtime.streamQuery(self._gpu.stream.ptr) == NOT_READY:
            return False
        if not self._all_linked:
            with self._gpu.stream:
                self._parts.outbox.fill(with_parents=False)
        self._gpu.stream.synchronize()
        self.floor, all_quiet, overflowed, unreported = self._ending[0].item()
        self.all_quiet, self.overflowed = bool(all_quiet), bool(overflowed)
        if unreported:
            raise RunError(
                "another rank's kernel has not ended a second after this one was told to stop; "
                "see whether something else keeps its GPU busy"
            )
        return True

    def count(self) -> None:
        with self._gpu.stream:
            control = self._parts.buffers.read_control()
        sent = self._link.bytes_sent(control["exchange"])
        self._sent = [before + now for before, now in zip(self._sent, sent, strict=True)]
        self._parts.near_far.count(control, [0] * self._link.first + self._sent)

    def stop(self) -> None:
        flag, peers = np.ones(1, np.uint32), self._kernel.peers
        place = int(peers["mailbox"][0, peers["me"][0]]) + offset_of(MAILBOX, "stop")
        words = (place, flag.ctypes.data, 4, runtime.memcpyHostToDevice)
        runtime.memcpyAsync(*words, self._gpu.beside.ptr)
        self._gpu.beside.synchronize()

    def close(self) -> None:
        """Unmap the peers' memory, and let go of all arrays; collective."""
        self._gpu.beside.synchronize()  # what wakes links may still read what is unmapped
        self._link.close()
        del self._link, self._parts, self._kernel
