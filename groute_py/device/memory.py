"""How much memory a share takes on a GPU: one formula, for allocating and for planning.

An *entry* is a distance with a vertex: 8 bytes for 32-bit distances, 16 for wider ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.source import PART

LEAST_CAPACITY = 1 << 16
"""Entries of a worklist, however small the share."""

SMALLEST_RING, LARGEST_RING = 12, 24
"""Logarithms of the entries that an inbox has for each peer."""

CONTEXT_BYTES = 600 << 20
"""What CUDA itself and the kernels take, beside the share."""

Shape = tuple[Any, Any]
"""Of an array: its shape and dtype."""


def entry_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of the size of an entry."""
    return np.dtype(np.uint64) if distance_type.itemsize == 4 else np.dtype(np.complex128)


def work_arrays(
    own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any]
) -> dict[str, Shape]:
    """The arrays that a rank works on beside its graph, by their names in the kernels."""
    entry = entry_type(distance_type)
    return {
        "distance": (own + halo, distance_type),
        "near": ((2, capacity(own)), entry),
        "far": ((2, capacity(own)), entry),
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


def capacity(own: int) -> int:
    """Entries of a worklist."""
    return max(own, LEAST_CAPACITY)


def item_capacity(arcs: int) -> int:
    """Parts of long rows that may wait."""
    return arcs // (PART // 2) + 1024


def ring_entries(halo: int) -> int:
    """Entries of an inbox for each peer, a power of two; ``halo`` is the largest of all ranks.

    A ring holds what two turns send, and most vertices of a halo may be sent in each.
    """
    return 1 << min(max(halo.bit_length() + 1, SMALLEST_RING), LARGEST_RING)


def gpu_bytes(own: int, halo: int, arcs: int, peers: int, distance_type: np.dtype[Any]) -> int:
    """What a share takes at the most, while it is uploaded and afterwards.

    A rank alone takes 16 bytes a vertex more to record predecessors, if they are left.

    >>> gpu_bytes(1 << 20, 0, 1 << 22, 1, np.dtype(np.int32)) >> 20
    85
    """
    entry = entry_type(distance_type).itemsize
    offset = 8 if arcs >= 1 << 31 else 4
    graph = (own + 1) * offset + arcs * entry + 4 * halo + 4 * (peers + 1)
    shapes = work_arrays(own, halo, arcs, peers, distance_type).values()
    work = sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in shapes)
    uploading = arcs * (distance_type.itemsize + 4) + 8 * (own + 1)
    inboxes = peers * ring_entries(halo) * entry if peers > 1 else 0
    return graph + max(work, uploading) + inboxes
