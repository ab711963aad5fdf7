"""Nearest facilities by one sweep over the hierarchy of a prepared graph, on one GPU."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.registry import kind_of
from groute_py.engine.mirrored import Mirrored
from groute_py.engine.preparing import BEFORE
from groute_py.engine.statistics import Statistics, Stopwatch
from groute_py.errors import too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.size import Size
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.jobs.device_nearest import DeviceNearest
from groute_py.jobs.facilities import NearestFacilities, by_id
from groute_py.many.device_choice import placed
from groute_py.memory.host import bytes_of, refuse_beyond
from groute_py.solver.opened import Opened
from groute_py.system.environment import local_rank
from groute_py.turns.expanded import layout_of

if TYPE_CHECKING:
    from groute_py.device.cuda.hierarchy.nearest import CudaNearest


def swept(
    opened: Opened, facilities: NDArray[np.int64], *, to_facility: bool
) -> NearestFacilities | None:
    """Answer `groute_py.nearest` by a sweep; None where the graph or its distances do not suit.

    One rank has the graph on a GPU, prepared, for 32-bit distances. What the sweep needs there
    stays for the next one.

    Args:
        opened: of one rank.
        facilities: vertices, shape (f,).
        to_facility: as for `groute_py.nearest`.

    Raises:
        InputError: the GPU or the host has too little memory.
        TimeLimitError: the time limit passed.
    """
    graph, options = opened.graph(opened.supplied), opened.options
    if options.cutoff is not None or layout_of(graph).is_expanded or hierarchy_of(graph) is None:
        return None
    if kind_of(placed(graph, options).device) != "cuda" or not _is_narrow(graph):
        return None
    if options.download:
        what = f"the facilities of {graph.vertex_count:,} vertices"
        needed = bytes_of("nearest by sweep", Size(graph.vertex_count, graph.arc_count))
        refuse_beyond(needed, what, "give the job more memory")
    deadline, watch = opened.deadline(), Stopwatch()
    with watch.phase("upload"):
        on_gpu = opened.part("nearest", lambda: _on_gpu(opened, graph))
    if time.monotonic() > deadline:
        raise too_late()
    with watch.phase("solve"):
        turned = Direction(to_facility) is not opened.supplied
        found = on_gpu.solve(by_id(graph, facilities), turned=turned)
    if found is None:
        return None
    with watch.phase("download"):
        kind: Any = DeviceNearest
        arrays: Any = found
        if options.download:
            kind, arrays = NearestFacilities, [Mirrored(one).on_host for one in found]
        about = to_facility, _statistics(on_gpu, watch), graph.numbering, graph.attribution
        answer: NearestFacilities = kind(*arrays, *about)
        return answer


def _on_gpu(opened: Opened, graph: Graph) -> CudaNearest:
    from groute_py.device.cuda.hierarchy.nearest import CudaNearest

    place = local_rank(opened.channel.rank)
    return CudaNearest(graph, place, opened.device(opened.supplied))


def _is_narrow(graph: Graph) -> bool:
    """Whether the weights, none of which is negative, fit in 32 bits with one to spare."""
    return not graph.arc_count or int(graph.weights.max()) < np.iinfo(np.int32).max


def _statistics(on_gpu: CudaNearest, watch: Stopwatch) -> dict[str, Any]:
    return Statistics(
        algorithm="contraction",
        reason=BEFORE,
        delta=float("inf"),
        distance_type="int32",
        mode="alone",
        mode_reason="one rank",
        devices=[f"cuda: {on_gpu.label}"],
        order="none",
        seconds=watch.seconds,
        relaxations=on_gpu.arc_count,
        steps=on_gpu.level_count,
        bytes_sent=[[0]],
    ).as_dict()
