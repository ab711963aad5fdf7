"""Shortest paths of pairs out of a customized hierarchy, on the cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.hierarchy.separators.lengths import Lengths
from groute_py.graph.tails import all_tails
from groute_py.kernels.cpu import customization, unpacking
from groute_py.system.memory_limits import check_room
from groute_py.system.threads import in_slices, thread_count

FEWEST = 16
"""Paths for which it pays to begin a thread."""


class PathFinder:
    """A hierarchy whose arcs are unpacked; `take` gives it lengths."""

    def __init__(self, hierarchy: CustomizableHierarchy) -> None:
        count, heads = hierarchy.vertex_count, hierarchy.heads
        check_room(40 * (len(heads) + count), "the paths of arcs of the hierarchy")
        self._hierarchy = hierarchy
        self._arrays = hierarchy.depths(), all_tails(hierarchy.offsets, np.int32)
        self._vertices = np.empty(count, np.int64)
        self._vertices[hierarchy.numbers] = np.arange(count)
        self._works = list[tuple[NDArray[np.int32], NDArray[np.int32]]]()  # of each thread

    def take(self, weights: NDArray[np.int64], lengths: NDArray[Any], kind: Lengths) -> None:
        """Take the weights of the graph's arcs, and the customized lengths for them."""
        own = np.full(2 * self._hierarchy.arc_count, kind.nothing, kind.type)
        customization.fold_weights(self._hierarchy.slots, weights, kind.limit, own)
        is_own = (own == lengths) & (lengths < kind.nothing)
        hops = np.where(is_own, 1, unpacking.UNKNOWN).astype(np.int32)
        self._legs = np.full((len(own), 2), -1, np.int32)
        unpacking.choose_legs(self._hierarchy.rows, lengths, hops, self._legs)
        self._lengths, self._kind = lengths, kind

    def paths(self, sources: NDArray[Any], targets: NDArray[Any]) -> list[NDArray[np.int64]]:
        """The vertices on a shortest path of each pair; none where no path leads.

        No distance of a pair, nor to an ancestor of its ends, is above the greatest length.
        """
        hierarchy, levels = self._hierarchy, self._hierarchy.level_count
        count, length = len(sources), max(-(-len(sources) // thread_count()), FEWEST)
        for _ in range(len(self._works), -(-count // length)):
            check_room(8 * hierarchy.vertex_count, "the search for a path")
            path = np.empty(hierarchy.vertex_count, np.int32)
            self._works.append((np.full_like(path, -1), path))
        how = hierarchy.rows, self._arrays, self._legs, self._lengths, self._kind.nothing

        def find(part: slice) -> list[NDArray[np.int64]]:
            ways = tuple(
                (*np.empty((2, levels), np.int64), np.empty(levels, self._kind.type))
                for _ in range(2)
            )
            work = ways, np.empty(3 * levels, np.int64), *self._works[part.start // length]
            ends = hierarchy.numbers[sources[part]], hierarchy.numbers[targets[part]]
            numbers, stops = unpacking.find_paths(*ends, *how, work)
            return np.split(self._vertices[numbers], stops[:-1])

        return [path for paths in in_slices(count, length, find) for path in paths]
