"""The memory that a share takes on a GPU: one formula for allocating and for planning.

An *entry* is a distance with a vertex: 8 bytes for 32-bit distances, 16 for wider ones.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from groute_py.kernels.source import ROW_CHUNK

LEAST_CAPACITY = 1 << 16
"""Entries of a worklist, however small the share."""

SHORTENING = 16
"""If memory is short a worklist has as many places as there is room for, at least vertices /
SHORTENING. An entry without a place sets its vertex's spill bit (near), or is found again by a
scan of all vertices (far); the answers are the same."""

FAR_SHARE, FAR_WITH_TAILS = 8, 2
"""A far list has 1 / FAR_SHARE of the places of a near list. It is used up to vertices / FAR_SHARE
entries; beyond that a scan of all owned vertices is faster (kernels/sssp/split_far.cuh). With tails
it has FAR_WITH_TAILS times the places of a near list, because a scan does not find tails again, and
a vertex may be listed each time its distance falls. Entries beyond the short list are then only
recorded from the long one, and a scan finds their vertices."""

SMALLEST_RING = 12
"""Logarithm of the fewest entries that an inbox has for each peer."""

CONTEXT_BYTES = 600 << 20
"""Memory of the CUDA context and the kernels, beside the share."""

SPARE_BYTES = 64 << 20
"""Memory that short worklists leave free, for statistics and answers after a solve."""

Shape = tuple[Any, Any]
"""Shape and dtype of an array."""


def entry_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of the size of an entry."""
    return np.dtype(np.uint64) if distance_type.itemsize == 4 else np.dtype(np.complex128)


def is_wide(arcs: int) -> bool:
    """Return True if offsets into ``arcs`` arcs need 64 bits; offset plus stride must not wrap."""
    return arcs >= 1 << 31


def offset_type(arcs: int) -> type[np.unsignedinteger[Any]]:
    """The dtype of offsets into ``arcs`` arcs."""
    return np.uint64 if is_wide(arcs) else np.uint32


