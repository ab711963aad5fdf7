"""Customization on a GPU, and distances by labels: the kernels of ``kernels/customization/``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.cuda.hierarchy.climbs import CudaClimbs
from groute_py.device.cuda.hierarchy.customizer import (
    BLOCK,
    Arcs,
    Customizer,
    refuse_deep,
    refuse_large,
)
from groute_py.device.cuda.hierarchy.labels import CudaLabels, team_for
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.launch import Kernels, Repeated
from groute_py.device.cuda.runtime.transfer import put_on_host, to_device, to_host
from groute_py.device.rows import NarrowError
from groute_py.errors import GraphError, InputError
from groute_py.graph.arrays import on_device
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy
from groute_py.graph.hierarchy.separators.lengths import NARROW, Lengths
from groute_py.kernels.source import CUSTOMIZATION
from groute_py.system.clock import span
from groute_py.system.memory_limits import ANSWERS

SOURCES, TURN_BLOCK, SWEEP_BLOCK = 32, 256, 128
"""Sources of a pack; threads of blocks."""

MOST_PACKS = 8
"""Packs of a batch: then levels of roads fill a GPU."""


class CudaRows:
    """Sweeps of the packs of a batch, in the current stream; kernels report by ``flags``."""

    def __init__(self, arcs: Arcs, customizer: Customizer, packs: int) -> None:
        self._arcs, self._customizer, self._packs = arcs, customizer, packs
        self._vertices = np.uint32(arcs.levels[-1])
        shape = packs, arcs.levels[-1], SOURCES
        self._distances = cp.empty(shape, customizer.kind.type)
        self.flags = cp.zeros(1, np.uint32)
        self._sweep = Repeated(self._sweep_levels)

    def solve(self, sources: Any, rows: Any) -> None:
        """Fill rows (int64, (k, n)) with distances from no more sources than the packs hold."""
        arcs, kernels, count = self._arcs, self._customizer.kernels, np.uint32(len(sources))
        places, size = np.uint64(self._distances.size), np.uint32(sources.itemsize)
        kernels.run("begin_lengths", self._distances.size // 4, self._distances, places, self.flags)
        above = arcs.offsets, arcs.heads, self._customizer.lengths
        words = *above, sources, size, count, self._distances, self.flags
        packs = -(-len(sources) // SOURCES)
        kernels["climb_rows"]((packs,), (32 * SOURCES,), (self._vertices, arcs.numbers, *words))
        self._sweep()
        tiles = -(-int(self._vertices) // 32)
        answer = self._vertices, arcs.numbers, self._distances, count, rows
        kernels["leave_rows"]((tiles, packs), (TURN_BLOCK,), answer)

    def _sweep_levels(self) -> None:
        arcs, kernel = self._arcs, self._customizer.kernels["sweep_rows"]
        for begin, end in zip(arcs.levels[:-1], arcs.levels[1:], strict=True):
            blocks = -(-32 * (end - begin) // SWEEP_BLOCK)
            numbers = np.uint32(begin), np.uint32(end), self._vertices
            above = arcs.offsets, arcs.heads, self._customizer.lengths
            words = *numbers, *above, self._distances, self.flags
            kernel((blocks, self._packs), (SWEEP_BLOCK,), words)


NO_SUCH_VERTEX = 2
"""Bit that kernels report; see kernels/customization/lengths.cuh."""

ROWS_AT_ONCE = 1 << 15
"""Rows of a matrix in one launch: a grid has a row of blocks for each."""

PAIRS_A_LABEL, PAIRS_A_CALL = 1 / 40, 3000
"""Pairs since the last weights, for each vertex, from which labels pay; and how many pairs take as
long as a call costs more without labels. On an H200 labels are filled in the time of 40,000 pairs
of New York (264,000 vertices), 110,000 of the Northwest (1.2 million), 550,000 of 20 copies of it.
"""


class CudaCustomization:
    """A `groute_py.device.customization.Customization` on a GPU, in the current stream."""

    def __init__(self, local: int, channel: Channel, hierarchy: CustomizableHierarchy) -> None:
        self._gpu, self._channel = GpuContext(local), channel
        self.label, self.kind = self._gpu.label, NARROW
        self.weights = cp.zeros(0, np.int64)
        refuse_large(Arcs.bytes_of(hierarchy), "a customizable hierarchy", self._gpu)
        refuse_deep(hierarchy, self._gpu)
        self._arcs = Arcs(hierarchy, Kernels(kernels_of(CUSTOMIZATION, NARROW.signed, 0), BLOCK))
        self._depths = to_device(hierarchy.depths(), np.uint16)
        self._hierarchy = hierarchy
        self._by_kind: dict[np.dtype[Any], Customizer] = {}
        self._climbs: dict[np.dtype[Any], CudaClimbs] = {}
        self._sweeps: dict[tuple[np.dtype[Any], int], CudaRows] = {}
        self._labels: CudaLabels | None = None
        self.shortage = ""
        self._answered, self._enough = 0, PAIRS_A_LABEL * hierarchy.vertex_count  # pairs

    @property
    def shares(self) -> int:
        labels = self._labels_by_weights()
        return 1 if labels is None else labels.team.size

    def share(self, count: int) -> None:
        self._gpu.use()
        pairs = max(self._channel.gather(self._answered)) + count + PAIRS_A_CALL
        if count and pairs >= self._enough:
            has = self._labels is not None and self._labels.kind is self.kind
            if not all(self._channel.gather(has)):
                self._make_labels(pairs)
            if self._labels is not None and any(self._labels.team.gather(self._labels.are_due)):
                self._labels.fill()

    def close(self) -> None:
        labels, self._labels = self._labels, None
        if labels is not None:
            labels.close()

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
        with span("upload"):
            ends = _on_gpu(sources), _on_gpu(targets)
        labels = self._labels_for(len(sources))
        with span("distances"):
            if labels is None:
                distances = self._without_labels(*ends)
            else:
                distances = labels.pairs(*ends)
                self._check(labels.flags)  # which waits
        if on_device(sources) and on_device(targets):
            return distances
        with span("download"):
            return to_host(distances)

    def matrix(self, sources: Any, targets: Any) -> Any:
        self._gpu.use()
        with span("upload"):
            begins, ends = _on_gpu(sources), _on_gpu(targets)
        shape, count = (len(begins), len(ends)), len(begins) * len(ends)
        labels = self._labels_for(count)
        refuse_large(8 * count, "the matrix", self._gpu)
        with span("distances"):
            if labels is not None:
                distances = cp.empty(shape, np.int64)
                for first in range(0, len(begins), ROWS_AT_ONCE):
                    some = slice(first, first + ROWS_AT_ONCE)
                    labels.rows(begins[some], ends, distances[some])
                self._check(labels.flags)
            else:
                distances = self._matrix_without_labels(begins, ends)
        if on_device(sources) and on_device(targets):
            return distances
        with span("download"):
            return to_host(distances.ravel()).reshape(shape)

    def host_lengths(self) -> NDArray[Any]:
        self._gpu.use()
        return to_host(self._customizer(self.kind).lengths)

    def rows(self, sources: Any) -> Any:
        self._gpu.use()
        begins, count = _on_gpu(sources), self._hierarchy.vertex_count
        packs = min(1 << max(-(-len(begins) // SOURCES) - 1, 0).bit_length(), MOST_PACKS)
        stays, step = on_device(sources), SOURCES * packs
        at_once = len(begins) if stays else min(step, len(begins))
        has_sweeps = (self.kind.type, packs) in self._sweeps
        each = 0 if has_sweeps else SOURCES * self.kind.type.itemsize * packs
        refuse_large((each + 8 * at_once) * count, "rows of distances", self._gpu)
        sweeps = self._sweeps_of(packs)
        answer = (cp if stays else ANSWERS).empty((len(begins), count), np.int64)
        rows = answer if stays else cp.empty((at_once, count), np.int64)
        for first in range(0, len(begins), step):
            some = begins[first : first + step]
            part = rows[first : first + step] if stays else rows[: len(some)]
            sweeps.solve(some, part)
            self._check(sweeps.flags)
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
        self.weights, self.kind = weights, kind
        self._answered, self.shortage = 0, ""
        if self._labels is not None:
            self._labels.are_due = True

    def _customizer(self, kind: Lengths) -> Customizer:
        if kind.type not in self._by_kind:
            self._by_kind[kind.type] = Customizer(self._arcs, kind, self._gpu)
        return self._by_kind[kind.type]

    def _sweeps_of(self, packs: int) -> CudaRows:
        """Return sweeps of so many packs by the current lengths."""
        key = self.kind.type, packs
        if key not in self._sweeps:
            self._sweeps[key] = CudaRows(self._arcs, self._customizer(self.kind), packs)
        return self._sweeps[key]

    def _without_labels(self, begins: Any, ends: Any) -> Any:
        """The distances of pairs."""
        if self.kind.type not in self._climbs:
            above = self._arcs, self._depths, self._customizer(self.kind)
            self._climbs[self.kind.type] = CudaClimbs(*above)
        climbs = self._climbs[self.kind.type]
        distances = climbs.pairs(begins, ends)
        self._check(climbs.flags)
        return distances

    def _matrix_without_labels(self, begins: Any, ends: Any) -> Any:
        distances = cp.empty((len(begins), len(ends)), np.int64)
        step = max(self._hierarchy.vertex_count // len(ends), 1)
        for first in range(0, len(begins), step):
            some = begins[first : first + step]
            pairs = cp.repeat(some, len(ends)), cp.tile(ends, len(some))
            rows = self._without_labels(*pairs).reshape(len(some), len(ends))
            distances[first : first + step] = rows
        return distances

    def _labels_for(self, count: int) -> CudaLabels | None:
        """Return the labels by the current weights, if they pay for so many pairs more.

        Where several ranks have them together they are there already, if at all; see `share`.
        """
        if self._channel.size == 1:
            self.share(count)
        self._answered += count + PAIRS_A_CALL
        return self._labels_by_weights()

    def _labels_by_weights(self) -> CudaLabels | None:
        """Return the labels if they are by the current weights."""
        labels = self._labels
        is_right = labels is not None and labels.kind is self.kind and not labels.are_due
        return labels if is_right else None

    def _make_labels(self, pairs: int) -> None:
        """Make labels for so many pairs in the place of others, if there is room; collective."""
        self.close()
        self._enough, self.shortage = PAIRS_A_LABEL * self._hierarchy.vertex_count, ""
        try:
            with collective(self._channel):
                self._labels = self._new_labels()
        except GraphError as problem:  # on all ranks; to try takes as long as many pairs
            self.close()
            self._enough, self.shortage = 2 * pairs, str(problem)

    def _new_labels(self) -> CudaLabels:
        customizer = self._customizer(self.kind)
        team = team_for(self._channel, self._hierarchy, self.kind, self._gpu)
        return CudaLabels(team, self._hierarchy, self._arcs, self._depths, customizer, self._gpu)

    def _check(self, flags: Any) -> None:
        """Raise an error if kernels have reported a wrong vertex, or a length that does not fit."""
        if problem := int(flags[0]):
            flags.fill(0)
            if problem & NO_SUCH_VERTEX:
                raise _no_vertex(self._hierarchy.vertex_count)
            raise NarrowError


def _no_vertex(count: int) -> InputError:
    return InputError(f"a source or target is none of the {count:,} vertices")


def _on_gpu(vertices: Any) -> Any:
    """Vertices on the GPU, in 4 or 8 bytes each; those from the host have been checked."""
    return vertices if on_device(vertices) else to_device(vertices, np.uint32)
