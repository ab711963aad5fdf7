"""Lengths of the arcs of a hierarchy on a GPU, from weights: ``customization/customize.cu``.

The kernels take the levels of an elimination tree; see ``customization/levels.cuh``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.launch import Kernels, Repeated
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.device.rows import NarrowError
from groute_py.errors import GraphError
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.hierarchy.separators.lengths import Lengths
from groute_py.kernels.source import CUSTOMIZATION

BLOCK, LEVEL_BLOCK = 128, 1024
"""Threads of a block where a level has many, and of the one that takes narrow levels."""


class LevelLaunches:
    """Launches of a kernel, whose first arguments are the bounds of levels and which to take.

    Args:
        kernel: it takes wide levels one by one, and several narrow ones that follow each other.
        bounds: where each level begins, and the end of the last one.
        threads: of an entry of a level.
        most: entries of a narrow level.
        downward: from the roots; otherwise from the deepest level.
    """

    def __init__(
        self, kernel: Any, bounds: list[int], threads: int, most: int, *, downward: bool
    ) -> None:
        self._kernel, self._bounds = kernel, cp.asarray(np.array(bounds, np.uint32))
        spans = _spans([end - begin for begin, end in pairwise(bounds)], most)
        self._launches = []
        for first, last in spans if downward else reversed(spans):
            count = bounds[last] - bounds[first]
            is_wide = last - first == 1 and count > most
            shape = (-(-count * threads // BLOCK), BLOCK) if is_wide else (1, LEVEL_BLOCK)
            self._launches.append((np.uint32(first), np.uint32(last), *shape))

    def __call__(self, *words: Any, rows: int = 1) -> None:
        """Launch in the current stream, by a grid of so many rows of blocks."""
        for first, last, blocks, block in self._launches:
            self._kernel((blocks, rows), (block,), (self._bounds, first, last, *words))


def _spans(counts: list[int], most: int) -> list[tuple[int, int]]:
    """Spans of levels for a launch each: one with more than ``most`` entries, or several others.

    >>> _spans([1, 2, 9, 3], 3)
    [(0, 2), (2, 3), (3, 4)]
    """
    spans: list[tuple[int, int]] = []
    for level, count in enumerate(counts):
        if level and max(count, counts[level - 1]) <= most:
            spans[-1] = spans[-1][0], level + 1
        else:
            spans.append((level, level + 1))
    return spans


TOO_WIDE = 1
"""Bit that kernels report; see kernels/customization/lengths.cuh."""

NARROW_TRIANGLES = 2048
"""Triangles of a level that a block takes as fast as a launch begins."""


class Arcs:
    """The arcs upward and their triangles on the current GPU, as in the hierarchy.

    ``triangles`` are three uint32 arrays: the two arcs from the lowest vertex, and the one over it.
    The ``kernels`` have those of ``customization/customize.cu``.
    """

    def __init__(self, hierarchy: CustomizableHierarchy, kernels: Kernels) -> None:
        self.levels, self.count = hierarchy.levels.tolist(), hierarchy.arc_count
        self.offsets = to_device(hierarchy.offsets, np.uint32)
        self.heads = to_device(hierarchy.heads, np.uint32)
        self.slots = to_device(hierarchy.slots, np.int32)
        self.numbers = to_device(hierarchy.numbers, np.uint32)
        widths = np.diff(hierarchy.offsets)
        starts = np.zeros(hierarchy.vertex_count + 1, np.int64)
        np.cumsum(widths * (widths - 1) // 2, out=starts[1:])
        self._triangle_levels = starts[hierarchy.levels].tolist()
        self.triangles = [cp.empty(max(hierarchy.triangle_count, 1), np.uint32) for _ in range(3)]
        vertices = np.uint32(hierarchy.vertex_count)
        rows = self.offsets, self.heads, to_device(starts, np.uint32)
        kernels.run("list_triangles", 32 * hierarchy.vertex_count, vertices, *rows, *self.triangles)

    @staticmethod
    def bytes_of(hierarchy: CustomizableHierarchy) -> int:
        """Bytes of them and of weights."""
        arcs = 4 * (hierarchy.arc_count + 3 * hierarchy.vertex_count)
        return arcs + 12 * hierarchy.triangle_count + 20 * len(hierarchy.slots)

    def relaxation(self, kernels: Kernels) -> LevelLaunches:
        """Launches of ``relax_levels``, which take the triangles and lengths."""
        bounds = self._triangle_levels
        return LevelLaunches(kernels["relax_levels"], bounds, 1, NARROW_TRIANGLES, downward=False)


class Customizer:
    """Lengths of one type, shape (2 a,): of each arc that up and that down."""

    def __init__(self, arcs: Arcs, kind: Lengths, gpu: GpuContext) -> None:
        self._arcs, self.kind = arcs, kind
        self.kernels = Kernels(kernels_of(CUSTOMIZATION, kind.signed, 0), BLOCK)
        refuse_large(2 * arcs.count * kind.type.itemsize, "lengths of all arcs", gpu)
        self.lengths = cp.empty(max(2 * arcs.count, 1), kind.type)
        self._most, self._flags = gpu.processors * 16 * BLOCK, cp.zeros(1, np.uint32)
        self._relaxation = arcs.relaxation(self.kernels)
        self._relax = Repeated(self._relax_levels)

    def run(self, weights: Any) -> None:
        """Customize for some weights, int64, on the GPU; `NarrowError` if a length does not fit."""
        count, slots = 2 * self._arcs.count, self._arcs.slots
        whole = self.lengths, np.uint64(count), self._flags
        self.kernels.run("begin_lengths", min(count, self._most), *whole)
        few, number = min(len(slots), self._most), np.uint32(len(slots))
        if few:
            self.kernels.run("fold_weights", few, weights, slots, number, self.lengths)
        self._relax()
        if int(self._flags[0]) & TOO_WIDE:
            raise NarrowError

    def _relax_levels(self) -> None:
        self._relaxation(*self._arcs.triangles, self.lengths)
        count = 2 * self._arcs.count
        whole = self.lengths, np.uint64(count), self._flags
        self.kernels.run("check_lengths", min(count, self._most), *whole)


def refuse_large(takes: int, what: str, gpu: GpuContext) -> None:
    """Raise `GraphError` for what takes more bytes than are free."""
    if takes > (free := gpu.room()):
        raise GraphError(
            f"{what} would take {takes:,} bytes of {gpu.label}, and {free:,} are free; "
            "use device='cpu'"
        )


ANCESTOR_BYTES = 24
"""Shared memory of a block for an ancestor, of an origin of trips or of both ends of a pair."""


def refuse_deep(hierarchy: CustomizableHierarchy, gpu: GpuContext) -> None:
    """Raise `GraphError` if a block has no room for the ancestors of a vertex."""
    most = (gpu.shared_bytes - 8) // ANCESTOR_BYTES
    if hierarchy.level_count > most:
        raise GraphError(
            f"the hierarchy has {hierarchy.level_count:,} levels, and {gpu.label} takes at most "
            f"{most:,}; use device='cpu'"
        )
