"""Checks of a hierarchy of unknown origin, so that no search leaves its arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.graph.arrays import AT_ONCE, check_arcs, check_offsets
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.system.threads import in_slices

WEIGHT_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def check_hierarchy(hierarchy: Hierarchy) -> None:
    """Raise `GraphError` for arrays, on the host, that are no hierarchy of any graph."""
    _check_types(hierarchy)
    _check_levels(hierarchy.levels, hierarchy.vertex_count)
    _check_vertices(hierarchy.vertices)
    _check_arcs_upward(hierarchy)
    _check_core(hierarchy)


def _check_types(hierarchy: Hierarchy) -> None:
    arrays: dict[str, tuple[NDArray[Any], Any, int]] = {
        "vertices": (hierarchy.vertices, np.int32, hierarchy.vertex_count),
        "offsets": (hierarchy.offsets, np.int64, hierarchy.vertex_count + 1),
        "heads": (hierarchy.heads, np.int32, hierarchy.arc_count),
        "down": (hierarchy.down, hierarchy.type, hierarchy.arc_count),
        "up": (hierarchy.up, hierarchy.type, hierarchy.arc_count),
        "core_heads": (hierarchy.core_heads, np.int32, len(hierarchy.core_heads)),
        "core_weights": (hierarchy.core_weights, hierarchy.type, len(hierarchy.core_heads)),
        "core_offsets": (hierarchy.core_offsets, np.int64, len(hierarchy.core_offsets)),
    }
    if hierarchy.type not in WEIGHT_TYPES:
        raise GraphError(f"weights of a hierarchy are int32 or int64, not {hierarchy.type}")
    for name, (array, kind, length) in arrays.items():
        if array.dtype != kind or array.shape != (length,):
            raise GraphError(
                f"{name} of the hierarchy: {array.dtype} of shape {array.shape}, not "
                f"{np.dtype(kind)} of shape ({length},)"
            )


def _check_levels(levels: tuple[int, ...], count: int) -> None:
    rising = all(low <= high for low, high in pairwise(levels))
    if len(levels) < 2 or levels[0] != 0 or levels[-1] != count or not rising:
        raise GraphError(f"levels of the hierarchy do not rise from 0 to {count}")


def _check_vertices(vertices: NDArray[Any]) -> None:
    count = len(vertices)
    seen, unsigned = np.zeros(count, np.bool_), vertices.view(np.uint32)  # below zero is far beyond

    def marked(some: slice) -> bool:
        if unsigned[some].max() >= count:
            return False
        seen[unsigned[some]] = True
        return True

    if not all(in_slices(count, AT_ONCE, marked)):
        raise GraphError(f"the hierarchy has a vertex that is none of {count}")
    if not seen.all():
        raise GraphError(f"vertex {int(np.argmin(seen))} is not in the hierarchy")


def _check_arcs_upward(hierarchy: Hierarchy) -> None:
    """Each arc leads to a level before, so those of the core have none."""
    offsets, heads = hierarchy.offsets, hierarchy.heads
    if offsets[0] != 0 or offsets[-1] != len(heads):
        raise GraphError(f"offsets of the hierarchy do not go from 0 to {len(heads)}")
    check_offsets(offsets)
    check_arcs(heads, hierarchy.down, hierarchy.vertex_count)
    _check_weights(hierarchy.down)
    if hierarchy.up is not hierarchy.down:
        _check_weights(hierarchy.up)
    firsts = np.array(hierarchy.levels[:-1])
    starts, stops = offsets[firsts], offsets[np.array(hierarchy.levels[1:])]
    some = stops > starts
    if not some.any():
        return
    farthest = np.maximum.reduceat(heads, starts[some])
    if (farthest >= firsts[some]).any():
        level = int(np.flatnonzero(some)[np.argmax(farthest >= firsts[some])])
        raise GraphError(f"an arc of level {level} of the hierarchy does not lead upward")


def _check_core(hierarchy: Hierarchy) -> None:
    offsets = hierarchy.core_offsets
    if len(offsets) != hierarchy.core_count + 1:
        raise GraphError(
            f"the core has {hierarchy.core_count} vertices, but {len(offsets)} offsets"
        )
    if offsets[0] != 0 or offsets[-1] != len(hierarchy.core_heads):
        raise GraphError(f"offsets of the core do not go from 0 to {len(hierarchy.core_heads)}")
    check_offsets(offsets)
    check_arcs(hierarchy.core_heads, hierarchy.core_weights, hierarchy.core_count)
    _check_weights(hierarchy.core_weights)


def _check_weights(weights: NDArray[Any]) -> None:
    if any(in_slices(len(weights), AT_ONCE, lambda some: weights[some].min() < 0)):
        raise GraphError(f"a weight of the hierarchy is negative ({weights.min()})")
