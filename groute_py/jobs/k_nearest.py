"""The k nearest facilities of each vertex, from a row for each facility.

Rows come in blocks, and rank 0 keeps the k smallest distances of each vertex. So only one
block at a time needs memory, whatever the number of facilities.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import bound_within, unreached
from groute_py.device.rows import RowBlock
from groute_py.device.summary import wide
from groute_py.engine.memory.host import bytes_of, refuse_beyond
from groute_py.engine.options import Options
from groute_py.graph.arrays import on_device
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Size, facts_of
from groute_py.graph.turns.expanded import layout_of
from groute_py.jobs.facilities import NearestFacilities, by_id, next_vertices
from groute_py.many.apsp import Ends, ManySources
from groute_py.many.delivery import deliver
from groute_py.many.opened import Opened, Work
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.store import Store
from groute_py.results.answer import about
from groute_py.system.threads import in_slices

if TYPE_CHECKING:
    from groute_py.device.cuda.multi_source.summary import CudaSmallest

VERTICES_AT_ONCE = 1 << 13
"""Vertices whose k nearest a thread finds in one go, so that they stay in its cache."""


def k_nearest(
    opened: Opened, facilities: NDArray[np.int64] | None, work: Work, *, k: int, to_facility: bool
) -> NearestFacilities | None:
    """Answer `groute_py.nearest` with ``k`` > 1 on rank 0; None elsewhere. Collective.

    Rank 0 has the facilities. What an earlier run saved in ``work.keep`` of the rows of some is
    loaded, and these are not solved again. With a cutoff, those of the k nearest within it remain.
    """
    channel, options, direction = opened.channel, opened.options, Direction(to_facility)
    deadline = opened.deadline()
    row_options = Options(
        device=options.device, predecessors=True, memory_limit=options.memory_limit
    )

    def ends() -> Ends:
        graph = opened.graph(opened.supply_direction)
        options.check_against(facts_of(graph))
        assert facilities is not None
        count = layout_of(graph).vertex_count
        needed = bytes_of("k nearest", Size(count, graph.arc_count), k)
        refuse_beyond(needed, f"{k:,} facilities of each of {count:,} vertices", "ask for fewer")
        return Ends(by_id(graph, facilities))

    many = replace(opened.many_sources(ends, row_options, direction), by_state=True)
    if channel.size == 1 and work.keep is None and not many.layout.is_expanded:
        many = replace(many, on_gpu=True)

    def record() -> dict[str, Any]:
        cutoff = None if options.bound == math.inf else options.bound
        choices = {"job": "nearest", "k": k, "to_facility": to_facility, "cutoff": cutoff}
        return run_of(many.row_graph.digest, {"facilities": many.begins}, choices)

    missing = np.arange(len(many.sources))
    if work.keep is not None:
        missing = work.keep.begin(channel, record, len(missing))
    smallest = Smallest(many, k, work.keep) if channel.rank == 0 else None
    if work.keep is not None:
        work.keep.load_into(channel, {} if smallest is None else smallest.columns)
    label = deliver(
        channel, many, missing, smallest, opened.collective_watch(deadline, work.progress)
    )
    if smallest is None:
        return None
    return smallest.answer(label, cutoff=options.bound, to_facility=to_facility)


class Smallest:
    """The k smallest entries of each column of the rows; see `groute_py.many.delivery.Sink`."""

    def __init__(self, many: ManySources, k: int, keep: Store | None = None) -> None:
        self._layout, self._many, self._keep = many.layout, many, keep
        self._shape = self._layout.vertex_count, k
        self._on_gpu: CudaSmallest | None = None
        self._is_taken = np.ones(len(many.sources), np.bool_)
        if keep is not None:
            self._is_taken[keep.missing] = False

    @cached_property
    def _entries(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]:
        """The distances, owners and predecessors of the rows so far, (n, k)."""
        if self._on_gpu is not None:
            return self._on_gpu.on_host()
        nothing = unreached(wide(self._many.graph.weights.dtype))
        return np.full(self._shape, nothing), *np.full((2, *self._shape), -1, np.int32)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The nearest of the rows so far, by their names in the store; not copied."""
        return dict(zip(("distances", "owners", "before"), self._entries, strict=True))

    def take(self, numbers: NDArray[np.int64], block: RowBlock) -> None:
        if on_device(block.distances) and "_entries" not in vars(self):
            self._on_gpu = self._on_gpu or self._room_on_gpu()
        if self._on_gpu is not None:
            self._on_gpu.take(block.distances, block.predecessors, numbers)
            return
        from groute_py.kernels.cpu.owners import keep_smallest  # which compiles

        assert block.predecessors is not None
        rows: Any = block.distances
        predecessors: Any = block.predecessors
        if on_device(rows):  # which has no room for what is left of them
            rows, predecessors = rows.get(), predecessors.get()
        if self._layout.is_expanded:
            rows = self._layout.at_ends(rows.T).T
            predecessors = next_vertices(predecessors, self._layout)
        if self._keep is not None:
            self._keep.withdraw()
        words = rows, predecessors, numbers, unreached(rows.dtype)
        smallest = self._entries

        def take(some: slice) -> None:
            keep_smallest(*words, (some.start, some.stop), *smallest)

        in_slices(self._shape[0], VERTICES_AT_ONCE, take)
        self._is_taken[numbers] = True
        if self._keep is not None:
            self._keep.replace(np.flatnonzero(self._is_taken), **self.columns)

    def _room_on_gpu(self) -> CudaSmallest | None:
        from groute_py.device.cuda.multi_source.summary import CudaSmallest

        try:
            return CudaSmallest(*self._shape, self._many.graph.weights.dtype)
        except MemoryError:
            return None

    def answer(self, label: str, *, cutoff: float | None, to_facility: bool) -> NearestFacilities:
        """Return the nearest of all rows, up to a cutoff."""
        kind = self._many.graph.weights.dtype
        distances, owners, predecessors = self._entries
        distances = distances.astype(kind, copy=False) if kind.kind == "f" else distances
        facilities = np.append(self._many.sources, -1)[owners]
        following = predecessors.astype(np.int64)
        if cutoff is not None:
            is_beyond = distances > bound_within(cutoff, distances.dtype)
            facilities[is_beyond] = following[is_beyond] = -1
            distances = np.where(is_beyond, unreached(distances.dtype), distances)
        statistics = {
            "algorithm": self._many.choice.algorithm,
            "reason": self._many.choice.reason,
            "devices": [label],
        }
        return NearestFacilities(
            facilities,
            distances,
            following,
            to_facility,
            statistics=statistics,
            **about(self._many.row_graph),
        )
