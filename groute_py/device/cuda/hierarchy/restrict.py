"""The part of a hierarchy that paths between some vertices need.

(RPHAST: Delling, Goldberg and Werneck, "Faster batched shortest paths in road networks", 2011. Here
the sources are kept as well, so that the part is a hierarchy by itself.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import cupy as cp
import numpy as np

from groute_py.device.cuda.hierarchy.skeleton import contraction_kernels
from groute_py.hierarchy.hierarchy import Hierarchy


class Part(NamedTuple):
    """A part of a hierarchy.

    Attributes:
        hierarchy: its vertices are the places themselves.
        places: uint32, shape (k,): the place of each of the vertices that were asked for.
    """

    hierarchy: Hierarchy
    places: Any


def part_above(hierarchy: Hierarchy, vertices: Any) -> Part:
    """The part with some vertices, all that lie above them, and the core.

    Args:
        hierarchy: with CuPy's arrays.
        vertices: integers, shape (k,), on the device.
    """
    count = hierarchy.vertex_count
    places = cp.empty(count, np.uint32)
    places[hierarchy.vertices] = cp.arange(count, dtype=np.uint32)
    wanted = places[vertices]
    marked = _marked(hierarchy, wanted)
    kept = cp.flatnonzero(marked)
    new = (cp.cumsum(marked, dtype=np.uint32) - np.uint32(1)).astype(np.uint32)
    degrees = (hierarchy.offsets[1:] - hierarchy.offsets[:-1])[kept]
    offsets = cp.zeros(len(kept) + 1, np.int64)
    cp.cumsum(degrees, dtype=np.int64, out=offsets[1:])
    # arcs of a kept place lie together: the k-th of its row
    shift = cp.repeat(hierarchy.offsets[:-1][kept] - offsets[:-1], degrees.get().tolist())
    arcs = cp.arange(int(offsets[-1]), dtype=np.int64) + shift
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


def _marked(hierarchy: Hierarchy, places: Any) -> Any:
    """uint32, shape (n,): 1 at these places, at those above them, and in the core."""
    kernels = contraction_kernels(hierarchy.type)
    count = hierarchy.vertex_count
    offsets, heads = hierarchy.offsets.astype(np.uint32), hierarchy.heads.view(np.uint32)
    marked = cp.zeros(count, np.uint32)
    marked[: hierarchy.core_count] = 1
    listed = cp.unique(places)
    listed = listed[listed >= hierarchy.core_count]
    marked[listed] = 1
    while len(listed):
        found, found_count = cp.empty(count, np.uint32), cp.zeros(1, np.uint32)
        words = listed, np.uint32(len(listed)), marked, found, found_count
        kernels.run("mark_above", len(listed), offsets, heads, *words)
        listed = found[: int(found_count[0])]
    return marked
