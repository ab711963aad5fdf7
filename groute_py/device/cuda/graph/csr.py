"""A share of the graph in device memory, and the struct by which kernels find it."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.base import Terms, unreached
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.memory_plan import (
    SPARE_BYTES,
    capacity,
    entry_type,
    offset_type,
    recording_arrays,
    size_of,
    work_bytes,
)
from groute_py.device.cuda.runtime.structs import SHARE, pointed
from groute_py.device.cuda.runtime.transfer import filled_on_device, to_device
from groute_py.graph.arrays import on_device
from groute_py.kernels.source import BLOCK, SOLVE
from groute_py.partition.share import Share

VISITED_AT_ONCE = 1 << 20
"""Rows for which there is a warp each where all rows are visited."""

EMPTY_ROW = 0xFFFFFFFF
"""The key of an empty row in `DeviceGraph.falling_keys`."""


class DeviceGraph:
    """The rows of a share, and the kernels of `SOLVE` that are compiled for them.

    ``struct`` is struct ``Share`` of kernels/layout/graph.cuh, ``arrays`` its members by name. In a
    team ``rows`` counts all of its vertices, and ``before`` those of ranks before this one;
    ``halo`` counts vertices of other ranks in messages. ``unit`` is that of the weight classes, or
    0. ``reserved_bytes`` are for the inboxes of a team.
    """

    def __init__(self, gpu: GpuContext, share: Share, terms: Terms) -> None:
        self.gpu, self.share, self.terms = gpu, share, terms
        self.type, self.unreached = terms.distance_type, unreached(terms.distance_type)
        self.entry_type = entry_type(self.type)
        self.rows, self.before, self.halo = share.own_count, 0, len(share.halo)
        self.unit, self.reserved_bytes = 0.0, 0
        self.compile()
        arcs = packed_arcs(share.heads, share.weights, self.type)
        self.arrays: dict[str, Any] = {
            "offsets": to_device(share.offsets, self.offset_type),
            "arcs": arcs,
            "halo_home": to_device(share.halo_home, np.int32),
            "halo_starts": cp.asarray(share.halo_starts.astype(np.uint32)),
        }
        self.point()

    @property
    def arc_count(self) -> int:
        """Arcs that this rank holds."""
        return len(self.arrays["arcs"])

    @property
    def has_in_edges(self) -> bool:
        """Return True if arcs can be pulled."""
        return "in_arcs" in self.arrays

    @property
    def prepared_label(self) -> str:
        """The label's word on the preparation for the pull phase."""
        if not self.terms.pulls:
            return ""
        return ", prepared" if self.has_in_edges else ", without room to prepare"

    def compile(self) -> None:
        """Compile the kernels for offsets into as many arcs as any rank has."""
        terms = self.terms
        self.offset_type = offset_type(terms.arcs)
        extended = "" if terms.operator is None else terms.operator.cuda
        how: dict[str, Any] = {"pulls": terms.pulls, "extended": extended}
        self.kernels = Kernels(kernels_of(SOLVE, self.type, terms.arcs, terms.mode, **how), BLOCK)

    def point(self) -> None:
        """Make the struct: kernels take the arrays and numbers as they are now."""
        numbers = {
            "first": self.share.first,
            "own": self.share.own_count,
            "rows": self.rows,
            "halo": self.halo,
            "before": self.before,
            "peers": self.terms.ranks,
            "unit": self.unit,
        }
        self.struct = pointed(SHARE, self.arrays, numbers)

    def put(self, **arrays: Any) -> None:
        """Add or replace arrays."""
        self.arrays |= arrays
        self.point()

    def set_unit(self, unit: float) -> None:
        """Arcs get weight classes of this unit."""
        self.unit = unit
        self.point()

    def renumber_halo(self, homes: Any) -> None:
        """The numbers that halo vertices have at their owners, int32, shape (halo,)."""
        self.arrays["halo_home"] = homes
        self.struct["halo_home"] = homes.data.ptr

    def plan_rows(self, rows: int, before: int) -> None:
        """Set the plan of a team's rows; kernels take it from the next `point` on."""
        self.rows, self.before = rows, before

    def plan_arcs(self, most: int, inbox_bytes: int) -> None:
        """The arcs of the team's largest part; kernels take them from the next `compile` on."""
        self.terms = self.terms._replace(arcs=most)
        self.reserved_bytes = inbox_bytes

    def take_redistributed(self, arrays: dict[str, Any], halo: int) -> None:
        """Arrays in place of those of the share; kernels take them from the next `point` on."""
        self.arrays |= arrays
        self.halo = halo

    def visit_rows(self, kernel: str, *words: Any) -> None:
        """Launch a kernel with a warp for each row."""
        self.kernels.run(kernel, 32 * min(self.rows, VISITED_AT_ONCE), self.struct, *words)

    def falling_keys(self) -> Any:
        """uint32: `EMPTY_ROW` less the arcs of each row that lies here."""
        offsets = self.arrays["offsets"]
        keys = cp.empty(len(offsets) - 1, np.uint32)
        self.kernels.run("list_falling", len(keys), offsets, np.uint32(len(keys)), keys)
        return keys

    def spare(self) -> int:
        """Bytes free beside later allocations; negative if those do not all fit."""
        return self.gpu.room() - self._worked_on_bytes() - SPARE_BYTES

    def _worked_on_bytes(self) -> int:
        """Bytes of later allocations: the working arrays and those for records."""
        ranks, entries = self.terms.ranks, capacity(self.rows)
        work = work_bytes(self.rows, self.halo, self.arc_count, ranks, self.type, entries)
        recording = recording_arrays(entries, self.share.own_count, self.type)
        return work + size_of(recording) + self.reserved_bytes


