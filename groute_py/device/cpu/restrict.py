"""The part of a hierarchy that paths between some vertices need, on the host.

(RPHAST: Delling, Goldberg and Werneck, "Faster batched shortest paths in road networks", 2011; the
sources are kept as well, so that the part is a hierarchy by itself.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.buffers import read_only
from groute_py.graph.tails import offsets_of
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.kernels.cpu.sweep import mark_above


class Part(NamedTuple):
    """A part of a hierarchy, whose vertices are the places themselves."""

    hierarchy: Hierarchy
    places: NDArray[np.int64]  # int64, (k,): by vertex of the request


def part_above(hierarchy: Hierarchy, vertices: NDArray[Any], most: int) -> Part | None:
    """The part with some vertices, all above them, and the core; None beyond ``most`` vertices."""
    places = np.empty(hierarchy.vertex_count, np.int32)
    places[hierarchy.vertices] = np.arange(hierarchy.vertex_count, dtype=np.int32)
    selection = places[vertices]
    marked = np.zeros(hierarchy.vertex_count, np.bool_)
    marked[selection] = marked[: hierarchy.core_count] = True
    mark_above(read_only(hierarchy.offsets), read_only(hierarchy.heads), marked)
    members = np.flatnonzero(marked)
    if len(members) > most:
        return None
    new = places  # of those that are kept, by their places before
    new[members] = np.arange(len(members), dtype=np.int32)
    degrees = hierarchy.offsets[members + 1] - hierarchy.offsets[members]
    offsets = offsets_of(degrees)
    arcs = np.arange(offsets[-1])
    arcs += np.repeat(hierarchy.offsets[members] - offsets[:-1], degrees)
    down = hierarchy.down[arcs]
    part = replace(
        hierarchy,
        levels=tuple(np.searchsorted(members, hierarchy.levels).tolist()),
        vertices=np.arange(len(members), dtype=np.int32),
        offsets=offsets,
        heads=new[hierarchy.heads[arcs]],
        down=down,
        up=down if hierarchy.is_symmetric else hierarchy.up[arcs],
    )
    return Part(part, new[selection].astype(np.int64))
