"""A share in host memory, the working arrays of its solves, their answer, and messages of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, parts_of
from groute_py.device.base import NO_PARENT, Counters, Terms, bound_within, unreached
from groute_py.kernels.cpu import near_far
from groute_py.kernels.cpu.operators import variant
from groute_py.partition.share import Share
from groute_py.system.clock import recorder
from groute_py.system.threads import in_slices

SLICE_ARCS = 1 << 14
"""Arcs a rank with peers relaxes (about 0.3 ms) before it looks at its messages."""

FILLED_AT_ONCE = 1 << 21
"""Numbers that a thread sets, or looks at, in one go."""

SLICE_ARCS_ALONE = 1 << 22
"""Without peers a slice only has to end soon enough to handle signals; but not while a trace is
recorded, which has one value of each counter a slice."""


class SolveBuffers:
    """Arrays that the kernels of `groute_py.kernels.cpu` work on.

    ``near`` and ``far`` are worklists, uint32, (own,); ``distances`` and ``flags`` are of local
    vertices; ``dirty``, ``boxes`` and ``box_counts`` make the outbox. ``at`` has cursors and counts
    (`groute_py.kernels.cpu.near_far`). ``parents`` are global numbers, empty while nothing is
    recorded. Numba sees the arcs, offsets (uint64), heads (uint32) and weights, as read-only.
    ``source`` is −1 on other ranks.
    """

    def __init__(self, share: Share, terms: Terms) -> None:
        self.share, self.type = share, terms.distance_type
        self._operator = "" if terms.operator is None else terms.operator.python
        self.unreached = unreached(self.type)
        weights = share.weights.astype(self.type, copy=False)
        arcs = (share.offsets.view(np.uint64), share.heads.view(np.uint32), weights)
        self.arcs = tuple(read_only(array) for array in arcs)
        has_long_slices = terms.ranks == 1 and recorder() is None
        self.slice_arcs = SLICE_ARCS_ALONE if has_long_slices else SLICE_ARCS
        self.distances = np.empty(share.local_count, dtype=self.type)
        self.flags = np.empty(share.local_count, dtype=np.uint8)
        self.near, self.far = np.empty((2, max(share.own_count, 1)), dtype=np.uint32)
        self.dirty, self.boxes = np.empty((2, len(share.halo)), dtype=np.uint32)
        self.box_counts = np.zeros(terms.ranks, dtype=np.int64)
        self._places = np.empty(0, dtype=np.int64)  # of predecessors, for the next solve too

    def variant(self, kernel: Any) -> Any:
        """Return a kernel as the operator of the graph has it."""
        return variant(kernel, self._operator)

    def begin(self, source: int, cutoff: float, *, record: bool) -> None:
        """Make all vertices unreached, and the worklists empty."""
        self.recording = record
        self.have_parents(self.share.local_count if record else 0)
        self.source = source
        self.cutoff = bound_within(cutoff, self.type)
        filled(self.distances, self.unreached)
        filled(self.flags, 0)
        self.at = np.zeros(near_far.CURSORS, dtype=np.int64)

    def have_parents(self, count: int) -> None:
        """Make room for so many predecessors, none of which is known."""
        if len(self._places) < count:
            self._places = np.empty(count, dtype=np.int64)
        self.parents = self._places[:count]
        filled(self.parents, NO_PARENT)

    def replace_arcs(self, heads: NDArray[Any], weights: NDArray[Any]) -> None:
        """Take the arcs in another order; each row has the same ones."""
        self.arcs = (self.arcs[0], read_only(heads), read_only(weights))

    def count(self, counters: Counters, *, relaxed_before: int) -> None:
        """Count what kernels have done since the solve began."""
        relaxations = int(self.at[near_far.RELAXATIONS])
        counters.relaxations = relaxations
        counters.steps = int(self.at[near_far.BUCKETS])
        counters.slices += relaxations > relaxed_before
        counters.overflowed = bool(self.at[near_far.OVERFLOWED])
        counters.worklists = int(self.at[near_far.NEAR_COUNT]), int(self.at[near_far.FAR_COUNT])

    @property
    def lists(self) -> near_far.Worklists:
        """The worklists of near–far relaxation."""
        return near_far.Worklists(self.flags, self.near, self.far, self.dirty, self.at)

    def bounds(self, limit: float) -> tuple[Any, ...]:
        """The bounds of a slice, as solvers unpack them."""
        return limit, self.cutoff, self.unreached, self.slice_arcs

    @property
    def relaxations(self) -> int:
        """Relaxations of this solve so far."""
        return int(self.at[near_far.RELAXATIONS])

    @property
    def own_distances(self) -> NDArray[Any]:
        """The distances of owned vertices."""
        return self.distances[: self.share.own_count]

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        greatest = self.distances[vertices].max()
        return np.inf if greatest == self.unreached else greatest.item()

    def forget_beyond(self, bound: float) -> None:
        self.distances[self.distances > bound_within(bound, self.type)] = self.unreached

    def arcs_reached(self) -> int:
        own, offsets = self.own_distances, self.share.offsets

        def count(some: slice) -> int:
            ends = offsets[some.start : some.stop + 1]
            reached = own[some] != self.unreached
            return int(ends[-1] - ends[0] if reached.all() else np.diff(ends)[reached].sum())

        return sum(in_slices(len(own), FILLED_AT_ONCE, count))

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        self.own_distances[:], self.parents = distances, parents.copy()


def filled(array: NDArray[Any], value: Any) -> None:
    """Set all numbers, by several threads if they are many."""
    in_slices(len(array), FILLED_AT_ONCE, lambda some: array[some].fill(value))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that Numba always sees as the same type, wherever the array came from."""
    view = array.view()
    view.flags.writeable = False
    return view


def messages_of(
    buffers: SolveBuffers, at: NDArray[np.int64], dirty_count: int, *, with_parents: bool
) -> list[tuple[int, Buffer]]:
    """Make a message for each owner of dirty halo vertices, of which ``at`` has the count."""
    if at[dirty_count] == 0:
        return []
    share = buffers.share
    starts, own = share.halo_starts, share.own_count
    near_far.group_by_owner(
        *(buffers.dirty, at[dirty_count], own, starts, buffers.flags),
        *(buffers.boxes, buffers.box_counts),
    )
    at[dirty_count] = 0
    entry_bytes = buffers.distances.itemsize + share.halo_home.itemsize
    entry_bytes += buffers.parents.itemsize if with_parents else 0
    messages = []
    for peer in np.flatnonzero(buffers.box_counts):
        filled = buffers.boxes[starts[peer] : starts[peer] + buffers.box_counts[peer]]
        for part in parts_of(len(filled), entry_bytes):
            halo = filled[part]
            columns: list[NDArray[Any]] = [buffers.distances[own + halo], share.halo_home[halo]]
            if with_parents:
                columns.insert(0, buffers.parents[own + halo])
            messages.append((int(peer), np.concatenate([c.view(np.uint8) for c in columns])))
    return messages


def columns_of(message: Buffer, *types: np.dtype[Any]) -> list[NDArray[Any]]:
    """The columns of a message, which have as many entries each."""
    count = len(message) // sum(dtype.itemsize for dtype in types)
    columns, start = [], 0
    for dtype in types:
        stop = start + count * dtype.itemsize
        columns.append(message[start:stop].view(dtype))
        start = stop
    return columns
