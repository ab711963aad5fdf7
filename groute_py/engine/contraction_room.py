"""Where contraction fits, and whether a sweep does: in a GPU's memory or the host's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.device.cuda.hierarchy.memory_plan import (
    CORE,
    contraction_bytes,
    levels_bytes_in,
    levels_bytes_of,
)
from groute_py.engine.room import estimate, free_gpu_bytes
from groute_py.graph.facts import Facts
from groute_py.graph.size import Size
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.hierarchy.suits import MOST_NEIGHBOURS
from groute_py.system.memory_limits import available_bytes

HOST_BYTES = {4: 90, 8: 130}
"""Of host memory that contraction takes for each arc, by bytes of a weight; measured on roads."""


class PreparedEstimate(NamedTuple):
    """Bytes that a graph takes if it is prepared, all of it on one rank.

    Attributes:
        contraction: on a GPU that contracts.
        contraction_on_host: on the host, where a GPU has no room for it.
        sweep: on a GPU, with the graph.
    """

    contraction: int
    contraction_on_host: int
    sweep: int

    def verdict(self, free: int) -> str:
        """Whether it fits into ``free`` bytes of a GPU: yes, contracted on the host, no."""
        if self.sweep > free:
            return "no"
        return "yes" if self.contraction <= free else "contracted on the host"


def prepared_estimate(size: Size, distance_type: np.dtype[Any]) -> PreparedEstimate | None:
    """What a graph takes if it is prepared; None where its mean degree says that it will not pay.

    >>> prepared_estimate(Size(10, 51), np.dtype(np.int32))
    >>> prepared_estimate(Size(10, 20), np.dtype(np.int32)).contraction
    3000
    """
    if size.arcs > MOST_NEIGHBOURS * size.vertices:
        return None
    levels = levels_bytes_of(size, min(CORE, size.vertices), distance_type)
    return PreparedEstimate(
        contraction_bytes(size.arcs),
        host_contraction_bytes(size.arcs, distance_type),
        levels + estimate(size, 1, distance_type).tight,
    )


class NoRoomError(Exception):
    """Contraction or a sweep does not fit, with the numbers."""


def host_contraction_bytes(arcs: int, weight_type: np.dtype[Any]) -> int:
    """Bytes of host memory that contraction of a road graph takes, beside the graph."""
    return HOST_BYTES[8 if weight_type.itemsize == 8 else 4] * arcs


class Place(NamedTuple):
    """Where a graph is contracted.

    Attributes:
        kind: ``cpu`` or ``cuda``.
        why: it is the host, where it was to be a GPU, with the numbers; else "".
    """

    kind: str
    why: str


def place_for(facts: Facts, kind: str, memory_limit: int | None = None) -> Place:
    """Where a graph is contracted: on the host too where a GPU is full.

    Args:
        facts: of the graph.
        kind: ``cpu`` or ``cuda``, where it is to be.
        memory_limit: bytes of the GPU that may be used; None for all that are free.

    Raises:
        NoRoomError: it fits nowhere.
    """
    why = ""
    if kind == "cuda":
        takes, free = contraction_bytes(facts.arc_count), free_gpu_bytes(memory_limit)
        if takes <= free:
            return Place(kind, "")
        left = "are free" if memory_limit is None else "may be used"
        why = f"contraction takes {takes / 1e9:,.1f} GB of the GPU, {free / 1e9:,.1f} {left}"
    return on_host(facts, why)


def on_host(facts: Facts, why: str) -> Place:
    """The host, to contract a graph.

    Args:
        facts: of the graph.
        why: no GPU does; "" if none is to.

    Raises:
        NoRoomError: it does not fit.
    """
    takes, left = host_contraction_bytes(facts.arc_count, facts.weight_type), available_bytes()
    if left is None or takes <= left:
        return Place("cpu", why)
    raise NoRoomError(
        f"{why + '; ' if why else ''}contraction takes {takes / 1e9:,.1f} GB of the host, "
        f"{left / 1e9:,.1f} are free"
    )


def refuse_large_levels(hierarchy: Hierarchy, facts: Facts, kind: str) -> None:
    """Raise `NoRoomError` if a GPU has no room for a graph, its hierarchy and a tree from it."""
    if kind != "cuda":
        return
    takes = levels_bytes_in(hierarchy, hierarchy.type)
    takes += estimate(Size(facts.vertex_count, facts.arc_count), 1, hierarchy.type).tight
    free = free_gpu_bytes()
    if takes > free:
        raise NoRoomError(
            f"a sweep takes {takes / 1e9:,.1f} GB of the GPU, {free / 1e9:,.1f} are free"
        )
