"""Hierarchies made by the CPU, down to a core of any size, and the method of one core on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from groute_py import Graph
from groute_py.device.base import Terms
from groute_py.device.cpu.contraction import contract
from groute_py.device.cpu.device import CpuDevice
from groute_py.device.cpu.methods.contraction import Contraction
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.partition.share import Partition, rows_of, share_of

TYPES: list[np.dtype[Any]] = [np.dtype(np.int32), np.dtype(np.int64)]


def contracted(graph: Graph, core: int, distance_type: np.dtype[Any] = TYPES[0]) -> Hierarchy:
    """Down to a core of so many vertices."""
    return contract(graph.offsets, graph.heads, graph.weights, distance_type, core)


def loaded(graph: Graph, hierarchy: Hierarchy, distance_type: np.dtype[Any]) -> CpuDevice:
    """A core that solves with a hierarchy."""
    whole = Partition(np.array([0, graph.vertex_count]))
    share = replace(share_of(rows_of(graph, whole, 0), whole, 0), hierarchy=hierarchy)
    device = CpuDevice(Contraction)
    device.load(share, Terms(distance_type, 1, "alone", graph.arc_count))
    return device