def work_arrays(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], entries: int
) -> dict[str, Shape]:
    """The arrays of a rank beside its graph, by their names in the kernels.

    ``own`` counts the vertices that have a row on the rank (see `linked_bytes`), ``entries`` the
    places of a near list.
    """
    entry = entry_type(distance_type)
    return {
        "distance": (own + halo, distance_type),
        "near": ((2, entries), entry),
        "far": ((2, max(entries // FAR_SHARE, 1)), entry),
        "spilled": (own // 32 + 1, np.uint32),
        "dirty": (halo, np.uint32),
        "dirty_bits": (halo // 32 + 1, np.uint32),
        "chunks": ((2, chunk_capacity(arcs)), np.complex128),
        "parent": (own + halo, np.int64),
        "claimed": (own, np.uint32),
        "box_distance": (halo, distance_type),
        "box_parent": (halo, np.int64),
        "box_vertex": (halo, np.uint32),
        "box_count": (peers, np.uint32),
    }


def recording_arrays(entries: int, own: int, distance_type: np.dtype[Any]) -> dict[str, Shape]:
    """Additional arrays of records of predecessors; ``far_recorded`` replaces the far lists."""
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
    """The places of a worklist if memory is not short."""
    return max(own, LEAST_CAPACITY)


def far_few(own: int) -> int:
    """Up to this many far entries a split uses the list, on a rank that owns ``own`` vertices."""
    return max(capacity(own) // FAR_SHARE, 1)


def shortest(own: int) -> int:
    """The places of the shortest worklist."""
    return max(own // SHORTENING, LEAST_CAPACITY)


def entries_that_fit(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], free: int
) -> int:
    """The places of each worklist, if ``free`` bytes are free after the graph is loaded."""
    most, least = capacity(own), shortest(own)

    def wanted(entries: int) -> int:
        return work_bytes(own, halo, arcs, peers, distance_type, entries) + SPARE_BYTES

    fitting = bisect_right(range(least, most + 1), free, key=wanted)
    return least + max(fitting - 1, 0)


def chunk_capacity(arcs: int) -> int:
    """The places for row chunks of a share with ``arcs`` arcs."""
    return arcs // (ROW_CHUNK // 2) + 1024


def ring_entries(pushed: int) -> int:
    """The places of a ring in an inbox, a power of two, for ``pushed`` vertices a peer at most.

    A step rarely pushes all of them, and the peer takes the entries of a step during the next; see
    kernels/exchange/PROTOCOL.md.
    """
    return 1 << max(pushed.bit_length(), SMALLEST_RING)


def ring_that_fits(pushed: int, peers: int, distance_type: np.dtype[Any], free: int) -> int:
    """`ring_entries`, reduced to the free memory of the fullest GPU of a team; 0 if none fits."""
    entry, ring = entry_type(distance_type).itemsize, ring_entries(pushed)
    while ring >= 1 << SMALLEST_RING and peers * ring * entry + SPARE_BYTES > free:
        ring //= 2
    return ring if ring >= 1 << SMALLEST_RING else 0


def work_bytes(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], entries: int
) -> int:
    """Bytes of `work_arrays`."""
    return size_of(work_arrays(own, halo, arcs, peers, distance_type, entries))


def inbox_bytes(pushed: int, peers: int, distance_type: np.dtype[Any]) -> int:
    """Bytes of the rings of ``peers`` peers; ``pushed`` as for `ring_entries`."""
    return peers * ring_entries(pushed) * entry_type(distance_type).itemsize


def message_bytes(halo: int, peers: int, distance_type: np.dtype[Any]) -> int:
    """Bytes of messages in device memory: claims on the whole halo, and as many from peers."""
    return 2 * halo * (8 + distance_type.itemsize + 4) if peers > 1 else 0


def gpu_bytes(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any], *, short: bool = False
) -> int:
    """The most bytes that a share takes, during the upload and afterwards.

    With ``short`` its worklists have the least length.

    These optional arrays are allocated only if memory is left, and are not counted:

    * records of predecessors: 48 bytes a vertex, and 8 a row;
    * filter: up to a byte a vertex;
    * messages in device memory: `message_bytes`;
    * transposed arcs for the pull phase: as much as arcs and offsets; on a symmetric graph only 8
      bytes a vertex for a time;
    * renumbering: 8 bytes a vertex, and as much as arcs and offsets for a time; in a team 4 bytes a
      vertex, and 4 a row.

    >>> gpu_bytes(1 << 20, 0, 1 << 22, 1, np.dtype(np.int32)) >> 20
    76
    """
    graph = graph_bytes(own, halo, arcs, peers, distance_type)
    entries = shortest(own) if short else capacity(own)
    work = work_bytes(own, halo, arcs, peers, distance_type, entries)
    uploading = arcs * (distance_type.itemsize + 4) + 8 * (own + 1)
    return graph + max(work, uploading)


def linked_bytes(
    own: int,
    halo: int,
    arcs: int,
    peers: int,
    distance_type: np.dtype[Any],
    *,
    hosts: int,
    short: bool = False,
) -> int:
    """The most bytes of a share if ``peers`` ranks of a host exchange inside the kernel.

    With ``short`` its worklists and rings have the least length. Each rank has a row for every
    vertex of all of them then (kernels/exchange/PROTOCOL.md), and a halo only if there are other
    hosts. During the redistribution the arcs are held twice, with counters for it. The formula
    assumes parts of equal size, also in their in-arcs. `gpu_bytes` lists the optional arrays that
    are not counted.
    """
    rows = own * peers
    leading = (1 + 4) * own  # whom a row leads to, and by how many arcs
    redistributed = graph_bytes(rows, halo, arcs, peers, distance_type) + leading
    counted = (8 if short else 4 + 8) * peers * (own + 1)
    redistributing = graph_bytes(own, halo, arcs, peers, distance_type) + redistributed + counted
    outside = halo if hosts > 1 else 0
    entries = shortest(rows) if short else capacity(rows)
    work = work_bytes(rows, outside, arcs, peers, distance_type, entries)
    inboxes = inbox_bytes(0 if short else own, peers, distance_type)
    return max(redistributing, redistributed + work + inboxes)


def generated_bytes(own: int, halo: int, arcs: int, peers: int) -> int:
    """The most bytes of a share with int32 distances whose rows are made on the GPU, and stay.

    Half of the arcs are sorted at once, as 8 bytes and as many beside.
    """
    kind = np.dtype(np.int32)
    rows = 8 * arcs + 8 * (own + 1) + (8 + 4) * halo
    loading = gpu_bytes(own, halo, arcs, peers, kind)
    if peers > 1:
        loading = max(loading, linked_bytes(own, halo, arcs, peers, kind, hosts=1))
    return rows + max(2 * 8 * (arcs + 1) // 2, 8 * (own + halo), loading)


def graph_bytes(rows: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any]) -> int:
    """Bytes of offsets, arcs, and the halo's numbers at its owners."""
    offsets = (rows + 1) * np.dtype(offset_type(arcs)).itemsize
    return offsets + arcs * entry_type(distance_type).itemsize + 4 * halo + 4 * (peers + 1)
