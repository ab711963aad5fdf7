"""A share on a GPU: its graph, the working arrays and the kernels.

A method's own arrays are allocated before the worklists, which take the remaining memory and may be
short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import cupy as cp
import cupyx
import numpy as np
from cupy.cuda import driver, runtime
from numpy.typing import NDArray

from groute_py.device.base import Counters, ModeName, Terms, unreached
from groute_py.device.cuda_call import Call
from groute_py.device.cuda_crossing import to_device, to_host
from groute_py.device.cuda_graph import packed_arcs
from groute_py.device.cuda_module import kernels_of
from groute_py.device.inventory import uuid_of
from groute_py.device.layout import (
    NUMBER,
    PEERS,
    POINTER,
    SHARE,
    WORK,
    control_type,
    offset_of,
    pointed,
)
from groute_py.device.memory import (
    SPARE_BYTES,
    Shape,
    capacity,
    entries_that_fit,
    entry_type,
    far_few,
    is_wide,
    item_capacity,
    message_bytes,
    offset_type,
    size_of,
    work_arrays,
)
from groute_py.device.own_gpu import own_gpu
from groute_py.device.peers import exportable
from groute_py.errors import InputError
from groute_py.kernels.source import BLOCK, SOLVE
from groute_py.partition.share import Share
from groute_py.results.result import public_distances

T = TypeVar("T")

BLOCKS_PER_PROCESSOR = 4
"""Most blocks of the persistent grid on each multiprocessor; see
docs/what-we-learned.md#near-and-far-lists."""

LOOKED_AT = 1 << 21
"""Vertices that are processed together; their temporary arrays take 40 MB."""

NO_MEMORY = 2
"""CUDA's status of a call that found no memory, in both of its interfaces."""

MANY_TO_CUPY = 1100
"""Values for whose sums and orders CuPy has other kernels than for few; a block takes 1,024."""

_REHEARSED: set[tuple[type, np.dtype[Any], type, ModeName, bool]] = set()
"""What has been loaded once in this process: kinds of devices, with a distance and an offset type,
how ranks exchange, and whether they pull."""


