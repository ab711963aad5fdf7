"""The structs of ``kernels/layout/`` as NumPy sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.source import tuning

POINTER, NUMBER = np.uint64, np.uint32

MAX_PEERS = 8
"""Ranks that can exchange inside the kernel."""

SHARE = np.dtype(
    [
        ("offsets", POINTER),
        ("arcs", POINTER),
        ("leads", POINTER),
        ("degrees", POINTER),
        ("in_offsets", POINTER),
        ("in_arcs", POINTER),
        ("halo_home", POINTER),
        ("halo_starts", POINTER),
        ("first", np.uint64),
        ("own", NUMBER),
        ("rows", NUMBER),
        ("halo", NUMBER),
        ("before", NUMBER),
        ("peers", NUMBER),
        ("unit", np.float32),
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
        ("chunks", POINTER, 2),
        ("parent", POINTER),
        ("record", POINTER),
        ("filter", POINTER),
        ("claimed", POINTER),
        ("box_distance", POINTER),
        ("box_parent", POINTER),
        ("box_vertex", POINTER),
        ("box_count", POINTER),
        ("capacity", NUMBER),
        ("far_capacity", NUMBER),
        ("far_few", NUMBER),
        ("chunk_capacity", NUMBER),
        ("levels", np.float32),
        ("fold", NUMBER),
        ("mean_degree", NUMBER),
        ("pull_below_width", np.float32),
        ("pull_reach", np.float32),
        ("pull_from_arcs", np.uint64),
    ],
    align=True,
)


PEERS = np.dtype(
    [
        ("mailbox", POINTER, MAX_PEERS),
        ("next", POINTER),
        ("outbox", POINTER, MAX_PEERS),
        ("inbox", POINTER),
        ("distances", POINTER, MAX_PEERS),
        ("owned", NUMBER, MAX_PEERS),
        ("mirrors", NUMBER, MAX_PEERS),
        ("limit", np.float64),
        ("ahead", np.float64),
        ("widest", np.float64),
        ("bound", np.float64),
        ("me", NUMBER),
        ("count", NUMBER),
        ("capacity", NUMBER),
        ("first", NUMBER),
        ("ending", POINTER),
    ],
    align=True,
)

ENDING = np.dtype(
    [
        ("floor", np.float64),
        ("all_quiet", NUMBER),
        ("overflowed", NUMBER),
        ("unreported", NUMBER),
    ],
    align=True,
)

TEAM = np.dtype([("me", NUMBER), ("first", NUMBER), ("count", NUMBER)])

BALLOT = np.dtype([("floor", np.uint64), ("sent", np.uint64), ("received", np.uint64)])

MAILBOX = np.dtype(
    [
        ("published", np.uint64, MAX_PEERS),
        ("dense_pulls", np.uint64, MAX_PEERS),
        ("taken", np.uint64, MAX_PEERS),
        ("epoch", np.uint64, MAX_PEERS),
        ("ballot", BALLOT, MAX_PEERS),
        ("vote", np.uint64),
        ("limit", np.float64),
        ("from", np.float64),
        ("bound", np.float64),
        ("quiet", NUMBER),
        ("stop", NUMBER),
        ("ended", np.uint64, MAX_PEERS),
        ("ll_ring", np.uint64, (MAX_PEERS, tuning("LL_WORDS"))),
    ],
    align=True,
)

PEER_CURSORS = np.dtype(
    [
        ("room", np.uint64),
        ("ll_room", np.uint64),
        ("begin", np.uint64),
        ("end", np.uint64),
        ("pulls_done", NUMBER),
        ("pulls_requested", NUMBER),
        ("pull_below", np.float32),
        ("unused", NUMBER),
    ],
    align=True,
)

STEP_PLAN = np.dtype(
    [
        ("limit", np.float64),
        ("from", np.float64),
        ("bound", np.float64),
        ("quiet", NUMBER),
        ("stopped", NUMBER),
        ("arrived", NUMBER),
        ("ll_arrived", NUMBER),
        ("sent", NUMBER),
        ("near", NUMBER),
        ("cursors", PEER_CURSORS, MAX_PEERS),
    ],
    align=True,
)

EXCHANGE = np.dtype(
    [
        ("sent", np.uint64, MAX_PEERS),
        ("ll_sent", np.uint64, MAX_PEERS),
        ("published_sent", np.uint64, MAX_PEERS),
        ("published_taken", np.uint64, MAX_PEERS),
        ("published_pulls", np.uint64),
        ("dense_pulls", np.uint64),
        ("pull_below", np.float32),
        ("pull_requested", NUMBER),
        ("published_bound", np.float64),
        ("last_vote", np.uint64),
        ("calm", np.uint64),
        ("epoch", np.uint64),
        ("width", np.float64),
    ],
    align=True,
)

LINE = 128
"""Bytes of a line of L2: words that many wait for lie apart."""

RELEASE_WORDS = 16
"""Words that blocks wait for; see kernels/layout/control.cuh."""


def control_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """The control block, whose distances have the run's type; it takes whole lines."""
    counters = [
        ("least_far", distance_type, 2),
        ("late", distance_type),
        ("step", NUMBER),
        ("far_side", NUMBER),
        ("near_count", NUMBER, 3),
        ("chunk_count", NUMBER, 3),
        ("far_count", NUMBER, 2),
        ("any_spilled", NUMBER),
        ("unlisted", NUMBER),
        ("plan", STEP_PLAN),
        ("exchange", EXCHANGE),
        ("relaxations", np.uint64),
        ("steps", np.uint64),
        ("floor", np.float64),
        ("threshold", distance_type),
        ("bucket_begin", distance_type),
        ("bound", distance_type),
        ("base", distance_type),
        ("taken", NUMBER, 3),
        ("chunks_taken", NUMBER, 3),
        ("cut_count", NUMBER, 2),
        ("depth_reached_in", NUMBER),
        ("dirty_count", NUMBER),
        ("overflowed", NUMBER),
        ("level", NUMBER),
        ("claimed_count", NUMBER),
        ("unrecorded", NUMBER),
        ("polls", NUMBER),
    ]
    before = np.dtype(counters, align=True)
    last = str(counters[-1][0])
    end = offset_of(before, last) + before[last].itemsize  # without what pads the whole
    before_barrier = -end % LINE
    barrier = [
        ("padding", np.uint8, before_barrier),
        ("barrier", np.uint8, (1 + RELEASE_WORDS) * LINE),
    ]
    return np.dtype(counters + barrier, align=True)


def offset_of(struct: np.dtype[Any], field: str) -> int:
    """Bytes from the beginning of a struct to one of its fields."""
    assert struct.fields is not None
    return int(struct.fields[field][1])


def pointed(layout: np.dtype[Any], arrays: dict[str, Any], numbers: dict[str, float]) -> Any:
    """A struct as kernels take it, by value: addresses of device arrays, then numbers."""
    struct = np.zeros(1, layout)
    for name, array in arrays.items():
        pairs = layout[name].shape != ()
        struct[name] = [row.data.ptr for row in array] if pairs else array.data.ptr
    for name, number in numbers.items():
        struct[name] = number
    return struct
