"""The memory that a centrality takes beside the graph, from numbers alone: on a host, on a GPU.

The figures of a host are those of one rank that solves on its cores, at most; the tests compare
them with what runs take. On a GPU they are the least, for one source at a time: with more memory
more are under way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groute_py.device.cpu.dependencies import SUM_BYTES, VERTEX_BYTES
from groute_py.device.cuda.runtime.memory_plan import graph_bytes
from groute_py.graph.size import Size

COUNTED = {"betweenness": False, "edge-betweenness": True}
"""The measures of all shortest paths; whether they have a value for each arc."""

OF_ROWS = ("closeness", "harmonic", "eccentricity", "diameter", "radius", "mean")

SIMPLE_ARC_BYTES = 80
"""For each arc, while parallel arcs are merged; free again when sources are solved for."""

COLLECTED_BYTES = 5 * SUM_BYTES
"""For each sum, on the rank that collects those of all."""

CORE_ARC_BYTES = 12
"""For each arc, converted for the kernels of cores."""

ROW_BYTES = {"heap": 24, "batch": 40, "sweep": 136, "floyd": 0}
"""Of a thread, for each vertex, by method; `groute_py.many.choose` weighs the matrix of floyd."""

HIERARCHY_ARC_BYTES = 24
"""For each arc, of the hierarchy of sweeps."""

REDUCED_BYTES = 40
"""For each source, of what is left of its row."""

GPU_SUM_BYTES, GPU_SLOT_BYTES = 16, 2 * 8 + 3 * 4
"""On a GPU: for each sum; and for each vertex of a source whose paths are counted."""

GPU_LIST_BYTES = 8
"""For each vertex of a source whose distances are solved for, beside a bit in each of two marks."""


@dataclass(frozen=True)
class Counting:
    """What is summed over the sources of a graph.

    Attributes:
        size: of the graph.
        by_arc: whether for arcs, not for vertices.
        squares: whether squares are summed too, where not all vertices are sources.
    """

    size: Size
    by_arc: bool
    squares: bool

    @property
    def sums(self) -> int:
        """How many there are, with those of squares."""
        return (self.size.arcs if self.by_arc else self.size.vertices) * (1 + self.squares)

    def host_bytes(self, threads: int) -> int:
        """Of a rank whose threads take a source each, and that collects the sums of all."""
        each = VERTEX_BYTES * self.size.vertices + SUM_BYTES * self.sums
        shared = COLLECTED_BYTES * self.sums + CORE_ARC_BYTES * self.size.arcs
        return threads * each + shared

    def gpu_bytes(self, distance_type: np.dtype[np.generic]) -> int:
        """Of a rank's GPU, with the graph."""
        source = source_bytes(self.size.vertices, distance_type)
        slot = GPU_SLOT_BYTES * self.size.vertices
        return _graph(self.size, distance_type) + GPU_SUM_BYTES * self.sums + source + slot


def source_bytes(vertices: int, distance_type: np.dtype[np.generic]) -> int:
    """On a GPU, of one source whose distances are solved for by a block."""
    marks = 8 * ((vertices + 31) // 32)
    return (GPU_LIST_BYTES + distance_type.itemsize) * vertices + marks


def rows_host_bytes(size: Size, sources: int, algorithm: str, threads: int) -> int:
    """Of a rank that reduces rows by its cores."""
    each = ROW_BYTES[algorithm] * size.vertices
    arc = CORE_ARC_BYTES + (HIERARCHY_ARC_BYTES if algorithm == "sweep" else 0)
    return min(threads, sources) * each + arc * size.arcs + REDUCED_BYTES * sources


def host_bytes(measure: str, size: Size, sources: int, threads: int) -> int:
    """Of rank 0 at most, by any method; see the module.

    Args:
        measure: its name on the command line.
        size: of the graph.
        sources: how many there are.
        threads: of the rank.
    """
    threads = min(threads, sources)
    if measure in COUNTED:
        counting = Counting(size, COUNTED[measure], sources < size.vertices)
        return max(counting.host_bytes(threads), SIMPLE_ARC_BYTES * size.arcs)
    return rows_host_bytes(size, sources, "sweep", threads)


def gpu_bytes(measure: str, size: Size, sources: int, distance_type: np.dtype[np.generic]) -> int:
    """Of each rank's GPU at least, with the graph; arguments as for `host_bytes`."""
    if measure in COUNTED:
        counting = Counting(size, COUNTED[measure], sources < size.vertices)
        return counting.gpu_bytes(distance_type)
    return _graph(size, distance_type) + source_bytes(size.vertices, distance_type)


def _graph(size: Size, distance_type: np.dtype[np.generic]) -> int:
    return graph_bytes(size.vertices, 0, size.arcs, 1, distance_type)
