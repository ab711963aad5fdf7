"""A share of rows that lie on the GPU of a rank."""

from __future__ import annotations

from itertools import pairwise

import cupy as cp
import numpy as np

from groute_py.device.cuda.graph.csr import starts_of
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.kernels.source import BLOCK, GENERATE
from groute_py.partition.share import Partition, Rows, Share, refuse_beyond_32_bits

MOST_THREADS = 1 << 20
"""Threads of a launch, each of which takes many arcs."""


def share_of(rows: Rows, cut: Partition, part: int) -> Share:
    """Convert rows with int32 heads to a share, in place; see groute_py/partition/share.py."""
    kernels = Kernels(kernels_of(GENERATE, np.dtype(np.int32), 0), BLOCK)
    bounds = [int(bound) for bound in cut.bounds]
    (low, high), arcs = bounds[part : part + 2], len(rows.heads)
    words = np.uint64(arcs), np.uint32(low), np.uint32(high)
    marks = cp.zeros(bounds[-1], np.uint32)
    kernels.run("mark_heads", min(arcs, MOST_THREADS), rows.heads, *words, marks)
    before = starts_of(marks, np.uint32)
    del marks
    starts = np.array([int(before[bound]) for bound in bounds], np.int64)
    refuse_beyond_32_bits(part, cut.part_count, high - low, int(starts[-1]))
    halo, home = cp.empty(int(starts[-1]), np.int64), cp.empty(int(starts[-1]), np.int32)
    for first, last in pairwise(bounds):
        ends = np.uint32(first), np.uint32(last)
        kernels.run("list_halo", last - first, before, *ends, halo, home)
    kernels.run("number_heads", min(arcs, MOST_THREADS), rows.heads, *words, before)
    return Share(low, high - low, rows.offsets, rows.heads, rows.weights, halo, starts, home)
