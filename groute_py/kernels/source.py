"""The CUDA source of each program, joined into one text without includes.

CuPy's disk cache identifies a kernel by its source text and options only. A change in a header
found through ``-I`` would not renew the cached binary; a change in joined text does. ``#line``
makes the compiler's messages name the files.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from groute_py.system.settings import kernel_macros


class Program(NamedTuple):
    """Sources that are compiled together."""

    sources: tuple[str, ...]

    @property
    def entry_points(self) -> tuple[str, ...]:
        """The names of the kernels, which are all ``extern "C"``."""
        return _kernels_in(self.sources)


SOLVE = Program(
    (
        "exchange/redistribute.cu",
        "exchange/wake.cu",
        "exchange/outbox.cu",
        "sssp/degree_order.cu",
        "sssp/sort_rows.cu",
        "sssp/transpose.cu",
        "sssp/min_out_weight.cu",
        "sssp/near_far.cu",
        "sssp/narrow.cu",
        "sssp/assign_predecessors.cu",
        "sssp/answer.cu",
        "sssp/targets.cu",
    )
)
"""The main solver, for shares of one rank or several."""

ALL_PAIRS = Program(
    (
        "multi_source/floyd.cu",
        "multi_source/floyd_trees.cu",
        "multi_source/batch.cu",
        "multi_source/heap.cu",
        "multi_source/parents.cu",
    )
)
"""Many sources on a graph that one GPU holds."""

BREADTH_FIRST = Program(("bfs/bfs.cu",))
FRONTIER = Program(("sssp/sort_rows.cu", "frontier_dijkstra/frontier_dijkstra.cu"))
PULL = Program(("min_plus/bellman_ford.cu",))
"""Methods for one GPU that holds the whole graph."""

GO_ON, NEW_RUN, NEW_SOLVE = range(3)
"""Ways in which a launch of ``relax`` begins; see sssp/initialize.cuh."""

PEER_LATENCY = Program(("exchange/peer_latency.cu",))
"""Measures the latency of loads from a peer's memory."""

SUMMARY = Program(
    (
        "multi_source/summary.cu",
        "multi_source/reciprocals.cu",
        "multi_source/reach.cu",
        "multi_source/smallest.cu",
    )
)
"""Rows of distances reduced: to a few numbers of each, to vertices within a bound, to the smallest
of each vertex."""

DEPENDENCIES = Program(("multi_source/dependencies.cu",))
"""Sums of Brandes' dependencies, from rows of distances."""

LEVELS = Program(("multi_source/level_graph.cu", "multi_source/levels.cu"))
"""Breadth-first searches from 32 sources at once, and what is summed over them."""

CONTRACTION = Program(
    (
        "hierarchy/skeleton.cu",
        "hierarchy/contract.cu",
        "hierarchy/places.cu",
        "hierarchy/restrict.cu",
    )
)
"""Makes a contraction hierarchy."""

SWEEP = Program(
    (
        "hierarchy/places.cu",
        "hierarchy/tree.cu",
        "hierarchy/parents.cu",
        "hierarchy/many_trees.cu",
        "hierarchy/nearest.cu",
    )
)
"""Trees out of a contraction hierarchy."""

CUSTOMIZATION = Program(
    (
        "customization/customize.cu",
        "customization/labels.cu",
        "customization/climbs.cu",
        "customization/rows.cu",
    )
)
"""Customizes a hierarchy from separators, and looks up distances; for integers."""

LOADING = Program(("customization/customize.cu", "assignment/slots.cu", "assignment/trees.cu"))
"""Customizes such a hierarchy for float64, and loads trips on its shortest paths."""

LINKS = Program(("assignment/links.cu",))
"""Costs of links, and sums over them; for float64."""

GRID = Program(("grid/relax_tiles.cu", "grid/directions.cu"))
"""Least-cost distances on a raster; for floats."""

GENERATE = Program(("generate/arcs.cu", "generate/halo.cu"))
"""Makes a rank's rows of a generated graph, and numbers their heads."""

CERTIFICATE = Program(("certificate/certificate.cu",))
"""Looks for reasons to doubt an answer, whose distances are of the types that users get."""

PROGRAMS = (
    *(SOLVE, BREADTH_FIRST, FRONTIER, PULL, ALL_PAIRS, CONTRACTION, SWEEP, CUSTOMIZATION),
    *(PEER_LATENCY, SUMMARY, DEPENDENCIES, LEVELS, LOADING, LINKS, GRID, GENERATE),
    CERTIFICATE,
)
"""Every text that is compiled."""

MAX_PEERS = 8
"""Ranks that can exchange inside the kernel, as in layout/exchange.cuh."""

