"""The answer of a solve: distances and predecessors of the owned vertices."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import driver
from numpy.typing import NDArray

from groute_py.device.base import Detached, NearVertices, bound_within
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.degree_order import DegreeOrder
from groute_py.device.cuda.runtime.launch import Call
from groute_py.device.cuda.runtime.pinned import begin_copy, empty_pinned
from groute_py.device.cuda.runtime.reach import CudaReach
from groute_py.device.cuda.runtime.short_memory import if_it_fits
from groute_py.device.cuda.runtime.structs import NUMBER, POINTER, SHARE, WORK
from groute_py.device.cuda.runtime.transfer import converted_on_host, to_host
from groute_py.device.cuda.sssp.buffers import SolveBuffers
from groute_py.kernels.source import BLOCK
from groute_py.results.distances import public_type, put_public

NUMBERS = np.dtype([("numbers", POINTER), ("order", POINTER)])
"""Struct ``Numbers`` of kernels/sssp/answer.cu."""

REPORT = np.dtype([("arcs", np.uint64), ("count", NUMBER)], align=True)
"""Struct ``NearReport``; the list of vertices lies behind it."""

STATE: dict[str, Any] = {"share": SHARE, "work": WORK, "by": NUMBERS}
LEAVING = STATE | dict.fromkeys(("distances", "parents", "arcs", "report"), POINTER)
LISTING = STATE | {"has_parents": NUMBER, "near": POINTER, "room": NUMBER, "report": POINTER}
"""Arguments of ``leave_answer`` and ``leave_near``."""

NEAR_SHARE, FEWEST_NEAR, MOST_NEAR = 16, 1 << 12, 1 << 20
"""One of so many vertices, within limits, has room in the list of those that are reached."""


class Answer:
    """Reads and changes the answer; see `groute_py.device.base.Device` for the verbs."""

    def __init__(
        self, graph: DeviceGraph, order: DegreeOrder | None, buffers: SolveBuffers
    ) -> None:
        self._graph, self._order, self._buffers = graph, order, buffers
        self._stream = graph.gpu.stream
        self._public = public_type(graph.type)
        self._by = np.zeros(1, NUMBERS)
        if order is not None:
            self._by["numbers"] = order.numbers.data.ptr
            self._by["order"] = order.vertices.data.ptr
        self._leaving = self._call("leave_answer", LEAVING)
        self._arcs, self._arcs_on_host = cp.zeros(2, np.uint64), empty_pinned(1, np.uint64)
        self._leaving.keep(by=self._by, arcs=self._arcs.data.ptr)
        self._arcs_are_known, self._has_detached = False, False
        self._list: NearList | None = None

    def begin(self) -> None:
        """Before a solve."""
        self._arcs_are_known = False
        if self._has_detached:  # the caller's work may still read memory of a dropped answer
            called = cp.cuda.Event(disable_timing=True)
            called.record(cp.cuda.get_current_stream())
            self._stream.wait_event(called)

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        distances, run = self._buffers.arrays["distance"], self._graph.kernels.run
        numbers = vertices if self._order is None else self._order.number_of(vertices)
        with self._stream:
            values = cp.empty(len(numbers), distances.dtype)
            ends = (cp.asarray(numbers.astype(np.uint32)), np.uint32(len(numbers)), values)
            run("list_distances", len(numbers), distances, *ends)
            greatest = values.get().max()
        return np.inf if greatest == self._graph.unreached else greatest.item()

    def forget_beyond(self, bound: float, *, recorded: bool) -> None:
        """With ``recorded`` also the predecessors."""
        distances, parents = (self._buffers.arrays[name] for name in ("distance", "parent"))
        words = (np.uint32(len(distances)), bound_within(bound, self._graph.type))
        with self._stream:
            state = (distances, parents if recorded else np.uint64(0), *words)
            self._graph.kernels.run("forget_beyond", len(distances), *state)

    def arcs_reached(self) -> int:
        if not self._arcs_are_known:
            with self._stream:
                self._leave(None, None)
        self._stream.synchronize()
        return int(self._arcs_on_host[0])

    def detach(self, *, predecessors: bool) -> Detached:
        self._has_detached = True
        moves = predecessors and self._order is None and self._graph.terms.mode == "alone"
        with self._stream:
            distances = cp.empty(self._graph.share.own_count, self._public)
            parents = cp.empty(len(distances), np.int64) if predecessors and not moves else None
            arcs, done = cp.empty(1, np.uint64), cp.cuda.Event(disable_timing=True)
            self._leave(distances, parents, arcs.data.ptr)
            if moves:
                parents = self._replaced_parents()
            done.record(self._stream)

        def complete(array: Any) -> Any:
            done.synchronize()
            return array

        return Detached(
            lambda: complete(distances),
            None if parents is None else lambda: complete(parents),
            lambda: int(complete(arcs)[0]),
        )

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        # in the share's numbers: with negative weights there are no others
        own = self._graph.share.own_count
        with self._stream:
            self._buffers.arrays["distance"][:own] = cp.asarray(distances)
            self._buffers.arrays["parent"][:own] = cp.asarray(parents)

    def download(self, name: str) -> NDArray[Any]:
        """The array ``distance`` or ``parent`` of the owned vertices, on the host."""
        with self._stream:
            return to_host(self._found(name))

    def public_distances(self) -> NDArray[Any]:
        """Distances of the owned vertices in their public type, on the host."""
        with self._stream:
            wide = if_it_fits(lambda: cp.empty(self._graph.share.own_count, self._public))
            if wide is None:
                return converted_on_host(self._found("distance"), self._public, put_public)
            self._leave(wide, None)
            return to_host(wide)

    def near(self, *, predecessors: bool) -> NearVertices | None:
        own = self._graph.share.own_count
        with self._stream:
            if self._list is None:
                listing = self._call("leave_near", LISTING)
                self._list = if_it_fits(lambda: NearList(listing, own, self._public))
            if self._list is None:
                return None
            struct, work = self._graph.struct, self._buffers.work
            self._list.begin(self._stream, struct, work, self._by, has_parents=predecessors)
            arcs, near = self._list.fetched(self._stream)
        self._arcs_on_host[0], self._arcs_are_known = arcs, True
        return near

    def reach(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The reached owned vertices and their distances, on the host."""
        with self._stream:
            rows = self._found("distance")[np.newaxis]
            _, vertices, distances = CudaReach(rows, self._graph.unreached).on_host()
            return vertices, distances

    def _found(self, name: str) -> Any:
        """Return an array of the owned vertices, in the share's numbers."""
        owned = self._buffers.arrays[name][: self._graph.share.own_count]
        return owned if self._order is None else self._order.by_vertex(self._graph, name, owned)

    def _replaced_parents(self) -> Any:
        """Return the predecessors; the next solve has an array of its own."""
        parents, words = self._buffers.arrays["parent"], self._buffers.work
        others = cp.empty(len(parents), np.int64)
        self._buffers.arrays["parent"], words["parent"] = others, others.data.ptr
        words["record"] = others.data.ptr if words["record"][0] else 0
        return parents

    def _leave(self, distances: Any, parents: Any, report: int = 0) -> None:
        """Fill what is not None, and count arcs, in the stream; the count comes to the host.

        Or to the address ``report``.
        """
        self._leaving.launch(
            self._stream,
            share=self._graph.struct,
            work=self._buffers.work,
            distances=0 if distances is None else distances.data.ptr,
            parents=0 if parents is None else parents.data.ptr,
            report=report or self._arcs_on_host.ctypes.data,
        )
        self._arcs_are_known = not report

    def _call(self, name: str, arguments: dict[str, Any]) -> Call:
        kernel = self._graph.kernels[name].kernel
        blocks = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, BLOCK, 0)
        return Call(kernel, self._graph.gpu.processors * blocks, BLOCK, arguments)


