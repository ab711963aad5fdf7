"""The device of a machine with NVIDIA GPUs: kernels of `groute_py.kernels`, compiled by CuPy.

A slice costs one launch and one look at the control block; everything between is on the device.
"""

from __future__ import annotations

import math
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.device.base import NO_PARENT, Counters, Windows, bound_within, within
from groute_py.device.cuda.peer.fused import DEPTH, Fused
from groute_py.device.cuda.sssp.buffers import pieces
from groute_py.device.cuda.sssp.predecessors import NOBODY, Claims
from groute_py.device.delta_control import Patience, threshold_after
from groute_py.kernels.source import NEW_SOLVE

SLICE_TURNS = 16
"""Turns a rank with peers takes before it looks at its messages; measured, see
docs/what-we-learned.md#several-hosts."""

SLICE_TURNS_ALONE = 1 << 10
"""Without peers a slice (some 40 ms) only has to end soon enough for a signal to be heard."""

HINTED_FROM = 1.0
"""How much distances take, in sizes of L2, where hints are left. This and the next two are
measured, see docs/what-we-learned.md#distance-filter."""

HINTS_IN_L2, MOST_FOLDED = 1 / 3, 3
"""As much of L2 hints may take, which have a byte each, or half of it, or a quarter, or a bit."""

HINT_LEVELS = 32.0
"""How many levels of hints are as wide as the widest window."""

LARGEST_FLOAT = 1e38
"""What kernels take as a float is no more."""

OUTER_SHARE = 64
"""A step with 1 / OUTER_SHARE of all arcs defers those that lead far; they are pulled later."""

OUTER_REACH = 32.0
"""Δ over a width: half as far beyond their window arcs may lead and be relaxed all the same, a
quarter as wide are windows until then, and as wide is the next. Measured, see
docs/what-we-learned.md#push-and-pull."""

BUSHY = 4.0
"""Mean degree from which frontiers may grow too fast for the lists of a block."""

PROBE_TURNS, PULLING_TURNS, PROBE_DEPTH = 32, 128, 1
"""The first slice of such a graph, alone: many have all relaxed by then, the others are deep. Where
arcs are pulled there are more windows."""


