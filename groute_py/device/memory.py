"""How much memory a share takes on a GPU: one formula, for allocating and for planning.

An *entry* is a distance with a vertex: 8 bytes for 32-bit distances, 16 for wider ones.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from groute_py.kernels.source import PART

LEAST_CAPACITY = 1 << 16
"""Entries of a worklist, however small the share."""

SHORTENING = 16
"""Where memory is short a worklist has as many places as there is room for, at the least so many
times fewer than vertices. What finds none leaves its vertex's bit, or is looked for (far), so
answers are the same."""

FAR_SHARE, FAR_WITH_TAILS = 8, 2
"""A far list has so many times fewer places than a near one, and is used up to so many times fewer
entries than a rank owns vertices: beyond that it is faster to look for them among all
(kernels/split.cuh). With tails it has so many times more places, since
those can not be found again: a vertex may be listed each time that it gets nearer. What does not
fit in the shorter list is only recorded from the longer one, and looked for too."""

SMALLEST_RING = 12
"""Logarithm of the fewest entries that an inbox has for each peer."""

CONTEXT_BYTES = 600 << 20
"""What CUDA itself and the kernels take, beside the share."""

SPARE_BYTES = 64 << 20
"""Left free by worklists that are short: for what is looked up after a solve."""

Shape = tuple[Any, Any]
"""Of an array: its shape and dtype."""


def entry_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of the size of an entry."""
    return np.dtype(np.uint64) if distance_type.itemsize == 4 else np.dtype(np.complex128)


def is_wide(arcs: int) -> bool:
    """Whether offsets into so many arcs take 64 bits: sums of one and a stride must not wrap."""
    return arcs >= 1 << 31


def offset_type(arcs: int) -> type[np.unsignedinteger[Any]]:
    """Of offsets into so many arcs."""
    return np.uint64 if is_wide(arcs) else np.uint32