def packed_arcs(heads: Any, weights: Any, distance_type: np.dtype[Any]) -> Any:
    """Arcs as kernels load them, weight and head side by side (``Arc`` in their types.cuh)."""
    words = np.dtype(f"u{distance_type.itemsize}")
    kind = np.dtype(np.uint64 if words.itemsize == 4 else np.complex128)

    def pack(part: slice, place: Any) -> None:
        fields = place.view(words).reshape(-1, 2)
        np.copyto(fields[:, 0].view(distance_type), weights[part], casting="unsafe")
        np.copyto(fields[:, 1], heads[part], casting="unsafe")

    if not on_device(heads) and not on_device(weights):
        return filled_on_device(len(heads), kind, pack)
    arcs = cp.empty(len(heads), kind)
    fields = arcs.view(words).reshape(-1, 2)
    fields[:, 0] = to_device(weights, distance_type).view(words)
    fields[:, 1] = to_device(heads, np.int32).view(np.uint32)
    return arcs


def unpacked_arcs(arcs: Any, distance_type: np.dtype[Any]) -> tuple[Any, Any]:
    """Heads, uint32, and weights of `packed_arcs`."""
    words = np.uint32 if distance_type.itemsize == 4 else np.uint64
    fields = arcs.view(words).reshape(-1, 2)
    return fields[:, 1].astype(np.uint32), fields[:, 0].view(distance_type)


def starts_of(counts: Any, dtype: Any) -> Any:
    """Return where rows of so many entries begin, and where the last one ends, shape (n + 1,)."""
    starts = cp.zeros(len(counts) + 1, dtype)
    cp.cumsum(counts, dtype=dtype, out=starts[1:])
    return starts


def places_in(order: Any, dtype: Any) -> Any:
    """Return the place of each of the numbers 0 … n − 1 in an order of them, shape (n,)."""
    places = cp.empty(len(order), dtype)
    places[order] = cp.arange(len(order), dtype=dtype)
    return places


def lengths(offsets: Any) -> Any:
    """uint32, shape (n,): of rows."""
    return (offsets[1:] - offsets[:-1]).astype(np.uint32)
