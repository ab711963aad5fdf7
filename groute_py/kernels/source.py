"""The CUDA source as one text: headers joined in, nothing found through include paths.

CuPy's disk cache knows a kernel by its source and options only, so a header found through ``-I``
could change without the cached binary being renewed. Joined text can not; ``#line`` keeps the
compiler's messages pointing into the files.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

HEADERS = (
    "types.cuh",
    "peers.cuh",
    "share.cuh",
    "grid.cuh",
    "conduct.cuh",
    "turn.cuh",
    "send.cuh",
    "lists.cuh",
    "expand.cuh",
    "relax.cuh",
    "thin.cuh",
    "thick.cuh",
)
UNITS = ("start.cu", "near_far.cu", "messages.cu", "claim.cu")
ENTRY_POINTS = (
    "start",
    "relax",
    "narrow",
    "merge",
    "fill_outboxes",
    "claim_rising",
    "list_claimed",
    "claim_onward",
    "merge_claims",
)
"""The kernels, all ``extern "C"``."""


class Program(NamedTuple):
    """Kernels of a method that has the graph to itself, compiled beside the others."""

    units: tuple[str, ...]
    entry_points: tuple[str, ...]


BREADTH_FIRST = Program(
    ("breadth_first.cu",),
    ("begin_search", "search_levels", "hand_over"),
)
FRONTIER = Program(
    ("frontier.cu",),
    ("begin_rounds", "weigh_incoming", "take_rounds_alone", "take_rounds_together"),
)
PULL = Program(
    ("pull.cu",),
    ("pull_csr", "pull_ell", "pull_dense", "fill_matrix", "fill_slots"),
)
PROGRAMS = (Program(UNITS, ENTRY_POINTS), BREADTH_FIRST, FRONTIER, PULL)
"""Every text that is compiled."""

BLOCK = 256
"""Threads a block."""

WIDE_BLOCK = 1024
"""Threads of a block that may work alone."""

PART = 256
"""Arcs a warp relaxes in one go; a longer row is cut into parts of so many."""

_STAGED_BYTES = 8192
"""Shared memory a block has for a staged list; near has two, with twice as wide entries."""

_DISTANCES = {"int32": 0, "int64": 1, "float32": 2, "float64": 3}


def joined_source(units: tuple[str, ...] = UNITS) -> str:
    """All headers and some units, in order."""
    folder = Path(__file__).parent
    return "".join(
        f'#line 1 "{name}"\n{_without_pragma((folder / name).read_text(encoding="utf-8"))}\n'
        for name in (*HEADERS, *units)
    )


def options(distance_type: np.dtype[np.generic], *, wide_offsets: bool) -> tuple[str, ...]:
    """Compiler options for one distance type."""
    staged = _STAGED_BYTES // (4 * distance_type.itemsize)
    macros = {
        "DISTANCE": _DISTANCES[distance_type.name],
        "WIDE_OFFSETS": int(wide_offsets),
        "BLOCK": BLOCK,
        "WIDE_BLOCK": WIDE_BLOCK,
        "PART": PART,
        "STAGED": staged,
        "THIN": BLOCK,
        "LANES": 4,
        "ARCS": 4,
        "BLOCKS": 3,
        "CHUNK_ARCS": 8 * BLOCK,
    }
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in macros.items()))


def _without_pragma(text: str) -> str:
    # keeps the line, so that line numbers stay right
    return text.replace("#pragma once", "", 1)