def work_arrays(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], entries: int
) -> dict[str, Shape]:
    """The arrays that a rank works on beside its graph, by their names in the kernels.

    ``own`` counts the vertices that have a row there, `linked_bytes` tells why; ``entries`` are
    those of a near list.
    """
    entry = entry_type(distance_type)
    return {
        "distance": (own + halo, distance_type),
        "near": ((2, entries), entry),
        "far": ((2, max(entries // FAR_SHARE, 1)), entry),
        "spilled": (own // 32 + 1, np.uint32),
        "dirty": (halo, np.uint32),
        "dirty_bits": (halo // 32 + 1, np.uint32),
        "items": ((2, item_capacity(arcs)), np.complex128),
        "parent": (own + halo, np.int64),
        "claimed": (own, np.uint32),
        "box_distance": (halo, distance_type),
        "box_parent": (halo, np.int64),
        "box_vertex": (halo, np.uint32),
        "box_count": (peers, np.uint32),
    }


def recording_arrays(entries: int, own: int, distance_type: np.dtype[Any]) -> dict[str, Shape]:
    """What is there besides where predecessors are recorded; ``far_recorded`` is far then.

    ``entries`` are those of a near list. Only owned vertices are ever far.
    """
    far = (2, FAR_WITH_TAILS * min(entries, capacity(own)))
    return {
        "near_tail": ((2, entries), np.uint32),
        "far_recorded": (far, entry_type(distance_type)),
        "far_tail": (far, np.uint32),
    }


def size_of(shapes: dict[str, Shape]) -> int:
    """Bytes of arrays."""
    return sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())


def capacity(own: int) -> int:
    """Entries of a worklist that need not be short."""
    return max(own, LEAST_CAPACITY)


def far_few(own: int) -> int:
    """Entries of far up to which it is split by its list, on a rank that owns so many vertices."""
    return max(capacity(own) // FAR_SHARE, 1)


def shortest(own: int) -> int:
    """Entries of a worklist that is as short as can be."""
    return max(own // SHORTENING, LEAST_CAPACITY)


def entries_that_fit(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], free: int
) -> int:
    """Entries of each worklist, where ``free`` bytes are left when the graph is there."""
    most, least = capacity(own), shortest(own)

    def wanted(entries: int) -> int:
        return work_bytes(own, halo, arcs, peers, distance_type, entries) + SPARE_BYTES

    fitting = bisect_right(range(least, most + 1), free, key=wanted)
    return least + max(fitting - 1, 0)


def item_capacity(arcs: int) -> int:
    """Parts of long rows that may wait."""
    return arcs // (PART // 2) + 1024


def ring_entries(told: int) -> int:
    """Entries of an inbox for each peer, a power of two.

    ``told`` is of how many vertices a rank tells a peer at the most. A turn seldom tells of all of
    them, and the peer takes what one tells while the next goes on: see kernels/peers.cuh.
    """
    return 1 << max(told.bit_length(), SMALLEST_RING)


def ring_that_fits(told: int, peers: int, distance_type: np.dtype[Any], free: int) -> int:
    """The same, no longer than there is room for: where a ring is full, a turn shows what it knows.

    It is as long for all ranks of a team, so ``free`` is what the fullest of their GPUs has left;
    0 where not even the smallest fits.
    """
    entry, ring = entry_type(distance_type).itemsize, ring_entries(told)
    while ring >= 1 << SMALLEST_RING and peers * ring * entry + SPARE_BYTES > free:
        ring //= 2
    return ring if ring >= 1 << SMALLEST_RING else 0


def work_bytes(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], entries: int
) -> int:
    """What the arrays take that a rank works on."""
    return size_of(work_arrays(own, halo, arcs, peers, distance_type, entries))


def inbox_bytes(told: int, peers: int, distance_type: np.dtype[Any]) -> int:
    """What the rings of so many peers take; ``told`` as for `ring_entries`."""
    return peers * ring_entries(told) * entry_type(distance_type).itemsize


def message_bytes(halo: int, peers: int, distance_type: np.dtype[Any]) -> int:
    """What messages take that lie on the device: claims on all of the halo, and as many from peers.

    Where there is less they go through the host.
    """
    return 2 * halo * (8 + distance_type.itemsize + 4) if peers > 1 else 0


def gpu_bytes(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], *, short: bool = False
) -> int:
    """What a share takes at the most, while it is uploaded and afterwards.

    With ``short`` its worklists are as short as can be.

    Some things take memory only where it is left: records of predecessors 48 bytes a vertex and 8
    for each that has a row there, hints up to a byte a vertex, ranks that send device memory
    `message_bytes`, and what is prepared to be pulled as much as the arcs and offsets, if arcs do
    not all lead back, 8 bytes a vertex on the way if they do; for other numbers 8 bytes a
    vertex, and as much as arcs and offsets on the way, among peers 4, and 4 for each that has a row
    there.

    >>> gpu_bytes(1 << 20, 0, 1 << 22, 1, np.dtype(np.int32)) >> 20
    76
    """
    graph = graph_bytes(own, halo, arcs, peers, distance_type)
    entries = shortest(own) if short else capacity(own)
    work = work_bytes(own, halo, arcs, peers, distance_type, entries)
    uploading = arcs * (distance_type.itemsize + 4) + 8 * (own + 1)
    return graph + max(work, uploading)


def linked_bytes(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], *, hosts: int
) -> int:
    """What a share takes at the most where so many ranks of a host exchange in the kernel.

    Each has a row for all vertices of all of them then (kernels/peers.cuh), and a halo only where
    there are more hosts. While arcs are dealt out they are there twice, with what is counted for
    it. Parts are taken to be alike, also in the arcs that lead to them. `gpu_bytes` says what takes
    memory only where it is left.
    """
    rows = own * peers
    leading = (1 + 4) * own  # whom a row leads to, and by how many arcs
    dealt = graph_bytes(rows, halo, arcs, peers, distance_type) + leading
    counted = (4 + 8) * peers * (own + 1)
    dealing = graph_bytes(own, halo, arcs, peers, distance_type) + dealt + counted
    outside = halo if hosts > 1 else 0
    work = work_bytes(rows, outside, arcs, peers, distance_type, capacity(rows))
    return max(dealing, dealt + work + inbox_bytes(own, peers, distance_type))


def graph_bytes(rows: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any]) -> int:
    """What offsets and arcs take, and where a halo is at home."""
    offsets = (rows + 1) * np.dtype(offset_type(arcs)).itemsize
    return offsets + arcs * entry_type(distance_type).itemsize + 4 * halo + 4 * (peers + 1)
