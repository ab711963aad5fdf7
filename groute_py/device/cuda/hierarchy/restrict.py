"""The part of a hierarchy that paths between some vertices need.

(RPHAST: Delling, Goldberg and Werneck, "Faster batched shortest paths in road networks", 2011; the
sources are kept as well, so that the part is a hierarchy by itself.)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import cupy as cp
import numpy as np

from groute_py.device.cuda.graph.csr import places_in, starts_of
from groute_py.device.cuda.hierarchy.skeleton import contraction_kernels
from groute_py.graph.hierarchy.hierarchy import Hierarchy


class Part(NamedTuple):
    """A part of a hierarchy, whose vertices are the places themselves."""

    hierarchy: Hierarchy
    places: Any  # uint32, (k,): by vertex of the request


def part_above(hierarchy: Hierarchy, vertices: Any) -> Part:
    """The part with some vertices, on the device, all that lie above them, and the core."""
    places = places_in(hierarchy.vertices, np.uint32)
    wanted = places[vertices]
    marked = _marked(hierarchy, wanted)
    kept = cp.flatnonzero(marked)
    new = (cp.cumsum(marked, dtype=np.uint32) - np.uint32(1)).astype(np.uint32)
    begins = hierarchy.offsets[:-1][kept]
    offsets = starts_of(hierarchy.offsets[1:][kept] - begins, np.int64)
    # arcs of a kept place lie together: the k-th of its row
    arcs = cp.arange(int(offsets[-1]), dtype=np.int64)
    arcs += (begins - offsets[:-1])[_tails(hierarchy, offsets, len(arcs))]
    down = hierarchy.down[arcs]
    firsts = cp.searchsorted(kept, cp.asarray(np.array(hierarchy.levels, np.int64)))
    part = replace(
        hierarchy,
        levels=tuple(firsts.get().tolist()),
        vertices=cp.arange(len(kept), dtype=np.int32),
        offsets=offsets,
        heads=new[hierarchy.heads[arcs]].astype(np.int32),
        down=down,
        up=down if hierarchy.is_symmetric else hierarchy.up[arcs],
    )
    return Part(part, new[wanted])


def _tails(hierarchy: Hierarchy, offsets: Any, count: int) -> Any:
    """uint32, shape (count,): the row of each arc."""
    tails, rows = cp.empty(count, np.uint32), len(offsets) - 1
    words = offsets.astype(np.uint32), np.uint32(rows), tails
    contraction_kernels(hierarchy.type).run("list_tails", rows, *words)
    return tails


def _marked(hierarchy: Hierarchy, places: Any) -> Any:
    """uint32, shape (n,): 1 at these places, at those above them, and in the core."""
    kernels, levels = contraction_kernels(hierarchy.type), hierarchy.levels
    offsets, heads = hierarchy.offsets.astype(np.uint32), hierarchy.heads.view(np.uint32)
    marked = cp.zeros(hierarchy.vertex_count, np.uint32)
    marked[: hierarchy.core_count] = 1
    marked[places] = 1
    for begin, end in reversed(list(pairwise(levels[1:]))):
        words = np.uint32(begin), np.uint32(end), marked
        kernels.run("mark_above", end - begin, offsets, heads, *words)
    return marked