class CudaDevice(Fused, Claims):
    """See `groute_py.device.base.Device` for the verbs.

    Args:
        local_rank, direct: as for `Loaded`.
    """

    name = "cuda"

    _told: tuple[Any, Windows] | None = None
    """The windows of the last solve, and the struct that has their parameters."""

    def start(self, source: int | None, windows: Windows, cutoff: float, *, record: bool) -> None:
        assert self._team is None or self._link is not None  # arcs lie as the team needs them
        self._gpu.use()  # or a thread that comes for the first time has no context to launch in
        self.counters = Counters()
        self._begins = NEW_SOLVE
        self._sent = [0] * (self._team.channel.size if self._team is not None else 0)
        self._recording = record and self._type.itemsize == 4
        self._unrecorded = None
        self._make_room_to_record()
        self._turns = SLICE_TURNS_ALONE if self._terms.mode == "alone" else SLICE_TURNS
        share = self._share
        self._probing = self._terms.mode == "alone" and len(share.heads) >= BUSHY * share.own_count
        self._source = NOBODY if source is None else int(self._number_of(source))
        self._delta = within(windows.widest, self._type)
        self._cutoff = bound_within(cutoff, self._type)
        self._first = within(windows.first, self._type) or self._delta  # 0 would not grow
        self._patience = Patience(len(share.heads), self._delta, self._nothing)
        if self._told is None or self._told[0] is not self._work or self._told[1] != windows:
            self._make_room_for_hints()
            self._say_what_is_pulled()
            self._told = self._work, windows

    def merge(self, message: Buffer) -> None:
        self._begin()
        with self._stream:
            for count, columns in self._columns(message, self._type, np.dtype(np.int32)):
                self._run("merge", count, self._work, self._control, *columns, np.uint32(count))

    def relax(self, limit: float) -> float:
        probe = PULLING_TURNS if self._pulls else PROBE_TURNS, PROBE_DEPTH
        turns, depth = probe if self._probing else (self._turns, DEPTH)
        self._probing = False
        with self._stream:
            self._launch(limit, turns, depth)
            if self._recording:
                self._take_records(unless_below=np.inf)
            self._fill_outboxes(with_parents=False)
            seen = self._read_control()
            floor = float(seen["floor"])
            if math.isfinite(floor):
                self._keep_patience(seen)
        self._count(seen)
        return floor

    def launch(self) -> None:
        super().launch()
        if self._recording:
            with self._stream:
                self._take_records(unless_below=np.inf)

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return self._emptied(with_parents=False)

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        with self._stream:
            distances = self._arrays["distance"]
            numbers = self._number_of(vertices)
            parts = (cp.asarray(numbers[part]) for part in pieces(len(numbers)))
            greatest = max(distances[part].max().get()[()] for part in parts)
        return np.inf if greatest == self._nothing else greatest.item()

    def forget_beyond(self, bound: float) -> None:
        with self._stream:
            distances = self._arrays["distance"]
            for part in pieces(len(distances)):
                beyond = distances[part] > bound_within(bound, self._type)
                distances[part][beyond] = self._nothing
                if self._recording:  # UNRECORDED has the same bits
                    self._arrays["parent"][part][beyond] = NO_PARENT

    def _count(self, seen: Any) -> None:
        super()._count(seen)
        if self._recording and math.isinf(seen["floor"]):  # nothing has kept them from being taken
            self._unrecorded = int(seen["unrecorded"])

    def _make_room_for_hints(self) -> None:
        """Where windows grow, which is where arcs are many, and distances do not fit in L2."""
        own = self._share.own_count
        large = own * self._type.itemsize > HINTED_FROM * self._l2_bytes
        # a head in the halo, which hints do not tell of, is only there in windows that are alike
        hinted = self._first < self._delta and large and self._halo == 0
        fold = fold_of(own, self._l2_bytes)
        hinted = hinted and self._has_room_for({"hints": ((own >> fold) + 1, np.uint8)})
        self._work["hints"], self._work["levels"], self._work["fold"] = 0, 0, fold
        if hinted:
            self._work["hints"] = self._arrays["hints"].data.ptr
            self._work["levels"] = min(HINT_LEVELS / float(self._delta), LARGEST_FLOAT)

    def _say_what_is_pulled(self) -> None:
        """Set the parameters of the pull phase, which needs windows that grow.

        Windows are as wide as Δ once the densest part has been relaxed: then a pull, which looks
        at all vertices, takes longer than what it saves, wherever arcs lead.
        """
        arcs, grow = len(self._graph["arcs"]), self._first < self._delta
        self._work["outer_from"] = max(arcs // OUTER_SHARE, 1) if self._pulls and grow else 0
        below = min(self._terms.outer_below, float(self._delta), LARGEST_FLOAT)
        self._work["outer_below"] = below
        self._work["outer_reach"] = min(float(self._delta) / OUTER_REACH, LARGEST_FLOAT)
        self._work["mean_degree"] = max(arcs // max(self._rows, 1), 1)

    def _keep_patience(self, seen: Any) -> None:
        delta = self._patience.narrower(float(seen["threshold"]), int(seen["relaxations"]))
        if delta is None:
            return
        self._delta = delta
        # the window that is open may be narrower than that
        after = threshold_after(seen["window"], delta, self._nothing)
        threshold = min(seen["threshold"], after)
        self._run("narrow", int(max(seen["near_count"])), self._work, self._control, threshold)
        self._write_control("threshold", threshold)
        self._write_control("turn", np.uint32(seen["turn"] + 1))


def fold_of(own: int, l2_bytes: int) -> int:
    """How often the bits of a hint are halved, so that the hints of ``own`` vertices fit in L2."""
    fitting = (fold for fold in range(MOST_FOLDED) if own >> fold <= HINTS_IN_L2 * l2_bytes)
    return next(fitting, MOST_FOLDED)
