"""Customization, and distances of pairs and matrices by labels, on the cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.comm.shared_memory import shared_memory
from groute_py.device.rows import NarrowError
from groute_py.errors import GraphError
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.hierarchy.separators.labels import LabelShares, depth_minima
from groute_py.graph.hierarchy.separators.lengths import NARROW, Lengths
from groute_py.graph.tails import offsets_of, ranges
from groute_py.kernels.cpu import customization
from groute_py.system.memory_limits import ANSWERS, check_room
from groute_py.system.threads import in_slices

PAIRS_A_LABEL = 1 / 64
"""Pairs since the last weights, for each vertex, from which labels pay: on New York's roads 64 of
them take as long as the ways up the tree from the two ends of one pair."""

LANES = 16
"""Sources of a sweep."""

SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
"""Ends of a run of equal values."""

SLICE, CLIMBS = 1 << 14, 1 << 6
"""Pairs that a thread looks up in one go, and for which it climbs."""


class CpuCustomization:
    """The hierarchy of a graph, customized for one set of weights (int64, (m,)) after another.

    The ranks of the channel, which are of one host, have labels together.
    """

    label, shortage = "cpu", ""

    def __init__(self, channel: Channel, hierarchy: CustomizableHierarchy) -> None:
        self._channel, self._hierarchy = channel, hierarchy
        self._rows, self._triangles = hierarchy.rows, triangles_of(hierarchy)
        self._lower: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None
        self._depths = hierarchy.depths()
        self._by_slot = np.argsort(hierarchy.slots, kind="stable")
        self._slots = hierarchy.slots[self._by_slot]
        self.kind, self.weights = NARROW, np.empty(0, np.int64)
        self._own = self._lengths = np.empty(0, NARROW.type)
        self._labels: Labels | None = None
        self._answered = 0

    def customize(self, weights: NDArray[Any], kind: Lengths) -> None:
        """Take other weights for all arcs; `NarrowError` if a length does not fit."""
        weights = weights.astype(np.int64)  # a copy, since it stays
        own = np.full(2 * self._hierarchy.arc_count, kind.nothing, kind.type)
        customization.fold_weights(self._hierarchy.slots, weights, kind.limit, own)
        lengths = own.copy()
        customization.customize(self._rows, self._triangles, lengths)
        if customization.greatest_length(lengths, kind.nothing) > kind.limit:
            raise NarrowError
        self.weights, self.kind, self._own, self._lengths = weights, kind, own, lengths
        self._labels, self._answered = None, 0

    def change(self, arcs: NDArray[np.int64], weights: NDArray[Any]) -> None:
        """Take other weights for some arcs, each named once; a `NarrowError` changes nothing."""
        hierarchy, kind = self._hierarchy, self.kind
        changed = self.changed(arcs, weights)
        own, lengths = self._own.copy(), self._lengths.copy()
        slots = np.unique(hierarchy.slots[arcs])
        slots = slots[slots >= 0]
        firsts, ends = (self._slots.searchsorted(slots, side) for side in SIDES)
        parallel = self._by_slot[ranges(firsts, ends - firsts)[1]]
        own[slots] = kind.nothing
        customization.fold_weights(hierarchy.slots[parallel], changed[parallel], kind.limit, own)
        dirty = np.zeros(hierarchy.arc_count, np.bool_)
        dirty[slots // 2] = True
        touched = np.zeros(hierarchy.vertex_count, np.bool_)
        touched[hierarchy.offsets.searchsorted(slots // 2, "right") - 1] = True
        marks, lower = (dirty, touched), self._lower_triangles()
        customization.customize_some(marks, self._rows, self._triangles, lower, own, lengths)
        if customization.greatest_length(lengths, kind.nothing) > kind.limit:
            raise NarrowError
        self.weights, self._own, self._lengths = changed, own, lengths
        self._labels, self._answered = None, 0

    def changed(self, arcs: NDArray[np.int64], weights: NDArray[Any]) -> NDArray[np.int64]:
        """The weights of all arcs if some were others."""
        changed = self.weights.copy()
        changed[arcs] = weights
        return changed

    @property
    def shares(self) -> int:
        """Into how many shares the labels are split; 1 if there are none."""
        return 1 if self._labels is None else self._channel.size

    def share(self, count: int) -> None:
        """Have labels on all ranks if they pay for so many pairs more; collective."""
        if self._channel.size > 1:
            ranks = self._channel.gather((self._answered, self._labels is not None))
            self._answered = max(answered for answered, _ in ranks)
            if not all(has for _, has in ranks):
                self._labels = None
            self._want_labels(count)

    def close(self) -> None:
        """Free the labels."""
        self._labels = None

    def pairs(self, sources: Any, targets: Any) -> NDArray[np.int64]:
        """Return distances of pairs, the greatest int64 without a path, or raise `NarrowError`."""
        numbers = self._hierarchy.numbers
        ends = numbers[sources], numbers[targets]
        labels = self._labels_for(len(sources))
        if labels is None:
            return self._climb(*ends)
        distances = ANSWERS.empty(len(sources), np.int64)

        def look(part: slice) -> None:
            distances[part] = labels.between(*(numbers[part] for numbers in ends))

        in_slices(len(sources), SLICE, look)
        return distances

    def matrix(self, sources: Any, targets: Any) -> NDArray[np.int64]:
        """The distances from some vertices to some vertices, shape (k, t); see `pairs`."""
        begins, ends = (self._hierarchy.numbers[some] for some in (sources, targets))
        labels = self._labels_for(len(begins) * len(ends))
        between = self._climb if labels is None else labels.between
        distances = ANSWERS.empty((len(begins), len(ends)), np.int64)

        def look(part: slice) -> None:
            for row in range(part.start, part.stop):
                distances[row] = between(np.full_like(ends, begins[row]), ends)

        in_slices(len(begins), max(SLICE // max(len(ends), 1), 1), look)
        return distances

    def host_lengths(self) -> NDArray[Any]:
        """The lengths of the arcs of the hierarchy."""
        return self._lengths

    def rows(self, sources: Any) -> NDArray[np.int64]:
        """The distances from some vertices to all, shape (k, n); see `pairs`."""
        hierarchy, kind = self._hierarchy, self.kind
        rows = ANSWERS.empty((len(sources), hierarchy.vertex_count), np.int64)

        def sweep(part: slice) -> None:
            begins = hierarchy.numbers[sources[part]]
            reach = np.empty((hierarchy.vertex_count, len(begins)), kind.type)
            customization.sweep_rows(begins, self._rows, self._lengths, kind.nothing, reach)
            limits = kind.nothing, kind.limit
            if customization.leave_rows(hierarchy.numbers, reach, *limits, rows[part]):
                raise NarrowError

        in_slices(len(sources), LANES, sweep)
        return rows

    def _lower_triangles(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        if self._lower is None:
            self._lower = lower_triangles(self._hierarchy, self._triangles)
        return self._lower

    def _climb(self, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> NDArray[np.int64]:
        hierarchy, kind = self._hierarchy, self.kind
        lengths = np.empty(len(sources), kind.type)
        above = self._rows, self._depths, self._lengths
        limits = hierarchy.level_count, kind.limit, kind.nothing

        def climb(part: slice) -> bool:
            some = sources[part], targets[part]
            return bool(customization.climb(*some, *above, limits, lengths[part]))

        if any(in_slices(len(sources), CLIMBS, climb)):
            raise NarrowError
        return as_distances(lengths, kind)

    def _labels_for(self, count: int) -> Labels | None:
        """The labels, if they pay for so many pairs more and there is room for them.

        Where ranks have them together they are there already, if at all; see `share`.
        """
        if self._channel.size == 1:
            self._want_labels(count)
        return self._labels

    def _want_labels(self, count: int) -> None:
        self._answered += count
        if self._labels is None and self._answered >= PAIRS_A_LABEL * self._hierarchy.vertex_count:
            above = self._hierarchy, self._depths, self._lengths, self.kind
            with suppress(GraphError):
                self._labels = Labels(self._channel, *above)


class Labels:
    """The labels of all vertices, both ways; each rank fills a share of them.

    Collective; `NarrowError` on all ranks if a distance does not fit.
    """

    def __init__(
        self,
        channel: Channel,
        hierarchy: CustomizableHierarchy,
        depths: NDArray[np.int32],
        lengths: NDArray[Any],
        kind: Lengths,
    ) -> None:
        self._kind = kind
        with collective(channel):
            shares = LabelShares(hierarchy, channel.size)
            begins = shares.begins(channel.rank)
            self._tree = hierarchy.preorder, depth_minima(hierarchy, np)
        bases = offsets_of(np.array(channel.gather(int(begins[-1]))))
        nbytes = 2 * kind.type.itemsize * int(bases[-1])
        memory = shared_memory(channel, nbytes, f"labels of {hierarchy.vertex_count:,} vertices")
        self._up, self._down = labels = memory.view(kind.type).reshape(2, -1)
        own = slice(*bases[channel.rank : channel.rank + 2])
        arcs = hierarchy.rows, depths, begins, lengths

        def fill(side: int) -> bool:
            share = labels[side, own]
            customization.fill_labels(*arcs, side, kind.nothing, share)
            return bool(customization.greatest_length(share, kind.nothing) > kind.limit)

        with collective(channel), ThreadPoolExecutor(2) as pool:
            self._rows = shares.rows(bases[:-1])
            is_wide = any(pool.map(fill, range(2)))
        if any(channel.gather(is_wide)):
            raise NarrowError

    def between(self, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> NDArray[np.int64]:
        """The distances of pairs of numbers, with the greatest int64 where no path leads."""
        lengths = np.empty(len(sources), self._kind.type)
        labels = self._rows, self._up, self._down
        customization.look_up(sources, targets, self._tree, labels, self._kind.nothing, lengths)
        return as_distances(lengths, self._kind)


def triangles_of(hierarchy: CustomizableHierarchy) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The triangles of a hierarchy, as kernels take them."""
    widths, count = np.diff(hierarchy.offsets), hierarchy.triangle_count
    check_room(4 * count, f"{count:,} triangles of the hierarchy")
    triangles = offsets_of(widths * (widths - 1) // 2), np.empty(count, np.int32)
    customization.list_triangles(hierarchy.rows, triangles)
    return triangles


def lower_triangles(
    hierarchy: CustomizableHierarchy, triangles: tuple[NDArray[np.int64], NDArray[np.int32]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The triangles by their upper arc, as kernels take them."""
    count = hierarchy.triangle_count
    check_room(8 * count, f"{count:,} triangles by their upper arc")
    ends, legs = np.zeros(hierarchy.arc_count + 1, np.int64), np.empty((count, 2), np.int32)
    customization.list_lower(hierarchy.rows, triangles, ends, legs)
    return ends, legs


def as_distances(lengths: NDArray[Any], kind: Lengths) -> NDArray[np.int64]:
    """Lengths as users get distances: int64, the greatest where no path leads."""
    distances = lengths.astype(np.int64)
    distances[lengths >= kind.nothing] = np.iinfo(np.int64).max
    return distances
