"""The structs of ``kernels/{share,peers}.cuh`` and ``dealt.cu`` as NumPy sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

POINTER, NUMBER = np.uint64, np.uint32

MAX_PEERS = 8
"""Ranks that can exchange inside the kernel."""

SHARE = np.dtype(
    [
        ("offsets", POINTER),
        ("arcs", POINTER),
        ("leads", POINTER),
        ("halo_home", POINTER),
        ("halo_starts", POINTER),
        ("first", np.uint64),
        ("own", NUMBER),
        ("rows", NUMBER),
        ("halo", NUMBER),
        ("before", NUMBER),
        ("peers", NUMBER),
        ("padding", NUMBER),
    ],
    align=True,
)

WORK = np.dtype(
    [
        ("distance", POINTER),
        ("near", POINTER, 2),
        ("near_tail", POINTER, 2),
        ("far", POINTER, 2),
        ("far_tail", POINTER, 2),
        ("spilled", POINTER),
        ("dirty", POINTER),
        ("dirty_bits", POINTER),
        ("items", POINTER, 2),
        ("parent", POINTER),
        ("record", POINTER),
        ("hints", POINTER),
        ("claimed", POINTER),
        ("box_distance", POINTER),
        ("box_parent", POINTER),
        ("box_vertex", POINTER),
        ("box_count", POINTER),
        ("capacity", NUMBER),
        ("far_capacity", NUMBER),
        ("item_capacity", NUMBER),
        ("levels", np.float32),
    ],
    align=True,
)


PEERS = np.dtype(
    [
        ("mailbox", POINTER, MAX_PEERS),
        ("outbox", POINTER, MAX_PEERS),
        ("inbox", POINTER),
        ("shown", POINTER, MAX_PEERS),
        ("owned", NUMBER, MAX_PEERS),
        ("mirrors", NUMBER, MAX_PEERS),
        ("ahead", np.float64),
        ("widest", np.float64),
        ("bound", np.float64),
        ("me", NUMBER),
        ("count", NUMBER),
        ("capacity", NUMBER),
        ("first", NUMBER),
    ],
    align=True,
)

DEAL = np.dtype([("me", NUMBER), ("first", NUMBER), ("count", NUMBER)])

BALLOT = np.dtype([("floor", np.uint64), ("sent", np.uint64), ("received", np.uint64)])

MAILBOX = np.dtype(
    [
        ("published", np.uint64, MAX_PEERS),
        ("taken", np.uint64, MAX_PEERS),
        ("pace", np.uint64, MAX_PEERS),
        ("shown", np.uint64, MAX_PEERS),
        ("ballot", BALLOT, MAX_PEERS),
        ("vote", np.uint64),
        ("limit", np.float64),
        ("quiet", NUMBER),
        ("stop", NUMBER),
    ],
    align=True,
)

EXCHANGE = np.dtype(
    [
        ("sent", np.uint64, MAX_PEERS),
        ("told_sent", np.uint64, MAX_PEERS),
        ("told_taken", np.uint64, MAX_PEERS),
        ("room", np.uint64, MAX_PEERS),
        ("begin", np.uint64, MAX_PEERS),
        ("end", np.uint64, MAX_PEERS),
        ("limit", np.float64),
        ("width", np.float64),
        ("balloted", np.uint64),
        ("calm", np.uint64),
        ("pace", np.uint64),
        ("shown", np.uint64),
        ("below", np.float32),
        ("seen", NUMBER, MAX_PEERS),
        ("to_see", NUMBER, MAX_PEERS),
        ("see_below", np.float32, MAX_PEERS),
        ("quiet", NUMBER),
        ("stopped", NUMBER),
        ("showing", NUMBER),
    ],
    align=True,
)


def control_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """The control block, whose distances have the run's type."""
    return np.dtype(
        [
            ("relaxations", np.uint64),
            ("steps", np.uint64),
            ("floor", np.float64),
            ("threshold", distance_type),
            ("window", distance_type),
            ("least_far", distance_type, 2),
            ("arrived", NUMBER),
            ("turn", NUMBER),
            ("near_count", NUMBER, 3),
            ("item_count", NUMBER, 3),
            ("taken", NUMBER, 3),
            ("far_count", NUMBER, 2),
            ("far_side", NUMBER),
            ("dirty_count", NUMBER),
            ("any_spilled", NUMBER),
            ("overflowed", NUMBER),
            ("level", NUMBER),
            ("claimed_count", NUMBER),
            ("unrecorded", NUMBER),
            ("released", NUMBER),
            ("exchange", EXCHANGE),
        ],
        align=True,
    )


def offset_of(struct: np.dtype[Any], field: str) -> int:
    """Bytes from the beginning of a struct to one of its fields."""
    assert struct.fields is not None
    return int(struct.fields[field][1])


def pointed(layout: np.dtype[Any], arrays: dict[str, Any], numbers: dict[str, int]) -> Any:
    """A struct as kernels take it, by value: addresses of device arrays, then numbers."""
    struct = np.zeros(1, layout)
    for name, array in arrays.items():
        pairs = layout[name].shape != ()
        struct[name] = [row.data.ptr for row in array] if pairs else array.data.ptr
    for name, number in numbers.items():
        struct[name] = number
    return struct
