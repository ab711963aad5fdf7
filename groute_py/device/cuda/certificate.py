"""The certificate of an answer on a GPU, for which graph and answer are uploaded anew.

An arc that was lost on its way to a share, or a distance that was damaged on its way back, would be
missed in what the solve has left on the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.short_memory import if_it_fits, pieces
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.kernels.source import BLOCK, CERTIFICATE
from groute_py.results.statement import Statement
from groute_py.system.clock import phase

ARCS_AT_ONCE = 1 << 25
"""Arcs of the slices in which the graph is uploaded: it need not fit on the GPU."""

MOST_VERTICES = (1 << 32) - 1

NO_ARRAY = np.uint64(0)
"""Null, for a kernel that takes the address of one."""


def proves(gpu: GpuContext, statement: Statement) -> bool:
    """Return True if a statement is proved; False also where kernels or memory do not suffice."""
    if not statement.is_usual or len(statement.distances) > MOST_VERTICES:
        return False
    gpu.use()
    with gpu.stream:
        return bool(if_it_fits(partial(_is_proved, statement)))


def _is_proved(statement: Statement) -> bool:
    """See kernels/certificate/certificate.cu."""
    kind, count = statement.distances.dtype, len(statement.distances)
    with phase("compile"):
        kernels = Kernels(kernels_of(CERTIFICATE, kind, 0), BLOCK)
    distances, parents = to_device(statement.distances, kind), NO_ARRAY
    if statement.predecessors is not None:
        parents = to_device(statement.predecessors, np.int64)
    led, doubt = cp.zeros(count, np.uint8), cp.zeros(1, np.uint32)
    bound = kind.type(statement.bound)
    for arcs in _slices(statement):
        kernels.run("check_arcs", int(arcs[-1]) // 8, *arcs, distances, parents, bound, led, doubt)
    ends = np.uint32(count), np.uint32(statement.source), bound
    kernels.run("check_vertices", count, distances, parents, led, *ends, doubt)
    return int(doubt.get()[0]) == 0


def _slices(statement: Statement) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `check_arcs` for each slice."""
    offsets, heads, weights = statement[:3]
    kind = statement.distances.dtype
    narrow = kind.kind == "i" and np.can_cast(weights.dtype, np.int32)
    weight_type = np.dtype(np.int32) if narrow else kind
    for part in pieces(len(heads), ARCS_AT_ONCE):
        ends = [part.start, part.stop - 1]
        first, last = (np.searchsorted(offsets, ends, side="right") - 1).tolist()
        yield (
            to_device(offsets[first : last + 1], np.int64),
            np.uint32(first),
            np.uint32(last - first + 1),
            to_device(heads[part], np.uint32),
            to_device(weights[part], weight_type),
            np.uint32(weight_type.itemsize),
            np.int64(part.start),
            np.uint32(part.stop - part.start),
        )
