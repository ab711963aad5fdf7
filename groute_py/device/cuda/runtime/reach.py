"""The vertices within a bound of rows of distances: the kernels of ``multi_source/reach.cu``."""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.transfer import converted_on_host
from groute_py.kernels.source import SUMMARY
from groute_py.results.distances import public_type, put_public

REACH_BLOCK, REACH_PART = 256, 4096
"""Threads of a block, and vertices that it takes."""


class RowReaches(NamedTuple):
    """Vertices of r rows in host memory, row after row, ascending in each."""

    counts: NDArray[np.int64]  # (r,)
    vertices: NDArray[np.int64]  # (m,)
    distances: NDArray[Any]  # (m,), of the public type


class CudaReach:
    """The vertices of rows (r, n) up to a bound, as they are counted in the current stream."""

    def __init__(self, rows: Any, bound: Any) -> None:
        count, vertices = rows.shape
        self._kernels = kernels_of(SUMMARY, rows.dtype, 0)
        self._shape = count, -(-vertices // REACH_PART)
        self._rows = rows, np.uint32(vertices), bound
        self._counts = cp.empty(self._shape, np.uint32)
        self._launch("count_within", self._counts)

    def on_host(self) -> RowReaches:
        """List the vertices, and bring them; in the same stream."""
        counts = self._counts.get().astype(np.int64)
        firsts = np.cumsum(counts) - counts.ravel()
        kind, total = self._rows[0].dtype, int(counts.sum())
        vertices, distances = cp.empty(total, np.uint32), cp.empty(total, kind)
        self._launch("list_within", cp.asarray(firsts.astype(np.uint64)), vertices, distances)
        public = public_type(kind)
        return RowReaches(
            counts.sum(axis=1),
            converted_on_host(vertices, np.dtype(np.int64), np.copyto),
            converted_on_host(distances, public, put_public),
        )

    def _launch(self, name: str, *results: Any) -> None:
        self._kernels[name](self._shape[::-1], (REACH_BLOCK,), (*self._rows, *results))
