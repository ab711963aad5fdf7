"""Nearest facilities out of a hierarchy on the cores: one search upward from all, and one sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.device import CpuDevice
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy, unsigned
from groute_py.device.cpu.methods.contraction import Contraction
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.prepared import hierarchy_of
from groute_py.kernels.cpu import owners, sweep
from groute_py.results.distances import public_distances

DISTANCE = np.dtype(np.int32)
"""The type of distances, as on a GPU."""


class CpuNearest:
    """A prepared graph on the cores; as `groute_py.device.cuda.hierarchy.nearest.CudaNearest`.

    ``graph_of`` returns the graph, or the reversed one if ``turned``.
    """

    def __init__(self, graph_of: Callable[[bool], Graph], loaded: object = None) -> None:
        self._graph_of, self._sides = graph_of, dict[bool, tuple[CpuHierarchy, Climb]]()
        method = loaded.parts if isinstance(loaded, CpuDevice) else None
        levels = method.levels if isinstance(method, Contraction) else None
        if levels is not None and levels.type == DISTANCE:
            self._sides[False] = levels, Climb(levels)
        hierarchy = self._hierarchy(turned=False)
        self.arc_count, self.level_count = hierarchy.arc_count, len(hierarchy.levels) - 1
        self.label = CpuDevice().label

    def _hierarchy(self, *, turned: bool) -> Any:
        return hierarchy_of(self._graph_of(turned))

    def solve(self, facilities: NDArray[np.int64], *, turned: bool) -> tuple[Any, ...] | None:
        """Return facilities, distances and next vertices; None if 32 bits may not be enough."""
        if turned not in self._sides:
            hierarchy = self._hierarchy(turned=turned)
            if hierarchy.type != DISTANCE:
                return None
            one = CpuHierarchy(hierarchy, DISTANCE)
            self._sides[turned] = one, Climb(one)
        one, climb = self._sides[turned]
        graph, nothing = self._graph_of(turned), unreached(DISTANCE)
        answers = np.empty(graph.vertex_count, DISTANCE)
        try:
            climb.search(facilities)
            sweep.sweep(*one.down_arcs, unsigned(climb.distances))
            greatest = sweep.answer(one.places, climb.distances, nothing, nothing, answers)
        finally:
            climb.distances.fill(nothing)
        if climb.overflowed or int(greatest) + one.heaviest >= int(nothing):
            return None
        nearest, following = np.full((2, graph.vertex_count), -1)
        arcs = graph.offsets, graph.heads, graph.weights
        owners.assign_owners(arcs, answers, nothing, facilities, nearest, following)
        return nearest, public_distances(answers), following
