"""Renumbering of the owned vertices by falling degree, for the pull phase (kernels/outer.cuh).

The distances that are read most often then lie in few lines of L2. In a team each rank renumbers
the vertices that it owns, before the arcs are redistributed.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.cuda.peer.link import exportable, mapped, unmap
from groute_py.device.cuda.runtime.memory_plan import (
    SPARE_BYTES,
    capacity,
    recording_arrays,
    size_of,
    work_bytes,
)
from groute_py.device.cuda.runtime.sort import ascending, sort_bytes
from groute_py.device.cuda.runtime.transfer import to_host
from groute_py.device.cuda.sssp.buffers import Loaded, if_it_fits, pieces

ANSWER_BYTES = 12
"""Bytes a vertex for reordering an answer to the order of the share."""

VISITED_AT_ONCE = 1 << 20
"""Rows for which there is a warp each where all rows are visited."""

MIXED_AT_ONCE = 1 << 20
"""Of so many vertices that come next in the order of degrees the numbers are mixed. The distances
of the few to which most arcs lead would else lie side by side, which is slower; measured, see
docs/what-we-learned.md#push-and-pull."""

MIXER = 2654435761
"""A prime near 2³² over the golden ratio (Knuth, The Art of Computer Programming, section 6.4)."""


class Numbered(Loaded):
    """A GPU that may number vertices by degree."""

    _order: Any
    _places: Any
    _numbers: NDArray[np.uint32] | None
    """Where vertices have other numbers in kernels: the vertex of each number, among peers of all
    that they own (uint32, shape (vertices,)); the number of each owned vertex, counted from the
    first of them (uint32, shape (own,)); and the latter on the host."""

    def let_go(self) -> None:
        super().let_go()
        self._order, self._places, self._numbers = None, None, None

    def _number_by_degree(self) -> None:
        """Give those with most arcs the lowest numbers, if arcs are to be pulled and fit twice."""
        own, offsets, arcs = self._share.own_count, self._graph["offsets"], self._graph["arcs"]
        moving = arcs.nbytes + offsets.nbytes + 4 * own + sort_bytes(own, 4)
        if not self._terms.pulls or self._spare() < 8 * own + max(moving, ANSWER_BYTES * own):
            return
        numbers = cp.empty(own, np.uint32)
        _number(offsets, numbers)
        order = cp.empty(own, np.uint32)
        order[numbers] = cp.arange(own, dtype=np.uint32)
        starts = cp.zeros(own + 1, self._offset_type)
        cp.cumsum(lengths(offsets)[order], dtype=self._offset_type, out=starts[1:])
        moved = cp.empty(len(arcs), arcs.dtype)
        self._visit_rows("move_rows", order, numbers, starts, moved)
        self._graph |= {"offsets": starts, "arcs": moved}
        self._point_to_share()
        self._order, self._places, self._numbers = order, numbers, to_host(numbers)

    def _number_among(self, channel: Channel, owned: list[int], spare: int) -> None:
        """The same among all ranks, if all have room; arcs stay where they are; collective.

        Args:
            channel: between the ranks.
            owned: how many vertices each owns.
            spare: bytes that are left beside what comes after.
        """
        mine = if_it_fits(lambda: self._own_numbers(owned, spare))
        if not all(channel.gather(mine is not None)):
            return
        assert mine is not None
        numbers, order, renamed = mine
        addresses, begin = mapped(channel, numbers.data.ptr), 0
        with self._stream:
            homes = self._graph["halo_home"]
            for peer, address in enumerate(addresses):
                theirs = numbers if peer == channel.rank else self._copied(address, owned[peer])
                for part in pieces(owned[peer]):
                    vertices = cp.arange(begin + part.start, begin + part.stop, dtype=np.uint32)
                    order[theirs[part] + np.uint32(begin)] = vertices
                first, last = (int(start) for start in self._share.halo_starts[peer : peer + 2])
                for part in pieces(last - first):
                    places = slice(first + part.start, first + part.stop)
                    renamed[places] = theirs[homes[places]]
                begin += owned[peer]
            self._order, self._places, self._numbers = order, numbers, to_host(numbers)
        self._graph["halo_home"] = renamed
        self._share_at["halo_home"] = renamed.data.ptr
        self._stream.synchronize()
        channel.gather(None)  # all have read
        unmap(channel, addresses)

    def _own_numbers(self, owned: list[int], spare: int) -> tuple[Any, Any, Any]:
        """Numbers, which peers may read; and room for what is made of those of all."""
        own, halo = self._share.own_count, len(self._share.halo)
        if spare < 8 * own + 4 * (sum(owned) + max(owned) + halo) + sort_bytes(own, 4):
            raise MemoryError("numbers find no room")
        with self._stream:
            order, renamed = cp.empty(sum(owned), np.uint32), cp.empty(halo, np.int32)
            numbers = exportable(own, np.dtype(np.uint32))
            _number(self._graph["offsets"], numbers)
        self._stream.synchronize()
        cp.get_default_memory_pool().free_all_blocks()  # what sorting has left there
        return numbers, order, renamed

    def _copied(self, address: int, count: int) -> Any:
        """Numbers of a peer."""
        numbers = cp.empty(count, np.uint32)
        words = (numbers.nbytes, runtime.memcpyDefault, self._stream.ptr)
        runtime.memcpyAsync(numbers.data.ptr, address, *words)
        return numbers

    def _by_number(self, values: Any) -> Any:
        """Values of the owned vertices, shape (own,), in the order of their numbers in kernels."""
        if self._places is None:
            return values
        found = cp.empty(len(values), values.dtype)
        for part in pieces(len(values)):
            found[self._places[part]] = values[part]
        return found

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
        """Bytes free beside later allocations; negative if those do not all fit."""
        return self.room() - self._worked_on_bytes() - SPARE_BYTES

    def _worked_on_bytes(self) -> int:
        """Bytes of later allocations: the working arrays and those for records."""
        arcs, ranks, entries = len(self._graph["arcs"]), self._terms.ranks, capacity(self._rows)
        work = work_bytes(self._rows, self._halo, arcs, ranks, self._type, entries)
        recording = recording_arrays(entries, self._share.own_count, self._type)
        return work + size_of(recording) + self._inbox_bytes

    def _visit_rows(self, kernel: str, *words: Any) -> None:
        self._run(kernel, 32 * min(self._rows, VISITED_AT_ONCE), self._share_at, *words)


def lengths(offsets: Any) -> Any:
    """uint32, shape (n,): of rows."""
    return (offsets[1:] - offsets[:-1]).astype(np.uint32)


def _number(offsets: Any, numbers: Any) -> None:
    """Number vertices by falling degree, mixed as `MIXED_AT_ONCE` says.

    Args:
        offsets: shape (n + 1,), where the rows begin and end.
        numbers: uint32, shape (n,); is filled.
    """
    if len(numbers) == 0:
        return
    falling = ascending(~lengths(offsets))
    for part in pieces(len(numbers), MIXED_AT_ONCE):
        count = part.stop - part.start
        mixed = cp.arange(count, dtype=np.uint64) * np.uint64(MIXER) % np.uint64(count)
        numbers[falling[part]] = (mixed + np.uint64(part.start)).astype(np.uint32)
