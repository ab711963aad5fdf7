"""Bytes that graphs and jobs take on GPUs, before a graph is cut, and for ``groute-py plan``; room
for contraction and for a sweep, in a GPU's memory or the host's.

How many vertices of other parts the arcs of a part lead to, its halo, is known only after the cut.
So there are two figures: the least, without any, and the most, where arcs lead everywhere. Roads
are close to the first, R-MAT graphs to the second. Ranks that exchange in kernels have no halo, but
the distances of all vertices of their host; without room for these, they exchange in rounds. A
job's figure is the least, for one source at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from groute_py.device.cuda.hierarchy.memory_plan import (
    CORE,
    contraction_bytes,
    levels_bytes_in,
    levels_bytes_of,
)
from groute_py.device.cuda.runtime.memory_plan import gpu_bytes, graph_bytes, linked_bytes
from groute_py.engine.memory.host import COUNTED, bytes_of, centrality_of, sums_of
from groute_py.errors import InputError, everywhere
from groute_py.graph.facts import Facts, Size
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.hierarchy.problems import MOST_NEIGHBOURS, UnsuitableError
from groute_py.kernels.source import MAX_PEERS
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import room_for
from groute_py.system.threads import thread_count

MOST_GPUS = 1024

SUM_BYTES, SLOT_BYTES = 16, 2 * 8 + 3 * 4
"""For each sum; and for each vertex of a source whose paths are counted."""

LIST_BYTES = 8
"""For each vertex of a source whose distances are solved for, beside a bit in each of two marks."""


@dataclass(frozen=True)
class Estimate:
    """Bytes of a graph on each of some GPUs, and on the host of rank 0, which reads and cuts it."""

    gpus: int
    tight: int  # without any halo, with worklists as short as can be
    short: int  # the same with the largest halo
    least: int  # with full worklists, without any halo
    most: int  # the same with the largest halo, and at least ``fused`` where the mode may be that
    fused: int  # if a host's ranks, 8 or fewer, exchange in kernels; 0 on one GPU
    host: int

    def verdict(self, free: int) -> str:
        """Say if it fits in ``free`` bytes on each GPU: yes, with short worklists, perhaps, no."""
        if self.most <= free:
            return "yes"
        if self.short <= free:
            return "with short worklists"
        return "perhaps" if self.tight <= free else "no"


def estimate(
    size: Size, gpus: int, distance_type: np.dtype[Any], mode: str = "auto", team: int = MAX_PEERS
) -> Estimate:
    """Estimate a graph on GPUs, a rank and an equal part each, at most `MAX_PEERS` in a team."""
    own, arcs = -(-size.vertices // gpus), -(-size.arcs // gpus)
    halo = min(size.vertices - own, arcs)
    arc = 4 + distance_type.itemsize
    graph, share = 8 * size.vertices + arc * size.arcs, 8 * own + arc * arcs
    result = 2 * 8 * size.vertices
    hosts, peers = -(-gpus // team), min(gpus, team)

    def linked(halo: int, *, short: bool) -> int:
        return linked_bytes(own, halo, arcs, peers, distance_type, hosts=hosts, short=short)

    def apart(halo: int, *, short: bool) -> int:
        return gpu_bytes(own, halo, arcs, gpus, distance_type, short=short)

    fused = linked(halo, short=False) if peers > 1 else 0
    held = linked if mode == "fused" and peers > 1 else apart
    return Estimate(
        gpus,
        held(0, short=True),
        held(halo, short=True),
        held(0, short=False),
        max(held(halo, short=False), 0 if mode == "rounds" else fused),
        fused,
        graph + (share if gpus > 1 else 0) + result,
    )


def fewest(size: Size, free: int, distance_type: np.dtype[Any], mode: str = "auto") -> int | None:
    """The fewest GPUs with ``free`` bytes each that hold the graph with any halo, or None."""
    counts = (*range(1, MAX_PEERS + 1), *(1 << n for n in range(4, MOST_GPUS.bit_length())))
    each = (estimate(size, gpus, distance_type, mode) for gpus in counts)
    return next((e.gpus for e in each if e.most <= free), None)


def refuse_what_cannot_fit(
    name: str,
    size: Size,
    distance_type: np.dtype[Any],
    rooms: list[int | None],
    remedy: str | None = None,
    team: int | None = None,
) -> None:
    """Raise `InputError`, on every rank, if parts fit on no GPU, however they are cut.

    ``rooms`` are the bytes that each rank has free for a share, None on a CPU; ``remedy`` is the
    advice, None for more GPUs; ``team`` the ranks of the smallest host, if they must exchange in
    kernels.
    """
    limits = [room for room in rooms if room is not None]
    if len(limits) < len(rooms):
        return
    mode = "auto" if team is None else "fused"
    tight = estimate(size, len(rooms), distance_type, mode, team or MAX_PEERS).tight
    free = max(limits)
    if tight > free:
        raise everywhere(
            InputError(
                f"{name} takes at least {tight / 1e9:,.1f} GB on each of {len(rooms)} GPUs, but at "
                f"most {free / 1e9:,.1f} GB are free; "
                f"{remedy or advice(fewest(size, free, distance_type))}"
            )
        )


def advice(enough: int | None) -> str:
    """The advice for a graph that does not fit, if ``enough`` GPUs are enough."""
    return f"use {enough} GPUs" if enough else "use GPUs with more memory"


def free_gpu_bytes(limit: int | None = None, place: int | None = None) -> int:
    """Return the usable bytes of a process's GPU (rank 0's for None), CuPy's reserve included."""
    from groute_py.device.cuda.runtime.gpu import own_gpu, pooled_bytes

    gpu = own_gpu(local_rank(0) if place is None else place)
    free = int(gpu.mem_info[0]) + int(pooled_bytes())
    return free if limit is None else min(free, limit)


def job_bytes(job: str, size: Size, distance_type: np.dtype[Any]) -> int | None:
    """Bytes of a job with its graph, as in `memory.host`; None if it takes the remaining memory."""
    centrality = centrality_of(job, size)
    if centrality is None:
        return None
    measure, sources = centrality
    if measure in COUNTED:
        return betweenness_bytes(size, sums_of(measure, size, sources), distance_type)
    return _whole_bytes(size, distance_type) + source_bytes(size.vertices, distance_type)


def betweenness_bytes(size: Size, sums: int, distance_type: np.dtype[Any]) -> int:
    """Bytes of sums of dependencies, with the graph."""
    source = source_bytes(size.vertices, distance_type) + SLOT_BYTES * size.vertices
    return _whole_bytes(size, distance_type) + SUM_BYTES * sums + source


def source_bytes(vertices: int, distance_type: np.dtype[Any]) -> int:
    """Bytes of one source whose distances are solved for by a block."""
    marks = 8 * ((vertices + 31) // 32)
    return (LIST_BYTES + distance_type.itemsize) * vertices + marks


def _whole_bytes(size: Size, distance_type: np.dtype[Any]) -> int:
    return graph_bytes(size.vertices, 0, size.arcs, 1, distance_type)


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
    takes = _host_bytes(Size.of(facts), facts.weight_type)
    free = room_for(takes)
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
    what = "contraction of 64 bits" if wide else "contraction"
    return bytes_of(what, size, threads=thread_count())


def _of(takes: int, memory: str, free: int) -> str:
    return f"{takes / 1e9:,.1f} GB of the {memory}, {free / 1e9:,.1f}"
