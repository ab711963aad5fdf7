"""Nearest facilities of a prepared graph on one rank: by one sweep from all of them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.registry import kind_of
from groute_py.engine.late import Mirrored
from groute_py.engine.memory.host import bytes_of, refuse_beyond
from groute_py.engine.preparing import BEFORE
from groute_py.engine.statistics import Statistics, Stopwatch
from groute_py.errors import too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Size
from groute_py.graph.hierarchy.prepared import hierarchy_of
from groute_py.graph.turns.expanded import layout_of
from groute_py.jobs.facilities import DeviceNearest, NearestFacilities, by_id
from groute_py.many.choose import with_device
from groute_py.many.opened import Opened
from groute_py.results.answer import about
from groute_py.system.environment import local_rank

MOST_ROOTED_BY_HIERARCHY = 10_000
"""Facilities up to which a solve from a root, or a sweep on the cores, is by the hierarchy of a
prepared graph. Its search upward, by one block of a GPU or one thread, visits all above them."""


def sweep_from(
    opened: Opened, facilities: NDArray[np.int64], *, to_facility: bool
) -> NearestFacilities | None:
    """Answer `groute_py.nearest` by a sweep; None where the graph or its distances do not suit.

    One rank has the graph, prepared, for 32-bit distances. The arrays of the sweep stay on its
    device for the next call.
    """
    graph, options = opened.graph(opened.supply_direction), opened.options
    if options.cutoff is not None or layout_of(graph).is_expanded or hierarchy_of(graph) is None:
        return None
    kind, many = kind_of(with_device(graph, options).device), MOST_ROOTED_BY_HIERARCHY
    suits = kind == "cuda" or (options.download and len(facilities) <= many)
    # weights, none of which is negative, have to fit in 32 bits with one to spare
    if not suits or (graph.arc_count and int(graph.weights.max()) >= np.iinfo(np.int32).max):
        return None
    if options.download:
        what = f"the facilities of {graph.vertex_count:,} vertices"
        needed = bytes_of("nearest by sweep", Size.of(graph))
        refuse_beyond(needed, what, "give the job more memory")
    deadline, watch = opened.deadline(), Stopwatch()
    with watch.phase("upload"):
        loaded = opened.memo("nearest", lambda: LOADERS[kind](opened))
    if time.monotonic() > deadline:
        raise too_late()
    with watch.phase("solve"):
        is_reversed = Direction(to_facility) is not opened.supply_direction
        arrays: Any = loaded.solve(by_id(graph, facilities), turned=is_reversed)
    if arrays is None:
        return None
    with watch.phase("download"):
        made: Any = DeviceNearest
        if options.download:
            made = NearestFacilities
            arrays = arrays if kind == "cpu" else [Mirrored(one).on_host for one in arrays]
        answer: NearestFacilities = made(
            *arrays,
            to_facility=to_facility,
            statistics=_statistics(f"{kind}: {loaded.label}", loaded, watch),
            **about(graph),
        )
        return answer


def _on_gpu(opened: Opened) -> Any:
    from groute_py.device.cuda.hierarchy.nearest import CudaNearest

    local, direction = local_rank(opened.channel.rank), opened.supply_direction
    return CudaNearest(opened.graph(direction), local, opened.device(direction))


def _on_cpu(opened: Opened) -> Any:
    from groute_py.device.cpu.nearest import CpuNearest  # which compiles

    direction = opened.supply_direction

    def graph_of(turned: bool) -> Graph:
        graph = opened.graph(direction.other if turned else direction)
        assert graph is not None
        return graph

    return CpuNearest(graph_of, opened.device(direction))


LOADERS = {"cuda": _on_gpu, "cpu": _on_cpu}
"""Functions that put the open graph on a device, for sweeps in both directions."""


def _statistics(device: str, loaded: Any, watch: Stopwatch) -> dict[str, Any]:
    return Statistics(
        algorithm="contraction",
        reason=BEFORE,
        delta=float("inf"),
        distance_type="int32",
        mode="alone",
        mode_reason="one rank",
        devices=[device],
        order="none",
        seconds=watch.seconds,
        relaxations=loaded.arc_count,
        steps=loaded.level_count,
        bytes_sent=[[0]],
    ).as_dict()
