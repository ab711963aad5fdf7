"""In-edges of a share (transposed arcs), for the pull phase (kernels/sssp/pull_deferred.cuh).

Rows are sorted by weight, and the arcs are transposed. On a symmetric graph the out-arcs serve as
in-arcs, and the weight class of each head is stored beside it (kernels/sssp/min_out_weight.cuh).
"""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.graph.csr import EMPTY_ROW, DeviceGraph, starts_of
from groute_py.device.cuda.runtime.sort import ascending, sort_rows, sorting_bytes
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.errors import InputError
from groute_py.partition.share import Share

MOST_ARCS = 2**31 - 1
"""Number of places and values that CuPy adds up values at."""


class Incoming(NamedTuple):
    """The arcs of a share by their heads; ``arcs`` are their numbers in the share."""

    offsets: Any
    arcs: Any
    tails: Any


def tails_of(share: Share) -> Any:
    """uint32, shape (m,): the row that each arc lies in."""
    count = len(share.heads)
    refuse_too_many(count)
    steps = cp.zeros(count, np.int32)
    starts = to_device(share.offsets, np.int64)[1:-1]
    cp.add.at(steps, starts[starts < count], 1)
    return cp.cumsum(steps, dtype=np.int32).view(np.uint32)


def incoming(share: Share, offset_type: Any) -> Incoming:
    """Turn a share around that has no halo."""
    refuse_too_many(len(share.heads))
    heads = to_device(share.heads, np.int32)
    counts = cp.zeros(share.own_count, offset_type)
    cp.add.at(counts, heads, 1)
    offsets = cp.zeros(share.own_count + 1, offset_type)
    offsets[1:] = cp.cumsum(counts, dtype=offset_type)
    arcs = ascending(heads)
    del heads, counts  # before more is made
    return Incoming(offsets, arcs, tails_of(share)[arcs])


def refuse_too_many(arcs: int) -> None:
    """Raise `InputError` for more than `MOST_ARCS`."""
    if arcs > MOST_ARCS:
        raise InputError(
            f"this method cannot take {arcs:,} arcs on one GPU, only {MOST_ARCS:,}; use "
            "--algorithm delta-stepping, or for bfs more GPUs"
        )


SEEDS = 2
"""Sums of 64 bits that have to be 0 of a graph whose arcs all lead back."""

LIGHTEST_BYTES = 8
"""Bytes a vertex while weight classes are computed: struct Lightest of min_out_weight.cu."""


def add_in_edges(graph: DeviceGraph, drawn: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sort the rows of a graph and add its in-edges, if they are to be pulled and there is room.

    Returns SEEDS sums (uint64) of random hashes, from ``drawn`` `seeds` that all ranks share. Over
    all ranks they sum to 0 if as many arcs of each weight lead from v to u as from u to v, for all
    u and v; elsewhere that is as likely as to guess 128 bits.
    """
    if not graph.terms.pulls:
        return np.ones(SEEDS, np.uint64)
    balance = _balance(graph, drawn)
    offsets, arcs = graph.arrays["offsets"], graph.arrays["arcs"]
    spare = graph.spare()
    sorting = sorting_bytes(len(arcs), _longest_row(graph), graph.type.itemsize)
    if spare < sorting:
        return balance
    back = graph.terms.mode == "alone" and not balance.any()
    if not back and spare < max(sorting, _transposing_bytes(graph)) + arcs.nbytes + offsets.nbytes:
        return balance
    sort_rows(graph.kernels, offsets, arcs, graph.type)
    in_edges = {"in_offsets": offsets, "in_arcs": arcs} if back else _transposed(graph)
    graph.put(**in_edges)
    return balance


def add_weight_classes(graph: DeviceGraph) -> None:
    """Say beside heads how far arcs lead on, if there is room; all have to lead back."""
    own = graph.share.own_count
    if not graph.has_in_edges or graph.spare() < LIGHTEST_BYTES * own:
        return
    with graph.gpu.stream:
        lightest = cp.empty(LIGHTEST_BYTES * own, np.uint8)
        graph.set_unit(graph.terms.weight_class_unit)
        graph.kernels.run("find_lightest", own, graph.struct, lightest)
        graph.visit_rows("store_weight_classes", lightest)
    graph.gpu.stream.synchronize()


def seeds() -> NDArray[np.uint64]:
    """uint64, shape (SEEDS,): drawn anew each time."""
    return np.array([secrets.randbits(64) for _ in range(SEEDS)], np.uint64)


def _longest_row(graph: DeviceGraph) -> int:
    return EMPTY_ROW - int(graph.falling_keys().min()) if graph.rows else 0


def _balance(graph: DeviceGraph, drawn: NDArray[np.uint64]) -> NDArray[np.uint64]:
    sums = cp.zeros(SEEDS, np.uint64)
    for i, seed in enumerate(drawn):
        graph.visit_rows("sum_asymmetry", seed, sums[i : i + 1])
    return np.asarray(sums.get())


def _transposing_bytes(graph: DeviceGraph) -> int:
    return (4 + 8) * (graph.share.own_count + 1)


def _transposed(graph: DeviceGraph) -> dict[str, Any]:
    own, arcs = graph.share.own_count, graph.arrays["arcs"]
    counts = cp.zeros(own, np.uint32)
    graph.visit_rows("count_in_arcs", counts)
    offsets = starts_of(counts, graph.offset_type)
    del counts  # before more is made
    in_arcs = cp.empty(len(arcs), arcs.dtype)
    graph.visit_rows("transpose_arcs", offsets[:-1].copy(), in_arcs)
    sort_rows(graph.kernels, offsets, in_arcs, graph.type)
    return {"in_offsets": offsets, "in_arcs": in_arcs}
