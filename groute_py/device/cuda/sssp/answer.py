"""The answer of a solve: distances and predecessors of the owned vertices."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import bound_within
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.degree_order import DegreeOrder
from groute_py.device.cuda.runtime.reach import CudaReach
from groute_py.device.cuda.runtime.transfer import converted_on_host, to_host
from groute_py.device.cuda.sssp.buffers import SolveBuffers
from groute_py.results.distances import public_distances, put_public


class Answer:
    """Reads and changes the answer; see `groute_py.device.base.Device` for the verbs."""

    def __init__(
        self, graph: DeviceGraph, order: DegreeOrder | None, buffers: SolveBuffers
    ) -> None:
        self._graph, self._order, self._buffers = graph, order, buffers
        self._stream = graph.gpu.stream

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
        graph = self._graph
        with self._stream:
            arcs = cp.zeros(1, np.uint64)
            state = (graph.struct, self._buffers.work, arcs)
            graph.kernels.run("count_reached", graph.rows // 8, *state)
            return int(arcs.get()[0])

    def held(self, *, predecessors: bool) -> tuple[Any, Any]:
        with self._stream:
            distances = _own(public_distances(self._found("distance")))
            parents = _own(self._found("parent")) if predecessors else None
        self._stream.synchronize()
        return distances, parents

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
            distances = self._found("distance")
            if distances.dtype != np.int32:
                return to_host(distances)
            return converted_on_host(distances, np.dtype(np.int64), put_public)

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


def _own(array: Any) -> Any:
    """The array, or a copy where it is part of another one."""
    return array if array.base is None else array.copy()
