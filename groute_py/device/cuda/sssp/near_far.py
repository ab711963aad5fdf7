"""Near–far relaxation of a share: a slice costs one launch and one look at the control block."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from groute_py.comm.base import Buffer
from groute_py.device.base import Buckets, bound_within, within
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.degree_order import DegreeOrder
from groute_py.device.cuda.sssp.buffers import SolveBuffers, SolveCounters
from groute_py.device.cuda.sssp.outbox import Outbox
from groute_py.device.cuda.sssp.predecessors import NOBODY, Predecessors
from groute_py.device.cuda.sssp.relax_kernel import RelaxKernel
from groute_py.device.delta_control import DeltaControl, threshold_after

SLICE_STEPS = 16
"""Steps a rank with peers takes before it looks at its messages; measured, see
docs/what-we-learned.md#several-hosts."""

SLICE_STEPS_ALONE = 1 << 10
"""Without peers a slice (some 40 ms) only has to end soon enough for a signal to be heard."""

BUSHY = 4.0
"""Mean degree from which frontiers may grow too fast for the lists of a block."""

PROBE_STEPS, PULLING_STEPS, PROBE_DEPTH = 32, 128, 1
"""The first slice of such a graph, alone: many have all relaxed by then, the others are deep. Where
arcs are pulled there are more buckets."""


class NearFar:
    """Relaxes a share with the kernel ``relax``."""

    _buckets: Buckets | None = None
    """Buckets of the last solve, which the parameters in struct ``Work`` are for."""

    def __init__(
        self,
        graph: DeviceGraph,
        order: DegreeOrder | None,
        buffers: SolveBuffers,
        outbox: Outbox,
        kernel: RelaxKernel,
        predecessors: Predecessors,
        counters: SolveCounters,
    ) -> None:
        self._graph, self._order, self._buffers = graph, order, buffers
        self._outbox, self._kernel, self._predecessors = outbox, kernel, predecessors
        self._counters, self._stream = counters, graph.gpu.stream

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        graph = self._graph
        self._counters.begin()
        self._predecessors.begin(record=record)
        alone, arcs = graph.terms.mode == "alone", len(graph.share.heads)
        self._steps = SLICE_STEPS_ALONE if alone else SLICE_STEPS
        self._probing = alone and arcs >= BUSHY * graph.share.own_count
        delta = within(buckets.widest, graph.type)
        first = within(buckets.first, graph.type) or delta  # 0 would not grow
        self._kernel.prepare(
            self._number_of(source), delta, bound_within(cutoff, graph.type), first
        )
        self._delta_control = DeltaControl(arcs, delta, graph.unreached)
        if buckets != self._buckets:
            widest, grow = float(delta), bool(first < delta)
            set_filter(graph, self._buffers, widest, grow=grow)
            set_pull_phase(graph, self._buffers, widest, grow=grow)
            self._buckets = buckets

    def merge(self, message: Buffer) -> None:
        self._kernel.begin()
        work, control = self._buffers.work, self._buffers.control
        types = (self._graph.type, np.dtype(np.int32))
        with self._stream:
            for count, columns in self._outbox.columns(message, *types):
                self._graph.kernels.run("merge", count, work, control, *columns, np.uint32(count))

    def relax(self, limit: float) -> float:
        with self._stream:
            self._launch_slice(limit)
            if self._predecessors.recording:
                self._predecessors.take_records(unless_below=np.inf)
            self._outbox.fill(with_parents=False)
            control = self._buffers.read_control()
            floor = float(control["floor"])
            if math.isfinite(floor):
                self._narrow_slow_bucket(control)
        self.count(control)
        return floor

    def bucket_width(self) -> float:
        delta = self._kernel.delta
        return float("inf") if delta == self._graph.unreached else float(delta)

    def count(self, control: Any, sent: list[int] | None = None) -> None:
        """Count the kernels' work since the solve began; ``sent`` are their bytes to each peer."""
        self._counters.update(
            relaxations=int(control["relaxations"]),
            steps=int(control["steps"]),
            overflowed=bool(control["overflowed"]),
            sent=sent,
            worklists=_worklists(control),
        )
        self._predecessors.count(control)

    def _number_of(self, source: int | None) -> int:
        if source is None:
            return NOBODY
        return int(source if self._order is None else self._order.number_of(source))

    def _launch_slice(self, limit: float) -> None:
        if self._probing:
            self._probing = False
            steps = PULLING_STEPS if self._graph.has_in_edges else PROBE_STEPS
            self._kernel.launch(limit, steps, PROBE_DEPTH)
        else:
            self._kernel.launch(limit, self._steps)

    def _narrow_slow_bucket(self, control: Any) -> None:
        """Narrow the bucket and Δ if the bucket has taken too many relaxations."""
        delta = self._delta_control.narrower(
            float(control["threshold"]), int(control["relaxations"])
        )
        if delta is None:
            return
        self._kernel.narrow(delta)
        # the bucket that is open may be narrower than that
        after = threshold_after(control["bucket_begin"], delta, self._graph.unreached)
        threshold = min(control["threshold"], after)
        buffers = self._buffers
        state = (buffers.work, buffers.control, threshold)
        self._graph.kernels.run("narrow", int(max(control["near_count"])), *state)
        buffers.write_control("threshold", threshold)
        buffers.write_control("step", np.uint32(control["step"] + 1))


