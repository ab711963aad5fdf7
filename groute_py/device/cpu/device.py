"""The device of a machine without a GPU: one core a rank, kernels in Numba."""

from __future__ import annotations

import platform
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, host_memory
from groute_py.comm.team import Team
from groute_py.device.base import (
    NO_PARENT,
    Buckets,
    Counters,
    Linked,
    Terms,
    alike,
    bound_within,
    unreached,
    within,
)
from groute_py.device.delta_control import DeltaControl, threshold_after
from groute_py.kernels.cpu import claim, near_far, outbox
from groute_py.partition.share import Share
from groute_py.results.result import public_distances

SLICE_ARCS = 1 << 14
"""Arcs a rank with peers relaxes (about 0.3 ms) before it looks at its messages."""

SLICE_ARCS_ALONE = 1 << 22
"""Without peers a slice only has to end soon enough to handle signals."""


class CpuDevice:
    """See `groute_py.device.base.Device` for the verbs."""

    name = "cpu"
    uuid: str | None = None
    _warmed_up: ClassVar[set[np.dtype[Any]]] = set()

    def __init__(self) -> None:
        self.label = platform.processor() or platform.machine()
        self.counters = Counters()

    def warm_up(self, terms: Terms) -> None:
        distance_type = terms.distance_type
        if distance_type in self._warmed_up:
            return  # in this process; for small graphs it costs more than the solve
        small = CpuDevice()
        small.load(_two_vertices(distance_type), terms._replace(ranks=2))
        for record, monotone in ((True, True), (False, True), (False, False)):
            small.start(0, alike(1.0), np.inf, record=record)
            small.relax(np.inf)
            for _, message in small.outgoing():
                small.merge(message)
            small.start_claims(monotone)
            small.claim()
            for _, message in small.outgoing_claims():
                small.merge_claims(message)
            small.claim()
        self._warmed_up.add(distance_type)

    def load(self, share: Share, terms: Terms) -> None:
        self._share = share
        self._type = distance_type = terms.distance_type
        self._nothing = unreached(distance_type)
        weights = share.weights.astype(distance_type, copy=False)
        arcs = (share.offsets.view(np.uint64), share.heads.view(np.uint32), weights)
        self._arcs = tuple(_read_only(array) for array in arcs)
        self._slice = SLICE_ARCS_ALONE if terms.ranks == 1 else SLICE_ARCS
        self._distances = np.empty(share.local_count, dtype=distance_type)
        self._flags = np.empty(share.local_count, dtype=np.uint8)
        self._near, self._far = np.empty((2, max(share.own_count, 1)), dtype=np.uint32)
        self._dirty, self._boxes = np.empty((2, len(share.halo)), dtype=np.uint32)
        self._box_counts = np.zeros(terms.ranks, dtype=np.int64)

    def room(self) -> None:
        """The system gives memory as it is written, and knows best."""

    def why_not_linked(self, team: Team) -> str | None:
        return "not every rank has a GPU"

    def link(self, team: Team) -> Linked | str:
        raise NotImplementedError("nothing links ranks on CPUs")

    def unlink(self) -> None:
        """Never linked."""

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        self.counters = Counters()
        self._recording = record
        self._parents = np.full(self._share.local_count if record else 0, NO_PARENT, np.int64)
        self._source = -1 if source is None else source
        self._delta = within(buckets.widest, self._type)
        self._cutoff = bound_within(cutoff, self._type)
        self._distances.fill(self._nothing)
        self._flags.fill(0)
        self._at = np.zeros(near_far.CURSORS, dtype=np.int64)
        self._threshold = np.array([self._delta, 0], dtype=self._type)
        self._delta_control = DeltaControl(len(self._share.heads), self._delta, self._nothing)
        if source is not None:
            self._merge(np.array([source], np.int32), np.zeros(1, self._type))

    def memory(self, size: int) -> Buffer:
        return host_memory(size)

    def merge(self, message: Buffer) -> None:
        count = len(message) // (self._type.itemsize + 4)
        values, vertices = _columns(message, count, self._type, np.dtype(np.int32))
        self._merge(vertices, values)

    def relax(self, limit: float) -> float:
        before = self._at[near_far.RELAXATIONS]
        floor = near_far.relax(
            *self._arcs,
            *(self._distances, self._parents, self._recording, self._flags),
            *(self._near, self._far, self._dirty, self._at),
            *(self._threshold, self._delta, limit, self._cutoff, self._nothing, self._slice),
        )
        if floor != self._nothing:
            self._narrow_slow_bucket()
        self._count(worked=bool(self._at[near_far.RELAXATIONS] > before))
        return np.inf if floor == self._nothing else float(floor)

    def bucket_width(self) -> float:
        return float("inf") if self._delta == self._nothing else float(self._delta)

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return self._emptied(self._at, near_far.DIRTY_COUNT, with_parents=False)

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        greatest = self._distances[vertices].max()
        return np.inf if greatest == self._nothing else greatest.item()

    def forget_beyond(self, bound: float) -> None:
        self._distances[self._distances > bound_within(bound, self._type)] = self._nothing

    def start_claims(self, monotone: bool) -> bool:
        if self._recording:
            self._parents[self._distances == self._nothing] = NO_PARENT  # some may be forgotten
        else:
            self._parents = np.full(self._share.local_count, NO_PARENT, dtype=np.int64)
        self._flags.fill(0)
        self._claimed = self._near[: self._share.own_count]
        self._claim_at = np.zeros(claim.CLAIM_CURSORS, dtype=np.int64)
        self._rising_left = monotone and not self._recording
        self._onward = not monotone and not self._recording
        if self._onward:
            self._queue_claimed()
        return self._recording

    def merge_claims(self, message: Buffer) -> None:
        count = len(message) // (8 + self._type.itemsize + 4)
        types = (np.dtype(np.int64), self._type, np.dtype(np.int32))
        tails, values, vertices = _columns(message, count, *types)
        claim.merge_claims(
            *(vertices, values, tails, self._distances, self._parents, self._flags),
            *(self._claimed, self._claim_at, self._source, self._onward),
        )

    def claim(self) -> bool:
        state = (self._distances, self._parents, self._flags)
        tail = (self._dirty, self._claim_at, self._share.first)
        if self._rising_left:
            self._rising_left = False
            self._onward = claim.claim_rising(*self._arcs, *state, *tail, self._nothing)
            if self._onward:
                self._queue_claimed()
        elif self._onward:
            numbers = (self._nothing, self._source, self._slice)
            claim.claim_onward(*self._arcs, *state, self._claimed, *tail, *numbers)
        left = self._claim_at[claim.CLAIMED_COUNT] - self._claim_at[claim.CLAIM_HEAD]
        return bool(self._onward and left > 0)

    def outgoing_claims(self) -> list[tuple[int, Buffer]]:
        return self._emptied(self._claim_at, claim.CLAIM_DIRTY, with_parents=True)

    def arcs_reached(self) -> int:
        reached = self._distances[: self._share.own_count] != self._nothing
        return int(np.diff(self._share.offsets)[reached].sum())

    def held(self, *, predecessors: bool) -> tuple[Any, Any]:
        return public_distances(self.distances()), self.predecessors() if predecessors else None

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        self._distances[: self._share.own_count] = distances
        self._parents = parents.copy()

    def distances(self) -> NDArray[Any]:
        return self._distances[: self._share.own_count].copy()

    def predecessors(self) -> NDArray[np.int64]:
        return self._parents[: self._share.own_count].copy()

    def _narrow_slow_bucket(self) -> None:
        delta = self._delta_control.narrower(
            int(self._at[near_far.BUCKETS]), int(self._at[near_far.RELAXATIONS])
        )
        if delta is None:
            return
        self._delta = delta
        self._threshold[0] = threshold_after(self._threshold[1], delta, self._nothing)
        lists = (self._near, self._far, self._at)
        near_far.narrow(self._distances, self._flags, *lists, self._threshold[0])

    def _merge(self, vertices: NDArray[np.int32], values: NDArray[Any]) -> None:
        near_far.merge(
            *(vertices, values, self._distances, self._flags),
            *(self._near, self._far, self._at, self._threshold),
        )

    def _queue_claimed(self) -> None:
        claim.queue_claimed(self._parents, self._source, self._claimed, self._flags, self._claim_at)

    def _emptied(
        self, at: NDArray[np.int64], dirty_count: int, *, with_parents: bool
    ) -> list[tuple[int, Buffer]]:
        if at[dirty_count] == 0:
            return []
        starts, own = self._share.halo_starts, self._share.own_count
        outbox.group_by_owner(
            *(self._dirty, at[dirty_count], own, starts, self._flags),
            *(self._boxes, self._box_counts),
        )
        at[dirty_count] = 0
        messages = []
        for peer in np.flatnonzero(self._box_counts):
            halo = self._boxes[starts[peer] : starts[peer] + self._box_counts[peer]]
            columns: list[NDArray[Any]] = [self._distances[own + halo], self._share.halo_home[halo]]
            if with_parents:
                columns.insert(0, self._parents[own + halo])
            messages.append((int(peer), np.concatenate([c.view(np.uint8) for c in columns])))
        return messages

    def _count(self, *, worked: bool) -> None:
        self.counters.relaxations = int(self._at[near_far.RELAXATIONS])
        self.counters.steps = int(self._at[near_far.BUCKETS])
        self.counters.slices += worked
        self.counters.overflowed = bool(self._at[near_far.OVERFLOWED])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that Numba always sees as the same type, wherever the array came from."""
    view = array.view()
    view.flags.writeable = False
    return view


def _two_vertices(distance_type: np.dtype[Any]) -> Share:
    """A share with one owned vertex and an arc to a remote one."""
    return Share(
        first=0,
        own_count=1,
        offsets=np.array([0, 1]),
        heads=np.array([1], np.int32),
        weights=np.ones(1, distance_type),
        halo=np.array([1]),
        halo_starts=np.array([0, 0, 1]),
        halo_home=np.zeros(1, np.int32),
    )


def _columns(message: Buffer, count: int, *types: np.dtype[Any]) -> list[NDArray[Any]]:
    columns, start = [], 0
    for dtype in types:
        stop = start + count * dtype.itemsize
        columns.append(message[start:stop].view(dtype))
        start = stop
    return columns
