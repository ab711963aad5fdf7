"""Nearest facilities by one sweep over the hierarchy of a prepared graph, on one GPU."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.registry import kind_of
from groute_py.engine.mirrored import Mirrored
from groute_py.engine.options import Options
from groute_py.engine.preparing import BEFORE
from groute_py.engine.statistics import Statistics, Stopwatch
from groute_py.errors import too_late
from groute_py.graph.csr import Graph
from groute_py.graph.size import Size
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.jobs.deadline import deadline_in
from groute_py.jobs.device_nearest import DeviceNearest
from groute_py.jobs.facilities import NearestFacilities, by_id
from groute_py.many.device_choice import placed
from groute_py.memory.host import bytes_of, refuse_beyond
from groute_py.system.environment import local_rank
from groute_py.turns.expanded import layout_of

if TYPE_CHECKING:
    from groute_py.device.cuda.hierarchy.nearest import CudaNearest


class NearestSweep:
    """What one graph needs on a GPU for its nearest facilities, once it is asked for them.

    Args:
        channel: connects the ranks.
        loaded: the device of an open solver, which holds the graph; None where there is none.
    """

    def __init__(self, channel: Channel, loaded: object = None) -> None:
        self._channel, self._loaded = channel, loaded
        self._on_gpu: CudaNearest | None = None

    def suits(self, graph: Graph, options: Options) -> bool:
        """Whether the graph is swept: one rank has it on a GPU, prepared, for 32-bit distances."""
        if self._channel.size > 1 or options.cutoff is not None or options.turns is not None:
            return False
        if hierarchy_of(graph) is None or layout_of(graph).is_expanded:
            return False
        if kind_of(placed(graph, options).device) != "cuda":
            return False
        return self._on_gpu is not None or _is_narrow(graph)

    def solve(
        self,
        graph: Graph,
        facilities: NDArray[np.int64],
        options: Options,
        *,
        to_facility: bool,
        turned: bool,
    ) -> NearestFacilities | None:
        """The answer of `groute_py.nearest`; None if it takes wider distances.

        Args:
            graph: that suits.
            facilities: vertices, shape (f,).
            options: how to solve.
            to_facility: as for `groute_py.nearest`.
            turned: whether paths lead against the arcs of ``graph``.

        Raises:
            InputError: the GPU or the host has too little memory.
            TimeLimitError: the time limit passed.
        """
        if options.download:
            what = f"the facilities of {graph.vertex_count:,} vertices"
            needed = bytes_of("nearest by sweep", Size(graph.vertex_count, graph.arc_count))
            refuse_beyond(needed, what, "give the job more memory")
        deadline, watch = deadline_in(options.time_limit_s), Stopwatch()
        with watch.phase("upload"):
            on_gpu = self._opened(graph)
        if time.monotonic() > deadline:
            raise too_late()
        with watch.phase("solve"):
            found = on_gpu.solve(by_id(graph, facilities), turned=turned)
        if found is None:
            return None
        with watch.phase("download"):
            owners, distances, following = map(_downloaded, found) if options.download else found
        kind = NearestFacilities if options.download else DeviceNearest
        figures = _statistics(on_gpu, watch)
        about = to_facility, figures, graph.numbering, graph.attribution
        return kind(owners, distances, following, *about)

    def drop(self) -> None:
        """Free what is on the GPU."""
        self._on_gpu = None

    def _opened(self, graph: Graph) -> CudaNearest:
        from groute_py.device.cuda.hierarchy.nearest import CudaNearest

        if self._on_gpu is None:
            place = local_rank(self._channel.rank)
            self._on_gpu = CudaNearest(graph, place, self._loaded)
        return self._on_gpu


def _is_narrow(graph: Graph) -> bool:
    """Whether the weights, none of which is negative, fit in 32 bits with one to spare."""
    return not graph.arc_count or int(graph.weights.max()) < np.iinfo(np.int32).max


def _downloaded(values: Any) -> NDArray[Any]:
    return Mirrored(values).on_host


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
