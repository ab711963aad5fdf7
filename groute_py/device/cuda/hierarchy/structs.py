"""The structs of the kernels in ``kernels/hierarchy/``, as NumPy sees them."""

from __future__ import annotations

import numpy as np

from groute_py.device.cuda.runtime.structs import NUMBER, POINTER

SKELETON = np.dtype(
    [
        ("offsets", POINTER),
        ("heads", POINTER),
        ("out", POINTER),
        ("in", POINTER),
        ("count", NUMBER),
        ("symmetric", NUMBER),
    ],
    align=True,
)

SHORTCUTS = np.dtype(
    [("keys", POINTER), ("out", POINTER), ("in", POINTER), ("symmetric", NUMBER)], align=True
)

HIERARCHY = np.dtype(
    [
        ("levels", POINTER),
        ("offsets", POINTER),
        ("down", POINTER),
        ("up", POINTER),
        ("core", POINTER),
        ("places", POINTER),
        ("vertices", NUMBER),
        ("level_count", NUMBER),
        ("core_count", NUMBER),
    ],
    align=True,
)

KEYED = np.dtype(
    [
        *((name, POINTER) for name in ("keys", "in_offsets", "in_arcs", "facilities")),
        ("vertices", NUMBER),
    ],
    align=True,
)

SEARCHES = np.dtype(
    [
        *((name, POINTER) for name in ("below", "core", "core_found", "below_found")),
        *((name, POINTER) for name in ("reached", "marked")),
        ("room", NUMBER),
    ],
    align=True,
)
