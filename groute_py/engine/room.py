"""Estimates whether a graph fits on the GPUs, before it is cut, and for ``groute-py plan``.

How many vertices of other parts the arcs of a part lead to, its halo, is known only after the cut.
So there are two figures: the least, without any, and the most, where arcs lead everywhere. Roads
are close to the first, R-MAT graphs to the second. Ranks that exchange in kernels have no halo, but
the distances of all vertices of their host. If there is no room for these, they exchange in rounds,
unless the user has asked for mode ``fused``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from groute_py.device.cuda.runtime.memory_plan import gpu_bytes, linked_bytes
from groute_py.device.cuda.runtime.structs import MAX_PEERS
from groute_py.errors import InputError, everywhere
from groute_py.graph.size import Size
from groute_py.system.environment import local_rank

MOST_GPUS = 1024


@dataclass(frozen=True)
class Estimate:
    """Attributes:
    gpus: how many.
    tight: bytes on each without any halo, with worklists as short as can be.
    short: the same with the largest halo.
    least: with full worklists, without any halo.
    most: the same with the largest halo, and at least ``fused`` where the mode may be that.
    fused: where a host's ranks, 8 or fewer, exchange in kernels; 0 on one GPU.
    host: bytes on the host of rank 0, if it reads the graph, cuts it and gets the result.
    """

    gpus: int
    tight: int
    short: int
    least: int
    most: int
    fused: int
    host: int


def estimate(
    size: Size,
    gpus: int,
    distance_type: np.dtype[Any],
    mode: str = "auto",
    team: int = MAX_PEERS,
) -> Estimate:
    """Memory of a graph on ``gpus`` GPUs, one rank each, with parts of equal size.

    Args:
        size: of the graph.
        gpus: how many.
        distance_type: of the distances.
        mode: in which ranks are to exchange, as users give it.
        team: the GPUs of a host, at most `MAX_PEERS`.
    """
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
    found = (estimate(size, gpus, distance_type, mode) for gpus in counts)
    return next((e.gpus for e in found if e.most <= free), None)


def verdict(found: Estimate, free: int) -> str:
    """Whether it fits into ``free`` bytes on each GPU: yes, with short worklists, perhaps, no."""
    if found.most <= free:
        return "yes"
    if found.short <= free:
        return "with short worklists"
    return "perhaps" if found.tight <= free else "no"


def refuse_what_cannot_fit(
    name: str,
    size: Size,
    distance_type: np.dtype[Any],
    rooms: list[int | None],
    remedy: str | None = None,
    team: int | None = None,
) -> None:
    """Raise `InputError` where the parts are too large for every GPU, however they are cut.

    Every rank raises it, since all know the same.

    Args:
        name: of the graph.
        size: of the graph.
        distance_type: of the distances.
        rooms: each rank's bytes that are free for a share; None on a CPU.
        remedy: what to do; None for more GPUs.
        team: the ranks of the smallest host, if they must exchange in kernels; else None.
    """
    known = [room for room in rooms if room is not None]
    if len(known) < len(rooms):
        return
    mode = "auto" if team is None else "fused"
    found = estimate(size, len(rooms), distance_type, mode, team or MAX_PEERS)
    tight, free = found.tight, max(known)
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
    """Bytes that may be used of a GPU; what CuPy's pool holds in reserve is free too.

    Args:
        limit: of them; None for all that are free.
        place: the number of its process on the host; None for rank 0's.
    """
    gpu = import_module("groute_py.device.cuda.runtime.gpu")
    own = gpu.own_gpu(local_rank(0) if place is None else place)
    free = int(own.mem_info[0]) + int(gpu.pooled_bytes())
    return free if limit is None else min(free, limit)
