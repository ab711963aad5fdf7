"""The structs of ``kernels/share.cuh`` as NumPy sees them, field by field."""

from __future__ import annotations

from typing import Any

import numpy as np

POINTER, NUMBER = np.uint64, np.uint32

SHARE = np.dtype(
    [
        ("offsets", POINTER),
        ("arcs", POINTER),
        ("halo_home", POINTER),
        ("halo_starts", POINTER),
        ("first", np.uint64),
        ("own", NUMBER),
        ("halo", NUMBER),
        ("peers", NUMBER),
        ("padding", NUMBER),
    ],
    align=True,
)

WORK = np.dtype(
    [
        ("distance", POINTER),
        ("near", POINTER, 2),
        ("far", POINTER, 2),
        ("spilled", POINTER),
        ("dirty", POINTER),
        ("dirty_bits", POINTER),
        ("items", POINTER, 2),
        ("parent", POINTER),
        ("claimed", POINTER),
        ("box_distance", POINTER),
        ("box_parent", POINTER),
        ("box_vertex", POINTER),
        ("box_count", POINTER),
        ("capacity", NUMBER),
        ("item_capacity", NUMBER),
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
            ("far_count", NUMBER, 2),
            ("far_side", NUMBER),
            ("dirty_count", NUMBER),
            ("any_spilled", NUMBER),
            ("overflowed", NUMBER),
            ("level", NUMBER),
            ("claimed_count", NUMBER),
        ],
        align=True,
    )


def offset_of(struct: np.dtype[Any], field: str) -> int:
    """Bytes from the beginning of a struct to one of its fields."""
    assert struct.fields is not None
    return int(struct.fields[field][1])
