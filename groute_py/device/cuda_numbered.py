"""Vertices that have other numbers in kernels than in the share: those with most arcs come first.

Where a rank alone pulls (kernels/outer.cuh) each vertex is looked up about once. Those that are
looked up most often lie side by side then: in L2, and in few of its lines.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda_ascending import ascending, sort_bytes
from groute_py.device.cuda_crossing import to_host
from groute_py.device.cuda_loaded import Loaded
from groute_py.device.memory import SPARE_BYTES, capacity, recording_arrays, size_of, work_bytes

ANSWER_BYTES = 12
"""What an answer takes of each vertex, while it is put in the order of the share."""

VISITED_AT_ONCE = 1 << 20
"""Rows for which there is a warp each where all rows are visited."""


class Numbered(Loaded):
    """A GPU that may number vertices by degree."""

    _order: Any
    _places: Any
    _numbers: NDArray[np.uint32] | None
    """Where vertices have other numbers in kernels: the vertex of each, the number of each vertex
    (uint32, shape (n,)), and the latter on the host."""

    def let_go(self) -> None:
        super().let_go()
        self._order, self._places, self._numbers = None, None, None

    def _number_by_degree(self) -> None:
        """Give those with most arcs the lowest numbers, if arcs are to be pulled and fit twice."""
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

    def _spare(self) -> int:
        """Bytes that are left beside what comes after; less than 0 if it will not all fit."""
        return self.room() - self._worked_on_bytes() - SPARE_BYTES

    def _worked_on_bytes(self) -> int:
        """What comes after: the arrays to work on, and those to record in."""
        arcs, ranks, entries = len(self._graph["arcs"]), self._terms.ranks, capacity(self._rows)
        work = work_bytes(self._rows, self._halo, arcs, ranks, self._type, entries)
        recording = recording_arrays(entries, self._share.own_count, self._type)
        return work + size_of(recording) + self._inbox_bytes

    def _visit_rows(self, kernel: str, *words: Any) -> None:
        self._run(kernel, 32 * min(self._rows, VISITED_AT_ONCE), self._share_at, *words)
