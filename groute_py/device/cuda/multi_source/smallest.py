"""The k smallest distances of each vertex: the kernels of ``multi_source/smallest.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.transfer import to_host
from groute_py.device.summary import wide
from groute_py.kernels.source import BLOCK, SUMMARY


class CudaSmallest:
    """Entries (k, n) of the rows so far: distances (`wide`), owners and predecessors (int32)."""

    def __init__(self, count: int, k: int, distances: np.dtype[Any]) -> None:
        self._count, self._k, kind = count, k, wide(distances)
        self._stream = cp.cuda.Stream(non_blocking=True)
        with self._stream:
            nothing = np.inf if kind.kind == "f" else np.iinfo(kind).max
            self._distances = cp.full((k, count), nothing, kind)
            self._owners, self._before = (cp.full((k, count), -1, np.int32) for _ in range(2))

    def take(self, rows: Any, parents: Any, numbers: NDArray[np.int64]) -> None:
        """Take rows (r, n) of some numbers, with their predecessors (int32); waits for the end."""
        with self._stream:
            words = cp.asarray(rows), cp.asarray(parents), cp.asarray(numbers.astype(np.uint32))
            counts = np.uint32(len(numbers)), np.uint32(self._count), np.uint32(self._k)
            self._kernels = Kernels(kernels_of(SUMMARY, np.dtype(rows.dtype), 0), BLOCK)
            smallest = self._distances, self._owners, self._before
            self._kernels.run("keep_smallest", self._count, *words, *counts, *smallest)
        self._stream.synchronize()  # the rows are lent

    def on_host(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]:
        """Return distances, owners and predecessors, each of shape (n, k), after a `take`."""
        with self._stream:
            owners, before = (
                self._turned(numbers, "turn_numbers") for numbers in (self._owners, self._before)
            )
            return self._turned(self._distances, "turn_distances"), owners, before

    def _turned(self, entries: Any, kernel: str) -> NDArray[Any]:
        lines = cp.empty(entries.size, entries.dtype)
        counts = np.uint32(self._count), np.uint32(self._k)
        self._kernels.run(kernel, entries.size, entries, *counts, lines)
        return to_host(lines).reshape(self._count, self._k)
