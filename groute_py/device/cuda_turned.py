"""The arcs of a share by the vertices that they lead to, for kernels that pull (kernels/outer.cuh).

It takes time when a graph is loaded, and saves some in each solve: rows are put in the order of
their weights, and arcs turned round. Where as many arcs of a weight lead back as lead there, which
is so where edges have no direction, they lie there already, and beside heads it is said how far
arcs lead on (kernels/onward.cuh).
"""

from __future__ import annotations

import secrets
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda_ascending import ascending, sort_bytes, sort_rows, sorting_bytes
from groute_py.device.cuda_crossing import to_host
from groute_py.device.cuda_loaded import Loaded
from groute_py.device.memory import SPARE_BYTES, capacity, recording_arrays, size_of, work_bytes
from groute_py.partition.share import Share

SEEDS = 2
"""Sums of 64 bits that have to be 0 of a graph whose arcs all lead back."""

LIGHTEST_BYTES = 8
"""What is noted of each vertex while arcs are graded."""

ANSWER_BYTES = 12
"""What an answer takes of each vertex, while it is put in the order of the share."""

TURNED_AT_ONCE = 1 << 20
"""Rows for which there is a warp each while arcs are turned round."""


class Turned(Loaded):
    """A GPU that may have arcs by their heads as well."""

    _order: Any
    _places: Any
    _numbers: NDArray[np.uint32] | None
    """Where vertices have other numbers in kernels: the vertex of each, the number of each vertex
    (uint32, shape (n,)), and the latter on the host."""

    def let_go(self) -> None:
        super().let_go()
        self._order, self._places, self._numbers = None, None, None

    def _arrange(self, share: Share) -> None:
        if self._terms.mode == "alone":
            self._number_by_degree()
            balance = self._turn(seeds())
            if not balance.any():
                self._grade()

    def _number_by_degree(self) -> None:
        """Give those with most arcs the lowest numbers, if there is room.

        They are looked up most often, and lie side by side then: in L2, and in few of its lines.
        """
        own, offsets, arcs = self._share.own_count, self._graph["offsets"], self._graph["arcs"]
        moving = arcs.nbytes + offsets.nbytes + 4 * own + sort_bytes(own, 4)
        if not self._terms.pulls or self._spare() < 8 * own + max(moving, ANSWER_BYTES * own):
            return
        degrees = (offsets[1:] - offsets[:-1]).astype(np.uint32)
        order = ascending(~degrees).astype(np.uint32)
        numbers = cp.empty(own, np.uint32)
        numbers[order] = cp.arange(own, dtype=np.uint32)
        starts = cp.zeros(own + 1, self._offset_type)
        cp.cumsum(degrees[order], dtype=self._offset_type, out=starts[1:])
        moved = cp.empty(len(arcs), arcs.dtype)
        self._visit_rows("move_rows", order, numbers, starts, moved)
        self._graph |= {"offsets": starts, "arcs": moved}
        self._point_to_share()
        self._order, self._places, self._numbers = order, numbers, to_host(numbers)

    def _number_of(self, vertices: Any) -> Any:
        return vertices if self._numbers is None else self._numbers[vertices]

    def _answer(self, name: str) -> Any:
        found = super()._answer(name)
        if self._numbers is None:
            return found
        answer = cp.empty(len(found), found.dtype)
        ends = (found, answer, np.uint32(len(found)))
        if name == "parent":
            self._run("bring_parents", len(found), self._places, self._order, *ends)
        else:
            self._run("bring_distances", len(found), self._places, *ends)
        return answer

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

    def _spare(self) -> int:
        return self.room() - self._worked_on_bytes() - SPARE_BYTES

    def _worked_on_bytes(self) -> int:
        """What comes after: the arrays to work on, and those to record in."""
        arcs, ranks, entries = len(self._graph["arcs"]), self._terms.ranks, capacity(self._rows)
        work = work_bytes(self._rows, self._halo, arcs, ranks, self._type, entries)
        recording = recording_arrays(entries, self._share.own_count, self._type)
        return work + size_of(recording) + self._inbox_bytes

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

    def _visit_rows(self, kernel: str, *words: Any) -> None:
        self._run(kernel, 32 * min(self._rows, TURNED_AT_ONCE), self._share_at, *words)


def seeds() -> NDArray[np.uint64]:
    """uint64, shape (SEEDS,): drawn anew each time."""
    return np.array([secrets.randbits(64) for _ in range(SEEDS)], np.uint64)
