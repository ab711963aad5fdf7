"""Labels of a customized hierarchy on a GPU; see `groute_py.graph.hierarchy.separators.labels`."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.hierarchy.customizer import Arcs, Customizer
from groute_py.device.cuda.runtime.launch import Repeated
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.hierarchy.separators.labels import STEP, label_rows, range_minima
from groute_py.graph.hierarchy.separators.lengths import Lengths
from groute_py.kernels.source import CUSTOMIZATION
from groute_py.kernels.structs import struct

PAIR_THREADS, PARTS, PAIR_BLOCK = 8, 32, 256
"""Threads of a pair; entries of a label that a warp computes at once; see labels.cu. Threads of a
block that looks up pairs."""

BLOCKS_A_PROCESSOR = 64


class Tree:
    """The elimination tree, for look-ups: struct ``Tree`` of labels.cu, and its arrays."""

    def __init__(self, hierarchy: CustomizableHierarchy) -> None:
        rows, depths = label_rows(hierarchy), hierarchy.depths().astype(np.uint16)
        self.size = int(rows[-1])
        self.rows, self.depths = to_device(rows[:-1] // STEP, np.uint32), cp.asarray(depths)
        by_preorder = np.empty_like(depths)
        by_preorder[hierarchy.preorder] = depths
        numbers = cp.asarray(hierarchy.numbers)
        self._arrays = {
            "places": cp.asarray(hierarchy.preorder)[numbers].astype(np.uint32),
            "rows": self.rows[numbers],
            "minima": range_minima(cp.asarray(by_preorder), cp),
        }
        vertices = {"vertices": hierarchy.vertex_count}
        self.struct = pointed(struct(CUSTOMIZATION, "Tree"), self._arrays, vertices)


class CudaLabels:
    """The labels of all vertices, both ways; ``are_due`` if lengths have changed since."""

    def __init__(self, tree: Tree, arcs: Arcs, customizer: Customizer, processors: int) -> None:
        self._tree, self._arcs, self._customizer = tree, arcs, customizer
        self._labels = [cp.empty(tree.size, customizer.kind.type) for _ in range(2)]
        self.are_due, self.flags = True, cp.zeros(1, np.uint32)
        self._most_blocks = processors * BLOCKS_A_PROCESSOR
        self._fill = Repeated(self._fill_levels)

    @staticmethod
    def bytes_of(hierarchy: CustomizableHierarchy, kind: Lengths) -> int:
        """Bytes of them and of the tree."""
        count = hierarchy.vertex_count
        tree = count * (2 * max(count.bit_length(), 1) + 18)
        return 2 * kind.type.itemsize * int(label_rows(hierarchy)[-1]) + tree

    def fill(self) -> None:
        """Fill them by the customized lengths."""
        self.flags.fill(0)
        self._fill()

    def pairs(self, sources: Any, targets: Any) -> Any:
        """Return distances (int64) of pairs of vertices that are on the GPU, in 4 or 8 bytes."""
        distances = cp.empty(len(sources), np.int64)
        self._look_up("look_up_pairs", (sources, targets), np.uint64(len(sources)), distances, 1)
        return distances

    def rows(self, sources: Any, targets: Any, distances: Any) -> None:
        """Fill a matrix with the distances from each source to each target."""
        count = np.uint32(len(targets))
        self._look_up("look_up_rows", (sources, targets), count, distances, len(sources))

    def _look_up(self, kernel: str, ends: Any, count: Any, distances: Any, rows: int) -> None:
        blocks = -(-int(count) * PAIR_THREADS // PAIR_BLOCK)
        grid = max(min(blocks, self._most_blocks), 1), rows
        sizes = (np.uint32(end.itemsize) for end in ends)
        words = self._tree.struct, *self._labels, *ends, *sizes, count, distances, self.flags
        self._customizer.kernels[kernel](grid, (PAIR_BLOCK,), words)

    def _fill_levels(self) -> None:
        tree, arcs = self._tree, self._arcs
        arrays = arcs.offsets, arcs.heads, tree.depths, tree.rows, self._customizer.lengths
        for depth, begin in enumerate(arcs.levels[:-1]):
            end = arcs.levels[depth + 1]
            warps = 2 * (end - begin) * (depth // PARTS + 1)
            numbers = np.uint32(begin), np.uint32(end), np.uint32(depth)
            words = *numbers, *arrays, *self._labels, self.flags
            self._customizer.kernels.run("fill_labels", 32 * warps, *words)