class Loaded:
    """A GPU with a share on it.

    Args:
        local_rank: takes the GPU of this number; where there are fewer, ranks share.
        direct: messages lie in device memory.
    """

    remedy = "use more GPUs"
    """What to do where a share does not fit."""

    def __init__(self, local_rank: int, *, direct: bool) -> None:
        self._direct = direct
        self._gpu, count = own_gpu(local_rank), runtime.getDeviceCount()
        properties = runtime.getDeviceProperties(self._gpu.id)
        self._processors = properties["multiProcessorCount"]
        self._l2_bytes = properties["l2CacheSize"]
        shared = (
            f", shared by {local_rank // count + 1} ranks or more" if local_rank >= count else ""
        )
        self.label = f"{properties['name'].decode()} #{self._gpu.id}{shared}"
        self._processor = self.label
        self.uuid: str | None = uuid_of(properties)
        self.counters = Counters()
        self._stream = cp.cuda.Stream(non_blocking=True)

    def rehearse(self, terms: Terms) -> None:
        # CuPy compiles what it loads with too, when it is first asked for it
        kind = terms.distance_type, offset_type(terms.arcs), terms.mode, terms.pulls
        which = type(self), *kind
        if which not in _REHEARSED:
            self.load(smallest(terms.distance_type), terms._replace(ranks=1))
            self.let_go()
            _REHEARSED.add(which)

    def load(self, share: Share, terms: Terms) -> None:
        self._gpu.synchronize()  # whoever makes a graph on this GPU is done with it
        self.let_go()
        # kernels would not tell it apart
        assert terms.mode != "alone" or len(share.halo) == 0
        assert is_wide(terms.arcs) or not is_wide(len(share.heads))
        self._share, self._terms = share, terms
        self._rows, self._before, self._halo = share.own_count, 0, len(share.halo)
        self._inbox_bytes = 0
        self._unit = 0.0
        self._type, self._nothing = terms.distance_type, unreached(terms.distance_type)
        what = f"the share of {share.own_count:,} vertices and {len(share.heads):,} arcs"
        with self._stream, self._within_memory(what, self.remedy):
            self._compile()
            self._upload(share)
            self._arrange(share)
            self._allocate(exported=False)
        self._stream.synchronize()

    def let_go(self) -> None:
        """Drop the arrays of the graph before: two do not have to fit."""
        self._graph: dict[str, Any] = {}
        self._arrays: dict[str, Any] = {}

    def room(self) -> int:
        return int(self._gpu.mem_info[0]) + int(cp.get_default_memory_pool().free_bytes())

    def _has_room_for(self, shapes: dict[str, Shape]) -> bool:
        """Whether arrays are there that are nice to have; allocates them where memory is left."""
        if shapes.keys() <= self._arrays.keys():
            return True
        if self.room() < size_of(shapes) + SPARE_BYTES:
            return False
        try:
            with self._stream:
                self._arrays |= {name: cp.empty(*words) for name, words in shapes.items()}
        except cp.cuda.memory.OutOfMemoryError:
            return False
        return True

    def arcs_reached(self) -> int:
        with self._stream:
            arcs = cp.zeros(1, np.uint64)
            self._run("count_reached", self._rows // 8, self._share_at, self._work, arcs)
            return int(arcs.get()[0])

    def held(self, *, predecessors: bool) -> tuple[Any, Any]:
        remedy = "leave out download=False"
        with self._stream, self._within_memory("a second copy of the answer", remedy):
            distances = _own(public_distances(self._answer("distance")))
            parents = _own(self._answer("parent")) if predecessors else None
        self._stream.synchronize()
        return distances, parents

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        own = (
            self._share.own_count
        )  # in the share's numbers: with negative weights there are no others
        with self._stream:
            self._arrays["distance"][:own] = cp.asarray(distances)
            self._arrays["parent"][:own] = cp.asarray(parents)

    def distances(self) -> NDArray[Any]:
        return self._download("distance")

    def predecessors(self) -> NDArray[np.int64]:
        return self._download("parent")

    def _arrange(self, share: Share) -> None:
        """Add a method's own arrays to the graph; the base class adds none."""

    def _arranged(self) -> str:
        """The text for them in the label."""
        return ""

    @contextmanager
    def _within_memory(self, what: str, remedy: str) -> Iterator[None]:
        """Raise `InputError` where the GPU has no memory left for something."""
        try:
            yield
        except (MemoryError, runtime.CUDARuntimeError, driver.CUDADriverError) as problem:
            if getattr(problem, "status", NO_MEMORY) != NO_MEMORY:
                raise
            raise InputError(f"{what} does not fit on {self.label} ({problem}); {remedy}") from (
                problem
            )

    def _compile(self) -> None:
        self._offset_type = offset_type(self._terms.arcs)
        terms = self._terms
        self._kernels = kernels_of(SOLVE, self._type, terms.arcs, terms.mode, pulls=terms.pulls)
        kernel = self._kernels["relax"].kernel
        blocks = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, BLOCK, 0)
        # every block of the grid barrier must be running: never more than fit at once
        grid = self._processors * min(blocks, BLOCKS_PER_PROCESSOR)
        self._relaxing = Call(kernel, grid, BLOCK, relaxing(self._type))

    def _upload(self, share: Share) -> None:
        arcs = packed_arcs(share.heads, share.weights, self._type)
        self._graph = {
            "offsets": to_device(share.offsets, self._offset_type),
            "arcs": arcs,
            "halo_home": to_device(share.halo_home, np.int32),
            "halo_starts": cp.asarray(share.halo_starts.astype(np.uint32)),
        }
        self._point_to_share()

    def _point_to_share(self) -> None:
        numbers = {
            "first": self._share.first,
            "own": self._share.own_count,
            "rows": self._rows,
            "halo": self._halo,
            "before": self._before,
            "peers": self._terms.ranks,
            "unit": self._unit,
        }
        self._share_at = pointed(SHARE, self._graph, numbers)

    def _allocate(self, *, exported: bool) -> None:
        """Allocate the working arrays; with ``exported`` peers can map the distances."""
        arcs, peers = len(self._graph["arcs"]), self._terms.ranks
        sizes = (self._rows, self._halo, arcs, peers, self._type)
        entries = self._entries_that_fit(sizes)
        shapes = work_arrays(*sizes, entries)
        self._arrays = {}
        if exported:
            self._arrays["distance"] = exportable(*shapes.pop("distance"))
        self._arrays |= {name: cp.empty(shape, dtype) for name, (shape, dtype) in shapes.items()}
        self.label = self._processor + _shortened(entries, self._rows) + self._arranged()
        far, items = self._arrays["far"].shape[1], item_capacity(arcs)
        few = min(far_few(self._share.own_count), far)
        lengths = {"capacity": entries, "far_capacity": far, "far_few": few, "item_capacity": items}
        self._work = pointed(WORK, self._arrays, lengths)
        self._control_type = control_type(self._type)
        self._control = cp.zeros(self._control_type.itemsize, np.uint8)
        dirty_count = offset_of(self._control_type, "dirty_count")
        self._dirty_count = self._control[dirty_count : dirty_count + 4]
        self._seen = cupyx.empty_pinned(self._control.nbytes, np.uint8).view(self._control_type)
        ends = (self._seen.ctypes.data, self._control.data.ptr)
        self._copying = (*ends, self._control.nbytes, runtime.memcpyDeviceToHost)
        self._box_counts = cupyx.zeros_pinned(peers, np.uint32)

    def _entries_that_fit(self, sizes: tuple[int, int, int, int, np.dtype[Any]]) -> int:
        """The places of each worklist, by the free memory outside the pool of small pieces."""
        _, halo, _, peers, _ = sizes
        apart = self._inbox_bytes
        apart += message_bytes(halo, peers, self._type) if self._direct else 0
        entries = entries_that_fit(*sizes, self._gpu.mem_info[0] - apart)
        if entries == capacity(sizes[0]):
            return entries
        cp.get_default_memory_pool().free_all_blocks()
        return entries_that_fit(*sizes, self._gpu.mem_info[0] - apart)

    def _arc_type(self) -> np.dtype[Any]:
        return entry_type(self._type)

    def _run(self, name: str, threads: int, *arguments: Any) -> None:
        """Launch an ordinary kernel with about one thread for each item."""
        blocks = max((threads + BLOCK - 1) // BLOCK, 1)
        self._kernels[name]((blocks,), (BLOCK,), arguments)

    def _read_control(self) -> Any:
        runtime.memcpyAsync(*self._copying, self._stream.ptr)
        self._stream.synchronize()
        return self._seen[0]

    def _write_control(self, field: str, value: Any) -> None:
        start = offset_of(self._control_type, field)
        self._control[start : start + value.nbytes] = cp.asarray(
            np.frombuffer(value.tobytes(), np.uint8)
        )

    def _download(self, name: str) -> NDArray[Any]:
        with self._stream:
            return to_host(self._answer(name))

    def _answer(self, name: str) -> Any:
        """Of the owned vertices, in the share's numbers."""
        return self._arrays[name][: self._share.own_count]

    def _number_of(self, vertices: Any) -> Any:
        """The numbers that owned vertices have in the kernels."""
        return vertices


def if_it_fits(action: Callable[[], T]) -> T | None:
    """The result of an action, or None if GPU memory is short, so that peers can be informed."""
    try:
        return action()
    except (MemoryError, runtime.CUDARuntimeError, driver.CUDADriverError):
        return None


def pieces(count: int, length: int = LOOKED_AT) -> Iterator[slice]:
    """Slices that cover ``count`` items, for when little memory is free."""
    return (slice(first, min(first + length, count)) for first in range(0, count, length))


def relaxing(distance_type: np.dtype[Any]) -> dict[str, Any]:
    """What ``relax`` takes."""
    return {
        "share": SHARE,
        "work": WORK,
        "peers": PEERS,
        "control": POINTER,
        "delta": distance_type,
        "cutoff": distance_type,
        "limit": np.float64,
        **dict.fromkeys(("max_turns", "depth", "begins", "source"), NUMBER),
        "first": distance_type,
    }


def smallest(distance_type: np.dtype[Any]) -> Share:
    """The smallest share with everything in it that loading looks at.

    Its rows are in the wrong order, and too many for one block of CuPy's.
    """
    count = MANY_TO_CUPY
    heads = np.repeat(np.roll(np.arange(count, dtype=np.int32), -1), 2)
    weights, halo = np.tile(np.array([2, 1], distance_type), count), np.zeros(0, np.int64)
    starts = np.zeros(2, np.int64)
    offsets = np.arange(0, 2 * count + 1, 2)
    return Share(0, count, offsets, heads, weights, halo, starts, halo.astype(np.int32))


def _own(array: Any) -> Any:
    """The array, or a copy where it is part of another one."""
    return array if array.base is None else array.copy()


def _shortened(entries: int, own: int) -> str:
    """What to say of worklists that could not have their full length."""
    if entries == capacity(own):
        return ""
    return f", short of memory: worklists of {entries:,} entries in place of {capacity(own):,}"
