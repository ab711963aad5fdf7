"""Bellman-Ford by min-plus products on one core: `groute_py.kernels.cpu.pull`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import Terms
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod, least_left
from groute_py.graph.tails import transposed
from groute_py.kernels.choices import refuse_dense, refuse_uneven
from groute_py.kernels.cpu import pull
from groute_py.partition.share import Share

Rounds = Callable[..., None]
"""Takes rounds, given the arguments that all storages have in common."""


class IncomingRows(NamedTuple):
    """The incoming arcs in rows; ``unreached`` is the value where there is no arc."""

    offsets: NDArray[np.uint64]
    tails: NDArray[np.uint32]
    values: NDArray[Any]
    unreached: Any

    @property
    def heads(self) -> NDArray[np.int64]:
        """The head of each arc."""
        degrees = np.diff(self.offsets).astype(np.int64)
        return np.repeat(np.arange(len(degrees)), degrees)


def in_csr(incoming: IncomingRows) -> Rounds:
    """Keep compressed sparse rows as they are."""
    return partial(pull.csr, (incoming.offsets, incoming.tails, incoming.values))


def in_ell(incoming: IncomingRows) -> Rounds:
    """Store equally many slots a vertex."""
    degrees = np.diff(incoming.offsets).astype(np.int64)
    own, width = len(degrees), int(degrees.max(initial=0))
    refuse_uneven(width, own, len(incoming.tails))
    heads = incoming.heads
    slots = np.arange(len(incoming.tails)) - incoming.offsets[heads].astype(np.int64)
    tails = np.zeros((width, own), np.uint32)
    values = np.full((width, own), incoming.unreached, incoming.values.dtype)
    tails[slots, heads], values[slots, heads] = incoming.tails, incoming.values
    return partial(pull.ell, (tails, values))


def in_matrix(incoming: IncomingRows) -> Rounds:
    """Store a matrix."""
    own = len(incoming.offsets) - 1
    refuse_dense(own)
    matrix = np.full((own, own), incoming.unreached, incoming.values.dtype)
    np.minimum.at(matrix, (incoming.heads, incoming.tails), incoming.values)
    return partial(pull.dense, matrix)


STORAGES = {"csr": in_csr, "ell": in_ell, "dense": in_matrix}


class MinPlus(SerialMethod):
    """A core on which every vertex takes the best of its incoming arcs, round by round."""

    def __init__(self, share: Share, terms: Terms, *, storage: str) -> None:
        super().__init__(share, terms)
        buffers = self.buffers
        offsets, tails, values = transposed(share.offsets, share.heads, buffers.arcs[2])
        words = offsets.view(np.uint64), tails.view(np.uint32), values
        rows = IncomingRows(*words, buffers.unreached)
        self._take_rounds = STORAGES[storage](rows)

    def step(self, b: SolveBuffers, limit: float) -> Any:
        self._take_rounds(b.distances, b.at, b.bounds(limit))
        return least_left(b)