class NearList:
    """The list of reached vertices on the device, and room for it on the host."""

    def __init__(self, listing: Call, own: int, distance_type: np.dtype[Any]) -> None:
        kind = [("distance", distance_type), ("parent", np.int64), ("vertex", NUMBER)]
        self._kind, self._listing = np.dtype(kind, align=True), listing
        self._room = min(max(own // NEAR_SHARE, FEWEST_NEAR), MOST_NEAR)
        self._usual = FEWEST_NEAR  # so many are copied without a look at their count
        self._device = cp.zeros(REPORT.itemsize + self._room * self._kind.itemsize, np.uint8)
        self._host = empty_pinned(self._device.shape, np.uint8)

    def begin(self, stream: Any, share: Any, work: Any, by: Any, *, has_parents: bool) -> None:
        """List the vertices of an answer, in the stream."""
        self._device[: REPORT.itemsize].fill(0)
        self._listing.launch(
            stream,
            share=share,
            work=work,
            by=by,
            has_parents=has_parents,
            near=self._device.data.ptr + REPORT.itemsize,
            room=self._room,
            report=self._device.data.ptr,
        )

    def fetched(self, stream: Any) -> tuple[int, NearVertices | None]:
        """Return the number of arcs, and the vertices; None for too many of them."""
        copied = self._copy(0, self._usual, stream)
        arcs, count = self._host[: REPORT.itemsize].view(REPORT)[0].item()
        if count > self._room:
            return arcs, None
        if count > copied:
            self._copy(copied, count, stream)
        self._usual = min(max(count + count // 4, FEWEST_NEAR), self._room)
        end = REPORT.itemsize + count * self._kind.itemsize
        near = self._host[REPORT.itemsize : end].view(self._kind)
        vertices = near["vertex"].astype(np.int64)
        return arcs, NearVertices(vertices, near["distance"].copy(), near["parent"].copy())

    def _copy(self, first: int, last: int, stream: Any) -> int:
        """Copy the report, and entries of the list, and wait for them; return the last."""
        size = self._kind.itemsize
        begin = REPORT.itemsize + first * size if first else 0
        part = slice(begin, REPORT.itemsize + last * size)
        begin_copy(self._host[part], self._device[part], stream)
        stream.synchronize()
        return last
