"""The CUDA source of each program, joined into one text without include paths.

CuPy's disk cache identifies a kernel by its source text and options only. A change in a header
found through ``-I`` would not renew the cached binary; a change in joined text does. ``#line``
makes the compiler's messages name the files.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np


class Program(NamedTuple):
    """Files that are compiled together.

    Attributes:
        files: headers and sources, in order.
        entry_points: the kernels, all ``extern "C"``.
    """

    files: tuple[str, ...]
    entry_points: tuple[str, ...]


HEADERS = (
    "types.cuh",
    "peers.cuh",
    "express.cuh",
    "share.cuh",
    "onward.cuh",
    "grid.cuh",
    "conduct.cuh",
    "turn.cuh",
    "record.cuh",
    "hints.cuh",
    "send.cuh",
    "begin.cuh",
    "lists.cuh",
    "expand.cuh",
    "relax.cuh",
    "thin.cuh",
    "thick.cuh",
    "outer.cuh",
)
SOLVE = Program(
    (
        *HEADERS,
        "dealt.cu",
        "numbered.cu",
        "turned.cu",
        "onward.cu",
        "wake.cu",
        "split.cuh",
        "near_far.cu",
        "messages.cu",
        "claim.cu",
        "reached.cu",
    ),
    (
        "count_dealt",
        "deal_out",
        "move_rows",
        "bring_distances",
        "bring_parents",
        "weigh_turned",
        "count_turned",
        "turn_round",
        "find_lightest",
        "grade_arcs",
        "wake",
        "relax",
        "narrow",
        "merge",
        "fill_outboxes",
        "claim_recorded",
        "refresh_mirrors",
        "claim_rising",
        "list_claimed",
        "claim_onward",
        "merge_claims",
        "count_reached",
    ),
)
"""The main solver, for shares of one rank or several."""

ALL_PAIRS = Program(
    ("types.cuh", "floyd.cu", "floyd_trees.cu", "batch.cu", "heap.cu", "parents.cu"),
    (
        "floyd_begin",
        "floyd_close",
        "floyd_through",
        "floyd_through_noting",
        "floyd_rows",
        "floyd_greatest",
        "floyd_inner",
        "floyd_middles",
        "floyd_parents",
        "batch",
        "heap",
        "find_parents",
    ),
)
"""Many sources on a graph that one GPU holds."""

BREADTH_FIRST = Program(
    (*HEADERS, "breadth_first.cu"),
    ("begin_search", "search_levels", "hand_over"),
)
FRONTIER = Program(
    (*HEADERS, "frontier.cu"),
    ("begin_rounds", "weigh_incoming", "take_rounds_alone", "take_rounds_together"),
)
PULL = Program(
    (*HEADERS, "pull.cu"),
    ("pull_csr", "pull_ell", "pull_dense", "fill_matrix", "fill_slots"),
)
"""Methods for one GPU that holds the whole graph."""

GO_ON, NEW_RUN, NEW_SOLVE = range(3)
"""How a launch of ``relax`` begins; see begin.cuh."""

PEER_LATENCY = Program(("peer_latency.cu",), ("peer_latency",))
"""Measures the latency of loads from a peer's memory."""

SUMMARY = Program(("types.cuh", "summary.cu"), ("summarize_rows",))
"""A few numbers of each row of distances."""

PROGRAMS = (SOLVE, BREADTH_FIRST, FRONTIER, PULL, ALL_PAIRS, PEER_LATENCY, SUMMARY)
"""Every text that is compiled."""

BLOCK = 256
"""Threads a block."""

WIDE_BLOCK = 1024
"""Threads of a block in kernels in which one block may do all the work."""

PART = 256
"""Arcs of a row chunk; longer rows are cut into chunks, which single warps relax."""

THIN = BLOCK
"""Up to this many entries a block a step is thin; see near_far.cu."""

EXPRESS, EXPRESS_BITS = BLOCK, 24
"""Words of an express ring, a power of two and at most BLOCK; and the bits of its cursor that are
returned as credits; see express.cuh."""

UNTOLD = 16
"""Credits are returned at the latest when 1 / UNTOLD of a ring has been taken; see conduct.cuh."""

VERTEX_BITS = 28
"""Bits of a vertex number in a head if arcs are pulled; this limits the vertices (onward.cuh)."""

_STAGED_BYTES = 8192
"""Approximate shared memory of each of a block's three staged lists, without tails."""

MODES = {"alone": (0, 0), "rounds": (0, 1), "fused": (1, 0), "hierarchical": (1, 1)}
"""The macros EXCHANGES (ranks exchange inside kernels) and HALO (arcs lead to a halo) by mode.

Code that a mode does not use is compiled out; with one rank that is most of the exchange.
"""

_DISTANCES = {"int32": 0, "int64": 1, "float32": 2, "float64": 3}


def text_of(program: Program) -> str:
    """The files of a program, joined."""
    folder = Path(__file__).parent
    return "".join(
        f'#line 1 "{name}"\n{_without_pragma((folder / name).read_text(encoding="utf-8"))}\n'
        for name in program.files
    )


def options(
    distance_type: np.dtype[np.generic], *, wide_offsets: bool, mode: str, pulls: bool = False
) -> tuple[str, ...]:
    """Compiler options for one distance type and one way to exchange, a key of `MODES`.

    With ``pulls`` outer arcs may be pulled; see outer.cuh.
    """
    exchanges, halo = MODES[mode]
    staged = _STAGED_BYTES // (4 * distance_type.itemsize)
    macros = {
        "DISTANCE": _DISTANCES[distance_type.name],
        "WIDE_OFFSETS": int(wide_offsets),
        "EXCHANGES": exchanges,
        "HALO": halo,
        "PULLS": int(pulls),
        "BLOCK": BLOCK,
        "WIDE_BLOCK": WIDE_BLOCK,
        "PART": PART,
        "STAGED": staged,
        "THIN": THIN,
        "EXPRESS": EXPRESS,
        "EXPRESS_BITS": EXPRESS_BITS,
        "UNTOLD": UNTOLD,
        "VERTEX_BITS": VERTEX_BITS,
        "LANES": 4,
        "ARCS": 4,
        "BLOCKS": 3,
        "CHUNK_ARCS": 8 * BLOCK,
    }
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in macros.items()))


def _without_pragma(text: str) -> str:
    # keeps the line, so that line numbers stay right
    return text.replace("#pragma once", "", 1)