BLOCK = 256
"""Threads a block."""

WIDE_BLOCK = 1024
"""Threads of a block in kernels in which one block may do all the work."""

ROW_CHUNK = 256
"""Arcs of a row chunk; longer rows are cut into chunks, which single warps relax."""

TUNING = {
    "LOCAL_ENTRIES": BLOCK,
    "LL_WORDS": BLOCK,
    "CREDIT_BITS": 24,
    "CREDIT_SHARE": 16,
    "PATIENCE": 1 << 20,
    "COUNTS_POLLS": 0,
    "SILENT_END": 0,
}
"""Macros that tests change, by ``GROUTE_PY_KERNEL_MACROS``, to reach rare paths on small graphs.

* LOCAL_ENTRIES: up to this many entries a block a step is block-local; see sssp/near_far.cu.
* LL_WORDS: words of a low-latency ring, a power of two and at most BLOCK; see exchange/ll_ring.cuh.
* CREDIT_BITS: bits of its cursor that are returned as credits.
* CREDIT_SHARE: credits are returned at the latest when 1 / CREDIT_SHARE of a ring has been taken.
* PATIENCE: polls for a peer's end, about a second; see exchange/shutdown.cuh.
* COUNTS_POLLS: 1 to count in `Control` how often the leader takes words from low-latency rings.
* SILENT_END: 1 for a fault: the first rank stops its peers and does not report its end.
"""

VERTEX_BITS = 28
"""Bits of a vertex number in a head if arcs are pulled; this limits the vertices; see
sssp/min_out_weight.cuh."""

_STAGED_BYTES = 8192
"""Approximate shared memory of each of a block's three staged lists, without tails."""

MODES = {"alone": (0, 0), "rounds": (0, 1), "fused": (1, 0), "hierarchical": (1, 1)}
"""The macros EXCHANGES (ranks exchange inside kernels) and HALO (arcs lead to a halo) by mode.

Code that a mode does not use is compiled out; with one rank that is most of the exchange.
"""

_DISTANCES = {"int32": 0, "uint32": 0, "int64": 1, "float32": 2, "float64": 3}


def tuning(name: str) -> int:
    """The value of one of `TUNING`."""
    return kernel_macros().get(name, TUNING[name])


def files_of(program: Program) -> list[str]:
    """The sources of a program and the headers that they include, each after those it includes."""
    files: list[str] = []
    for source in program.sources:
        _collect(source, files)
    return files


@cache
def text_of(program: Program) -> str:
    """The files of a program, joined."""
    texts = ((name, _without_directives(_read(name))) for name in files_of(program))
    return "".join(f'#line 1 "{name}"\n{text}\n' for name, text in texts)


def text_with(program: Program, extended: str) -> str:
    """The same with an expression as `primitives/algebra.cuh` takes it, or "" for none."""
    return f"#define EXTENDED ({extended})\n{text_of(program)}" if extended else text_of(program)


def options(
    distance_type: np.dtype[np.generic], *, wide_offsets: bool, mode: str, pulls: bool = False
) -> tuple[str, ...]:
    """Compiler options for a distance type and a key of `MODES`; ``pulls`` adds the pull phase."""
    exchanges, halo = MODES[mode]
    staged = _STAGED_BYTES // (4 * distance_type.itemsize)
    macros = {
        "DISTANCE": _DISTANCES[distance_type.name],
        "MAXIMA": int(distance_type.kind == "u"),
        "WIDE_OFFSETS": int(wide_offsets),
        "EXCHANGES": exchanges,
        "HALO": halo,
        "PULLS": int(pulls),
        "BLOCK": BLOCK,
        "WIDE_BLOCK": WIDE_BLOCK,
        "ROW_CHUNK": ROW_CHUNK,
        "STAGED": staged,
        **{name: tuning(name) for name in TUNING},
        "VERTEX_BITS": VERTEX_BITS,
        "LANES": 4,
        "ARCS": 4,
        "BLOCKS": 3,
        "BLOCK_ARCS": 8 * BLOCK,
    }
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in macros.items()))


_INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)
_ENTRY = re.compile(
    r'^extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(', re.MULTILINE
)
_DIRECTIVE = re.compile(r'^#(include ".*"|pragma once)$', re.MULTILINE)


def _collect(name: str, files: list[str]) -> None:
    if name in files:
        return
    for included in _INCLUDE.findall(_read(name)):
        _collect(included, files)
    files.append(name)


@cache
def _kernels_in(sources: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for source in sources for name in _ENTRY.findall(_read(source)))


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _without_directives(text: str) -> str:
    # empty lines stay in their place, so that line numbers stay right
    return _DIRECTIVE.sub("", text)
