"""A solve on rank 0 that keeps a tree, for float cycles of weight 0 that sink by rounding.

Relaxation takes every sum that is less for an improvement. Around a cycle of weight 0 float sums
may be less by rounding, lap after lap, and in the end no tree of tight arcs leads to the cycle.
Then rank 0 takes the arcs of all ranks and solves as `groute_py.kernels.cpu.tree_bellman_ford`
says.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import at_root, on_root
from groute_py.comm.base import Channel
from groute_py.errors import GraphError, NegativeCycleError, RunError, too_late
from groute_py.graph.facts import Facts
from groute_py.graph.ids import Numbering
from groute_py.kernels.cpu import tree_bellman_ford as kernel
from groute_py.partition.order import Order
from groute_py.partition.share import Share
from groute_py.results.tolerance import cycle_tolerance, sum_slack
from groute_py.system.memory_limits import check_room

SLICE_ARCS = 1 << 18
"""Arcs relaxed before the clock is read and signals are heard."""


class TreeSolver:
    """Has the whole graph on rank 0; collective, like its method."""

    def __init__(
        self,
        channel: Channel,
        share: Share,
        order: Order,
        numbering: Numbering | None,
        facts: Facts,
    ) -> None:
        self._channel, self._order, self._numbering = channel, order, numbering
        self._facts = facts
        on_root(channel, self._check_room)
        self._counts = channel.gather(share.own_count)
        own = np.arange(share.first, share.first + share.own_count)
        numbers = np.concatenate([own, share.halo])
        columns = (np.diff(share.offsets), numbers[share.heads], share.weights)
        parts = [channel.collect(np.ascontiguousarray(column)) for column in columns]
        self._arcs = at_root(channel, lambda: self._joined(parts))

    def _check_room(self) -> None:
        """Raise `RunError` before rank 0 alone would fail, for which the others would wait."""
        facts = self._facts
        arc_bytes = np.dtype(np.int64).itemsize + facts.weight_type.itemsize
        try:  # as they come, and joined
            check_room(2 * (8 * facts.vertex_count + arc_bytes * facts.arc_count), "its arcs")
        except GraphError as problem:
            raise self._without_room(problem) from problem

    def _joined(self, parts: list[Any]) -> tuple[NDArray[Any], ...]:
        try:
            degrees, heads, weights = (np.concatenate(part) for part in parts)
            return np.concatenate([[0], np.cumsum(degrees)]), heads, weights
        except MemoryError as problem:
            raise self._without_room(problem) from problem

    def _without_room(self, problem: Exception) -> RunError:
        return RunError(
            f"cycles of {self._facts.name} weigh 0 but for rounding, and to solve such a graph "
            f"rank 0 needs room for all of it ({problem}); scale the weights to integers"
        )

    def solve(
        self, source: int | None, types: Sequence[np.dtype[Any]], deadline: float
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return distances and predecessors of this rank's vertices.

        ``source`` is a number in the order of the shares, None on ranks that do not own it; the
        first of ``types``, the narrowest first, that holds all distances is taken.
        """
        root = next(number for number in self._channel.gather(source) if number is not None)
        answer = at_root(self._channel, lambda: self._solved(root, types, deadline))
        cuts = np.cumsum(self._counts)[:-1]
        parts = [None if answer is None else np.split(answer[k], cuts) for k in range(2)]
        distances, parents = map(self._channel.scatter, parts)
        return distances, parents

    def _solved(
        self, root: int, types: Sequence[np.dtype[Any]], deadline: float
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        assert self._arcs is not None
        offsets, heads, weights = self._arcs
        tree = kernel.planted(len(offsets) - 1, root)
        precision = self._facts.precision
        tolerance, slack = cycle_tolerance(precision), sum_slack(precision)
        wide = weights.astype(np.float64, copy=False)
        while tree.at[kernel.COUNT] > 0 and tree.at[kernel.CYCLE_TAIL] < 0:
            if time.monotonic() > deadline:
                raise too_late()
            kernel.relax(offsets, heads, wide, tolerance, slack, tree, SLICE_ARCS)
        if tree.at[kernel.CYCLE_TAIL] >= 0:
            raise self._negative_cycle(tree, heads, wide)
        for kind in () if tree.at[kernel.OVERFLOWED] else types:
            sums = np.full(len(tree.labels), np.inf, kind)
            with np.errstate(over="ignore"):
                kernel.sums_along(weights.astype(kind, copy=False), tree, root, sums)
            if np.array_equal(np.isfinite(sums), tree.in_tree):
                return sums, tree.parents
        raise RunError(
            f"a distance in {self._facts.name} does not fit in {types[-1]}; scale the weights down"
        )

    def _negative_cycle(
        self, tree: kernel.GrowingTree, heads: NDArray[Any], weights: NDArray[np.float64]
    ) -> NegativeCycleError:
        arc, vertices = int(tree.at[kernel.CYCLE_ARC]), [int(tree.at[kernel.CYCLE_TAIL])]
        weights_of_cycle = [weights[arc].item()]
        while vertices[-1] != heads[arc]:
            weights_of_cycle.append(weights[tree.via[vertices[-1]]].item())
            vertices.append(int(tree.parents[vertices[-1]]))
        path = np.array([*vertices[::-1], heads[arc]])
        assert self._numbering is not None
        in_input = self._order.in_input(path)
        ids = self._numbering.ids_of(in_input).tolist()
        return NegativeCycleError(in_input.tolist(), math.fsum(weights_of_cycle), ids=ids)
