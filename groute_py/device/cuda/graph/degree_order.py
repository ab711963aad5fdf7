"""Renumbering of the owned vertices by falling degree, for the pull phase.

The distances that are read most often in kernels/sssp/pull_deferred.cuh then lie in few lines of
L2. In a team each rank renumbers the vertices that it owns, before the arcs are redistributed.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.comm.base import Channel
from groute_py.device.cuda.graph.csr import DeviceGraph, starts_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.ipc import exportable, mapped, unmap
from groute_py.device.cuda.runtime.short_memory import if_it_fits, pieces
from groute_py.device.cuda.runtime.sort import ascending, sort_bytes
from groute_py.device.cuda.runtime.transfer import to_host

ANSWER_BYTES = 12
"""Bytes a vertex for reordering an answer to the order of the share."""

MIXED_AT_ONCE = 1 << 20
"""Number of vertices whose numbers are mixed at once: of so many that come next in the order of
degrees the numbers are mixed. The distances of the few to which most arcs lead would else lie side
by side, which is slower; measured, see docs/what-we-learned.md#push-and-pull."""

MIXER = 2654435761
"""A prime near 2³² over the golden ratio (Knuth, The Art of Computer Programming, section 6.4)."""


class DegreeOrder:
    """The numbers that vertices have in kernels.

    ``vertices`` (uint32, (rows,)) has the vertex of each number, in a team of all its vertices;
    ``numbers`` (uint32, (own,)) that of each owned vertex, from the first of them on.
    """

    def __init__(self, vertices: Any, numbers: Any) -> None:
        self.vertices, self.numbers = vertices, numbers
        self._on_host = to_host(numbers)

    def number_of(self, vertices: Any) -> Any:
        """The numbers of owned vertices, which the host names."""
        return self._on_host[vertices]

    def by_number(self, values: Any) -> Any:
        """Values of the owned vertices, shape (own,), in the order of their numbers."""
        values_by_number = cp.empty(len(values), values.dtype)
        for part in pieces(len(values)):
            values_by_number[self.numbers[part]] = values[part]
        return values_by_number

    def by_vertex(self, graph: DeviceGraph, name: str, by_number: Any) -> Any:
        """Distances, or the array ``parent``, of the owned vertices in the order of the share."""
        answer = cp.empty(len(by_number), by_number.dtype)
        ends = (by_number, answer, np.uint32(len(by_number)))
        run = graph.kernels.run
        if name == "parent":
            run("bring_parents", len(by_number), self.numbers, self.vertices, *ends)
        else:
            run("bring_distances", len(by_number), self.numbers, *ends)
        return answer


def order_by_degree(graph: DeviceGraph) -> DegreeOrder | None:
    """Give those with most arcs the lowest numbers, if arcs are to be pulled and fit twice."""
    own, offsets, arcs = graph.share.own_count, graph.arrays["offsets"], graph.arrays["arcs"]
    moving = arcs.nbytes + offsets.nbytes + 4 * own + sort_bytes(own, 4)
    if not graph.terms.pulls or graph.spare() < 8 * own + max(moving, ANSWER_BYTES * own):
        return None
    numbers, order = cp.empty(own, np.uint32), cp.empty(own, np.uint32)
    _number(graph, numbers, order)
    lengths = cp.empty(own, graph.offset_type)
    graph.kernels.run("list_lengths", own, offsets, order, np.uint32(own), lengths)
    starts = starts_of(lengths, graph.offset_type)
    moved = cp.empty(len(arcs), arcs.dtype)
    graph.visit_rows("move_rows", order, numbers, starts, moved)
    graph.put(offsets=starts, arcs=moved)
    return DegreeOrder(order, numbers)


def order_among_peers(
    channel: Channel, graph: DeviceGraph, owned: list[int], spare: int
) -> DegreeOrder | None:
    """Order among all ranks, if all have room for it beside ``spare`` bytes; collective."""
    mine = if_it_fits(lambda: _own_numbers(graph, owned, spare))
    if not all(channel.gather(mine is not None)):
        return None
    assert mine is not None
    numbers, order, renamed = mine
    addresses, begin = mapped(channel, numbers.data.ptr), 0
    with graph.gpu.stream:
        homes = graph.arrays["halo_home"]
        for peer, address in enumerate(addresses):
            theirs = numbers if peer == channel.rank else _copied(graph.gpu, address, owned[peer])
            for part in pieces(owned[peer]):
                vertices = cp.arange(begin + part.start, begin + part.stop, dtype=np.uint32)
                order[theirs[part] + np.uint32(begin)] = vertices
            first, last = (int(start) for start in graph.share.halo_starts[peer : peer + 2])
            for part in pieces(last - first):
                places = slice(first + part.start, first + part.stop)
                renamed[places] = theirs[homes[places]]
            begin += owned[peer]
        by_degree = DegreeOrder(order, numbers)
    graph.renumber_halo(renamed)
    graph.gpu.stream.synchronize()
    channel.gather(None)  # all have read
    unmap(channel, addresses)
    return by_degree


def _own_numbers(graph: DeviceGraph, owned: list[int], spare: int) -> tuple[Any, Any, Any]:
    """Numbers, which peers may read; and room for what is made of those of all."""
    own, halo = graph.share.own_count, len(graph.share.halo)
    if spare < 8 * own + 4 * (sum(owned) + max(owned) + halo) + sort_bytes(own, 4):
        raise MemoryError("numbers find no room")
    with graph.gpu.stream:
        order, renamed = cp.empty(sum(owned), np.uint32), cp.empty(halo, np.int32)
        numbers = exportable(own, np.dtype(np.uint32))
        _number(graph, numbers, order)  # order: written anew with those of peers
    graph.gpu.stream.synchronize()
    cp.get_default_memory_pool().free_all_blocks()  # what sorting has left there
    return numbers, order, renamed


def _copied(gpu: GpuContext, address: int, count: int) -> Any:
    """Numbers of a peer."""
    numbers = cp.empty(count, np.uint32)
    words = (numbers.nbytes, runtime.memcpyDefault, gpu.stream.ptr)
    runtime.memcpyAsync(numbers.data.ptr, address, *words)
    return numbers


def _number(graph: DeviceGraph, numbers: Any, order: Any) -> None:
    """Number the vertices by falling degree of their rows, mixed as `MIXED_AT_ONCE` says.

    Fills ``numbers`` and their inverse, ``order`` (both uint32).
    """
    falling, count = ascending(graph.falling_keys()), len(numbers)
    words = np.uint32(count), np.uint32(MIXED_AT_ONCE), np.uint32(MIXER), numbers, order
    graph.kernels.run("number_falling", count, falling, *words)