def _worklists(control: Any) -> tuple[int, int]:
    """Entries of near and of far that kernels have left; far counts those without a place too."""
    near, far = control["near_count"], control["far_count"]
    return int(near[control["step"] % len(near)]), int(far[control["far_side"]])


PULL_SHARE = 64
"""A step with 1 / PULL_SHARE of all arcs defers those that lead far; they are pulled later."""

PULL_REACH = 32.0
"""Δ over a width: half as far beyond their bucket arcs may lead and be relaxed all the same, a
quarter as wide are buckets until then, and as wide is the next. Measured, see
docs/what-we-learned.md#push-and-pull."""


def set_pull_phase(graph: DeviceGraph, buffers: SolveBuffers, widest: float, *, grow: bool) -> None:
    """Set the parameters of the pull phase, which needs buckets that grow.

    Buckets are as wide as Δ once the densest part has been relaxed: then a pull, which looks at all
    vertices, takes longer than what it saves, wherever arcs lead.
    """
    arcs, work = graph.arc_count, buffers.work
    work["pull_from_arcs"] = max(arcs // PULL_SHARE, 1) if graph.has_in_edges and grow else 0
    work["pull_below_width"] = min(graph.terms.pull_below_width, widest, LARGEST_FLOAT)
    work["pull_reach"] = min(widest / PULL_REACH, LARGEST_FLOAT)
    work["mean_degree"] = max(arcs // max(graph.rows, 1), 1)


FILTER_FROM = 1.0
"""Size of distances, in sizes of L2, from which the filter is used. This and the next two are
measured, see docs/what-we-learned.md#distance-filter."""

FILTER_IN_L2, MOST_FOLDED = 1 / 3, 3
"""The part of L2 that the filter may take; and how often a byte is halved, down to a bit."""

FILTER_LEVELS = 32.0
"""Number of levels that are as wide as the widest bucket."""

LARGEST_FLOAT = 1e38
"""Largest value that kernels take as a float."""


def set_filter(graph: DeviceGraph, buffers: SolveBuffers, widest: float, *, grow: bool) -> None:
    """Let kernels use the filter if it pays and there is room for it."""
    own, l2_bytes = graph.share.own_count, graph.gpu.l2_bytes
    large = own * graph.type.itemsize > FILTER_FROM * l2_bytes
    # a head in the halo, which is not in the filter, is only there in buckets that are alike
    filtered = grow and large and graph.halo == 0
    fold, work = fold_of(own, l2_bytes), buffers.work
    filtered = filtered and buffers.have_room_for({"filter": ((own >> fold) + 1, np.uint8)})
    work["filter"], work["levels"], work["fold"] = 0, 0, fold
    if filtered:
        work["filter"] = buffers.arrays["filter"].data.ptr
        work["levels"] = min(FILTER_LEVELS / widest, LARGEST_FLOAT)


def fold_of(own: int, l2_bytes: int) -> int:
    """Return how often the byte is halved, so that the levels of ``own`` vertices fit in L2."""
    fitting = (fold for fold in range(MOST_FOLDED) if own >> fold <= FILTER_IN_L2 * l2_bytes)
    return next(fitting, MOST_FOLDED)
