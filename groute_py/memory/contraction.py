"""Room for contraction and for a sweep: in a GPU's memory or the host's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.device.cuda.hierarchy.memory_plan import (
    CORE,
    contraction_bytes,
    levels_bytes_in,
    levels_bytes_of,
)
from groute_py.graph.facts import Facts
from groute_py.graph.size import Size
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.hierarchy.problems import UnsuitableError
from groute_py.hierarchy.suits import MOST_NEIGHBOURS
from groute_py.memory.gpus import estimate, free_gpu_bytes
from groute_py.memory.host import bytes_of
from groute_py.system.memory_limits import available_bytes


class PreparedEstimate(NamedTuple):
    """Bytes of a graph that is prepared, all of it on one rank."""

    contraction: int  # on a GPU that contracts
    contraction_on_host: int  # where a GPU has no room for it
    sweep: int  # on a GPU, with the graph

    def verdict(self, free: int) -> str:
        """Say if it fits into ``free`` bytes of a GPU: yes, contracted on the host, no."""
        if self.sweep > free:
            return "no"
        return "yes" if self.contraction <= free else "contracted on the host"


def prepared_estimate(size: Size, distance_type: np.dtype[Any]) -> PreparedEstimate | None:
    """Return the bytes of a prepared graph; None if its mean degree says that it will not pay.

    >>> prepared_estimate(Size(10, 51), np.dtype(np.int32))
    >>> prepared_estimate(Size(10, 20), np.dtype(np.int32)).contraction
    3000
    """
    if size.arcs > MOST_NEIGHBOURS * size.vertices:
        return None
    levels = levels_bytes_of(size, min(CORE, size.vertices), distance_type)
    return PreparedEstimate(
        contraction_bytes(size.arcs),
        _host_bytes(size, distance_type),
        levels + estimate(size, 1, distance_type).tight,
    )


class ContractionPlace(NamedTuple):
    """The place where a graph is contracted."""

    kind: str  # ``cpu`` or ``cuda``
    why: str  # the reason, with numbers, for the host instead of a GPU; else ""


def place_for(facts: Facts, kind: str, memory_limit: int | None = None) -> ContractionPlace:
    """Return where a graph is contracted: on the host if a GPU is full, or `UnsuitableError`."""
    if kind == "cpu":
        return on_host(facts, "")
    takes, free = contraction_bytes(facts.arc_count), free_gpu_bytes(memory_limit)
    if takes <= free:
        return ContractionPlace(kind, "")
    state = "are free" if memory_limit is None else "may be used"
    return on_host(facts, f"contraction takes {_of(takes, 'GPU', free)} {state}")


def on_host(facts: Facts, why: str) -> ContractionPlace:
    """Return the host, and why no GPU contracts; `UnsuitableError` if the graph does not fit."""
    takes, free = _host_bytes(Size.of(facts), facts.weight_type), available_bytes()
    if free is None or takes <= free:
        return ContractionPlace("cpu", why)
    raise UnsuitableError(
        f"{why + '; ' if why else ''}contraction takes {_of(takes, 'host', free)} are free"
    )


def refuse_large_levels(hierarchy: Hierarchy, facts: Facts, kind: str) -> None:
    """Raise `UnsuitableError` if a GPU has no room for a graph, its hierarchy and a tree."""
    if kind != "cuda":
        return
    takes = levels_bytes_in(hierarchy, hierarchy.type)
    takes += estimate(Size.of(facts), 1, hierarchy.type).tight
    free = free_gpu_bytes()
    if takes > free:
        raise UnsuitableError(f"a sweep takes {_of(takes, 'GPU', free)} are free")


def _host_bytes(size: Size, weight_type: np.dtype[Any]) -> int:
    wide = weight_type.itemsize == 8
    return bytes_of("contraction of 64 bits" if wide else "contraction", size)


def _of(takes: int, memory: str, free: int) -> str:
    return f"{takes / 1e9:,.1f} GB of the {memory}, {free / 1e9:,.1f}"
