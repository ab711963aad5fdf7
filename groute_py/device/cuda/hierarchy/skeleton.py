"""The rest of a graph in contraction: rows with both weights of each pair of neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.base import unreached
from groute_py.device.cuda.graph.csr import starts_of
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.sort import ascending
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.kernels.source import BLOCK, CONTRACTION
from groute_py.kernels.structs import struct

HALF = np.uint64(32)
"""Bits of a vertex in the key of an arc: the tail, then the head."""

MANY_THREADS = 1 << 20
"""Threads of kernels that loop over what there is."""


def contraction_kernels(distance_type: np.dtype[Any]) -> Kernels:
    """The kernels of the program `CONTRACTION`."""
    return Kernels(kernels_of(CONTRACTION, distance_type, 0), BLOCK)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Struct ``Skeleton`` of kernels/layout/hierarchy.cuh, and the arrays it points to."""

    kernels: Kernels  # of `contraction_kernels` for the type of the weights
    offsets: Any  # uint32, (n + 1,)
    heads: Any  # uint32, (m,)
    out: Any  # (m,), of the distance type; one array with ``in_`` if symmetric
    in_: Any
    struct: Any = field(init=False)

    def __post_init__(self) -> None:
        arrays = {"offsets": self.offsets, "heads": self.heads, "out": self.out, "in": self.in_}
        numbers: dict[str, float] = {"count": self.count, "symmetric": self.symmetric}
        layout = struct(CONTRACTION, "Skeleton")
        object.__setattr__(self, "struct", pointed(layout, arrays, numbers))

    @property
    def count(self) -> int:
        """Vertices."""
        return len(self.offsets) - 1

    @property
    def symmetric(self) -> bool:
        """Return True if both directions weigh the same."""
        return self.out is self.in_

    @property
    def mean_degree(self) -> float:
        """Neighbours of a vertex on the mean."""
        return len(self.heads) / max(self.count, 1)

    def tails(self) -> Any:
        """uint32, shape (m,): the tail of each arc."""
        tails = cp.empty(len(self.heads), np.uint32)
        self.kernels.run("list_tails", self.count, self.offsets, np.uint32(self.count), tails)
        return tails

    def pruned(self) -> Skeleton:
        """Without arcs that a path of two arcs stands in for."""
        out = cp.empty_like(self.out)
        in_ = out if self.symmetric else cp.empty_like(out)
        tails, arcs = self.tails(), np.uint32(len(out))
        self.kernels.run("prune", MANY_THREADS, self.struct, tails, arcs, out, in_)
        nothing = unreached(np.dtype(out.dtype))
        is_arc = out != nothing if self.symmetric else (out != nothing) | (in_ != nothing)
        ends = starts_of(is_arc, np.uint32)
        out = out[is_arc]
        return Skeleton(
            self.kernels,
            ends[self.offsets],
            self.heads[is_arc],
            out,
            out if self.symmetric else in_[is_arc],
        )


def joined(kernels: Kernels, count: int, keys: Any, out: Any, in_: Any) -> Skeleton:
    """The skeleton of arcs with ``keys`` (uint64: tail and head), the lightest of parallel ones."""
    symmetric = out is in_
    order = ascending(keys)
    keys, out = keys[order], out[order]
    in_ = out if symmetric else in_[order]
    del order
    first, least_out = cp.empty(len(keys), np.uint8), cp.empty_like(out)
    least_in = least_out if symmetric else cp.empty_like(out)
    words = keys, np.uint32(len(keys)), out, in_, first, least_out, least_in
    kernels.run("join_parallel", MANY_THREADS, *words)
    is_first = first.view(bool)
    keys, out = keys[is_first], least_out[is_first]
    in_ = out if symmetric else least_in[is_first]
    offsets = cp.empty(count + 1, np.uint32)
    arcs = np.uint32(len(keys))
    kernels.run("begin_rows", MANY_THREADS, keys, arcs, np.uint32(count), offsets)
    return Skeleton(kernels, offsets, keys.astype(np.uint32), out, in_)


def skeleton_of(offsets: Any, heads: Any, weights: Any, distance_type: np.dtype[Any]) -> Skeleton:
    """The skeleton of a graph, without loops; ``distance_type`` is int32 or int64."""
    kernels, count = contraction_kernels(distance_type), len(offsets) - 1
    tails = cp.empty(len(heads), np.uint32)
    kernels.run("list_tails", count, offsets.astype(np.uint32), np.uint32(count), tails)
    heads, weights = heads.astype(np.uint32), weights.astype(distance_type)
    proper = tails != heads
    tails, heads, weights = tails[proper], heads[proper], weights[proper]
    keys = cp.concatenate([_keys(tails, heads), _keys(heads, tails)])
    nothing = cp.full(len(weights), unreached(distance_type), distance_type)
    out, in_ = cp.concatenate([weights, nothing]), cp.concatenate([nothing, weights])
    del tails, heads, weights, nothing
    skeleton = joined(kernels, count, keys, out, in_)
    if bool((skeleton.out == skeleton.in_).all()):
        return Skeleton(kernels, skeleton.offsets, skeleton.heads, skeleton.out, skeleton.out)
    return skeleton


def _keys(tails: Any, heads: Any) -> Any:
    return tails.astype(np.uint64) << HALF | heads
