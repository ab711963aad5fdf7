"""Transposed arcs (in-arcs) of a share, for the pull phase (kernels/outer.cuh).

This takes time when a graph is loaded and saves time in each solve: rows are sorted by weight, and
the arcs are transposed. On a symmetric graph the out-arcs serve as in-arcs, and the weight class of
each head is stored beside it (kernels/onward.cuh).
"""

from __future__ import annotations

import secrets
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.graph.degree_order import Numbered
from groute_py.device.cuda.runtime.sort import sort_rows, sorting_bytes
from groute_py.partition.share import Share

SEEDS = 2
"""Sums of 64 bits that have to be 0 of a graph whose arcs all lead back."""

LIGHTEST_BYTES = 8
"""Bytes a vertex while grades are computed: struct Lightest of kernels/onward.cu."""


class Turned(Numbered):
    """A GPU that may have arcs by their heads as well."""

    def _arrange(self, share: Share) -> None:
        if self._terms.mode == "alone":
            self._number_by_degree()
            balance = self._turn(seeds())
            if not balance.any():
                self._grade()

    def _turn(self, drawn: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Arrange the arcs to be pulled, if they are to be and there is room.

        Returns:
            uint64, shape (SEEDS,): what all ranks' are 0 of in sum where as many arcs of each
            weight lead from v to u as from u to v, for all u and v; elsewhere that is as likely as
            to guess 128 bits.
        """
        if not self._terms.pulls:
            return np.ones(SEEDS, np.uint64)
        balance = self._balance(drawn)
        offsets, arcs = self._graph["offsets"], self._graph["arcs"]
        spare = self._spare()
        sorting = sorting_bytes(len(arcs), self._longest_row(offsets), self._type.itemsize)
        if spare < sorting:
            return balance
        back = self._terms.mode == "alone" and not balance.any()
        if not back and spare < max(sorting, self._turning_bytes()) + arcs.nbytes + offsets.nbytes:
            return balance
        sort_rows(offsets, arcs, self._type)
        turned = {"in_offsets": offsets, "in_arcs": arcs} if back else self._turned_round()
        self._graph |= turned
        self._point_to_share()
        return balance

    def _grade(self) -> None:
        """Say beside heads how far arcs lead on, if there is room; all have to lead back."""
        own = self._share.own_count
        if not self._pulls or self._spare() < LIGHTEST_BYTES * own:
            return
        with self._stream:
            lightest = cp.empty(LIGHTEST_BYTES * own, np.uint8)
            self._unit = self._terms.grade_unit
            self._point_to_share()
            self._run("find_lightest", own, self._share_at, lightest)
            self._visit_rows("grade_arcs", lightest)
        self._stream.synchronize()

    def _arranged(self) -> str:
        if not self._terms.pulls:
            return ""
        return ", prepared" if self._pulls else ", without room to prepare"

    @property
    def _pulls(self) -> bool:
        return "in_arcs" in self._graph

    def _longest_row(self, offsets: Any) -> int:
        return int((offsets[1:] - offsets[:-1]).max().get()[()]) if self._rows else 0

    def _balance(self, drawn: NDArray[np.uint64]) -> NDArray[np.uint64]:
        sums = cp.zeros(SEEDS, np.uint64)
        for i, seed in enumerate(drawn):
            self._visit_rows("weigh_turned", seed, sums[i : i + 1])
        return np.asarray(sums.get())

    def _turning_bytes(self) -> int:
        return (4 + 8) * (self._share.own_count + 1)

    def _turned_round(self) -> dict[str, Any]:
        own, arcs = self._share.own_count, self._graph["arcs"]
        counts = cp.zeros(own, np.uint32)
        self._visit_rows("count_turned", counts)
        offsets = cp.zeros(own + 1, self._offset_type)
        cp.cumsum(counts, dtype=self._offset_type, out=offsets[1:])
        del counts  # before more is made
        turned = cp.empty(len(arcs), arcs.dtype)
        self._visit_rows("turn_round", offsets[:-1].astype(np.uint64), turned)
        sort_rows(offsets, turned, self._type)
        return {"in_offsets": offsets, "in_arcs": turned}


def seeds() -> NDArray[np.uint64]:
    """uint64, shape (SEEDS,): drawn anew each time."""
    return np.array([secrets.randbits(64) for _ in range(SEEDS)], np.uint64)
