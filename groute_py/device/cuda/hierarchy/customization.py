"""Customization on a GPU, and distances by labels: the kernels of ``kernels/customization/``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.hierarchy.customized_rows import MOST_PACKS, SOURCES, CudaRows
from groute_py.device.cuda.hierarchy.labels import CudaLabels, Tree
from groute_py.device.cuda.hierarchy.level_launches import LevelLaunches
from groute_py.device.cuda.hierarchy.repeated import Repeated
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.transfer import put_on_host, to_device, to_host
from groute_py.device.rows import NarrowError
from groute_py.errors import GraphError, InputError
from groute_py.graph.arrays import on_device
from groute_py.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.hierarchy.separators.lengths import NARROW, Lengths
from groute_py.kernels.source import CUSTOMIZATION
from groute_py.system.memory_limits import ANSWERS

BLOCK = 128
"""Threads of a block."""

TOO_WIDE, NO_SUCH_VERTEX = 1, 2
"""Bits that kernels report; see kernels/customization/lengths.cuh."""

NARROW_TRIANGLES = 2048
"""Triangles of a level that a block takes as fast as a launch begins."""

ROWS_AT_ONCE = 1 << 15
"""Rows of a matrix in one launch: a grid has a row of blocks for each."""


class CudaCustomization:
    """A `groute_py.many.customized.Customization` on a GPU; all work is in the current stream."""

    def __init__(self, local: int, hierarchy: CustomizableHierarchy) -> None:
        self._gpu = GpuContext(local)
        self.label, self.kind = self._gpu.label, NARROW
        self.weights = cp.zeros(0, np.int64)
        refuse_large(Arcs.bytes_of(hierarchy), "a customizable hierarchy", self._gpu)
        self._arcs = Arcs(hierarchy, Kernels(kernels_of(CUSTOMIZATION, NARROW.signed, 0), BLOCK))
        self._tree: Tree | None = None
        self._hierarchy = hierarchy
        self._by_kind: dict[np.dtype[Any], Customizer] = {}
        self._labels: CudaLabels | None = None

    def customize(self, weights: Any, kind: Lengths) -> None:
        self._gpu.use()
        weights = to_device(weights, weights.dtype).astype(np.int64)  # a copy, since it stays
        try:
            self._customizer(kind).run(weights)
        except NarrowError:
            if len(self.weights):
                self._customizer(self.kind).run(self.weights)
            raise
        self._take(weights, kind)

    def change(self, arcs: NDArray[np.int64], weights: Any) -> None:
        self.customize(self.changed(arcs, weights), self.kind)

    def changed(self, arcs: NDArray[np.int64], weights: Any) -> Any:
        self._gpu.use()
        changed = self.weights.copy()
        changed[cp.asarray(arcs)] = cp.asarray(weights)
        return changed

    def pairs(self, sources: Any, targets: Any) -> Any:
        self._gpu.use()
        labels = self._labelled()
        distances = labels.pairs(_on_gpu(sources), _on_gpu(targets))
        self._refuse_vertices(labels)
        return distances if on_device(sources) and on_device(targets) else to_host(distances)

    def matrix(self, sources: Any, targets: Any) -> Any:
        self._gpu.use()
        labels = self._labelled()
        begins, ends = _on_gpu(sources), _on_gpu(targets)
        shape = len(begins), len(ends)
        refuse_large(8 * shape[0] * shape[1], "the matrix", self._gpu)
        distances = cp.empty(shape, np.int64)
        for first in range(0, shape[0], ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            labels.rows(begins[some], ends, distances[some])
        self._refuse_vertices(labels)
        if on_device(sources) and on_device(targets):
            return distances
        return to_host(distances.ravel()).reshape(shape)

    def rows(self, sources: Any) -> Any:
        self._gpu.use()
        begins, count = _on_gpu(sources), self._hierarchy.vertex_count
        packs = 1 if len(begins) <= SOURCES else MOST_PACKS
        stays, step = on_device(sources), SOURCES * packs
        at_once = len(begins) if stays else min(step, len(begins))
        each = SOURCES * self.kind.type.itemsize * packs
        refuse_large((each + 8 * at_once) * count, "rows of distances", self._gpu)
        sweeps = self._customizer(self.kind).sweeps(packs)
        answer = (cp if stays else ANSWERS).empty((len(begins), count), np.int64)
        rows = answer if stays else cp.empty((at_once, count), np.int64)
        for first in range(0, len(begins), step):
            some = begins[first : first + step]
            part = rows[first : first + step] if stays else rows[: len(some)]
            sweeps.solve(some, part)
            flags = int(sweeps.flags[0])
            if flags & NO_SUCH_VERTEX:
                raise _no_vertex(count)
            if flags & TOO_WIDE:
                raise NarrowError
            if not stays:
                host = answer[first : first + step].reshape(-1)
                put_on_host(host, part.ravel(), np.copyto)
        return answer

    def as_weights(self, values: Any) -> Any:
        """An array on the GPU as CuPy's."""
        self._gpu.use()
        return cp.asarray(values)

    def as_vertices(self, ids: Any, role: str, first: int) -> Any:
        """Vertices on the GPU as kernels take them, from ids that begin with ``first``."""
        self._gpu.use()
        vertices = cp.asarray(ids)
        if vertices.dtype.kind not in "iu" or vertices.ndim != 1 or not len(vertices):
            raise InputError(
                f"a {role} of each pair must be an integer in a list of at least one, not "
                f"{vertices.dtype} of shape {vertices.shape}"
            )
        if first or vertices.dtype.itemsize < 4:
            vertices = vertices.astype(np.int64) - first
        return vertices if vertices.flags.c_contiguous else vertices.copy()

    def _take(self, weights: Any, kind: Lengths) -> None:
        self.weights = weights
        if kind is not self.kind:
            self._labels, self.kind = None, kind
        elif self._labels is not None:
            self._labels.are_due = True

    def _customizer(self, kind: Lengths) -> Customizer:
        if kind.type not in self._by_kind:
            self._by_kind[kind.type] = Customizer(self._arcs, kind, self._gpu)
        return self._by_kind[kind.type]

    def _labelled(self) -> CudaLabels:
        """Return the labels by the current weights; `NarrowError` if a distance does not fit."""
        if self._labels is None:
            takes = CudaLabels.bytes_of(self._hierarchy, self.kind)
            refuse_large(takes, "labels of all vertices", self._gpu)
            self._tree = self._tree or Tree(self._hierarchy)
            customizer, processors = self._customizer(self.kind), self._gpu.processors
            self._labels = CudaLabels(self._tree, self._arcs, customizer, processors)
        if self._labels.are_due:
            self._labels.fill()
            if int(self._labels.flags[0]) & TOO_WIDE:
                raise NarrowError
            self._labels.are_due = False
        return self._labels

    def _refuse_vertices(self, labels: CudaLabels) -> None:
        """Raise `InputError` if a kernel met a vertex that is none."""
        if int(labels.flags[0]) & NO_SUCH_VERTEX:
            labels.flags.fill(0)
            raise _no_vertex(self._hierarchy.vertex_count)


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
        self._sweeps: dict[int, CudaRows] = {}

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

    def sweeps(self, packs: int) -> CudaRows:
        """Sweeps of so many packs."""
        if packs not in self._sweeps:
            self._sweeps[packs] = CudaRows(self._arcs, self, packs)
        return self._sweeps[packs]

    def _relax_levels(self) -> None:
        self._relaxation(*self._arcs.triangles, self.lengths)
        count = 2 * self._arcs.count
        whole = self.lengths, np.uint64(count), self._flags
        self.kernels.run("check_lengths", min(count, self._most), *whole)


def _no_vertex(count: int) -> InputError:
    return InputError(f"a source or target is none of the {count:,} vertices")


def refuse_large(takes: int, what: str, gpu: GpuContext) -> None:
    """Raise `GraphError` for what takes more bytes than are free."""
    if takes > (free := gpu.room()):
        raise GraphError(
            f"{what} would take {takes:,} bytes of {gpu.label}, and {free:,} are free; "
            "use device='cpu'"
        )


def _on_gpu(vertices: Any) -> Any:
    """Vertices on the GPU, in 4 or 8 bytes each; those from the host have been checked."""
    return vertices if on_device(vertices) else to_device(vertices, np.uint32)
