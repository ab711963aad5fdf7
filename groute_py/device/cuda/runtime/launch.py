"""Launches: of persistent kernels with preallocated arguments, of ordinary ones by CuPy's call.

CuPy's call packs a dozen arguments and queries the occupancy in 45 to 80 µs, while a solve of a
small graph takes a millisecond. `Call` keeps them packed. CuPy's call also gives the thread a CUDA
context; here the caller has to do that. `Repeated` has many launches as a graph.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import ismethod
from typing import Any
from weakref import WeakMethod

import cupy as cp
import numpy as np
from cupy.cuda import driver
from numpy.typing import NDArray

BLOCKS_PER_PROCESSOR = 4
"""Most blocks of a persistent grid on each multiprocessor; see
docs/what-we-learned.md#near-and-far-lists."""


def resident_blocks(kernel: Any, block: int, most: int | None = BLOCKS_PER_PROCESSOR) -> int:
    """Blocks of a grid barrier on each multiprocessor: all of them must be running at once."""
    fit: int = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, block, 0)
    return fit if most is None else min(fit, most)


class Call:
    """Launches one kernel, all of whose blocks run at the same time."""

    def __init__(
        self,
        function: Any,
        blocks: int,
        threads: int,
        arguments: dict[str, Any],
        shared_bytes: int = 0,
    ) -> None:
        self._function, self._grid = function, (blocks, 1, 1, threads, 1, 1, shared_bytes)
        values = np.zeros(1, np.dtype(list(arguments.items()), align=True))
        self._values: dict[str, NDArray[Any]] = {name: values[name] for name in arguments}
        self._missing = set(arguments)
        places = [value.ctypes.data for value in self._values.values()]
        self._places = np.array(places, np.uintp)
        self._places_at: int = self._places.ctypes.data

    def keep(self, **values: Any) -> None:
        """Arguments of the launches to come, until others are said."""
        for name, value in values.items():
            self._values[name][0] = value
        self._missing.difference_update(values)

    def launch(self, stream: Any, **values: Any) -> None:
        """Launch in a stream, with these arguments and those that are kept."""
        self.keep(**values)
        assert not self._missing, self._missing
        words = (self._function.ptr, *self._grid, stream.ptr, self._places_at)
        driver.launchCooperativeKernel(*words)


class Kernels:
    """The kernels of one program; launches the ordinary ones."""

    def __init__(self, functions: dict[str, Any], block: int) -> None:
        self._functions, self._block = functions, block

    def __getitem__(self, name: str) -> Any:
        return self._functions[name]

    def run(self, name: str, threads: int, *arguments: Any) -> None:
        """Launch a kernel with about one thread for each item."""
        blocks = max((threads + self._block - 1) // self._block, 1)
        self._functions[name]((blocks,), (self._block,), arguments)


USUAL_SHARED_BYTES = 40 << 10
"""Bytes of dynamic shared memory of a block that need not be allowed before, with 8 KB beside."""


def launch_sharing(kernel: Any, nbytes: int, blocks: int, threads: int, words: Any) -> None:
    """Launch an ordinary kernel with dynamic shared memory, of so many bytes for each block."""
    if nbytes > USUAL_SHARED_BYTES:
        kernel.max_dynamic_shared_size_bytes = nbytes
    kernel((blocks,), (threads,), words, shared_mem=nbytes)


class Repeated:
    """Launches in the current stream with the same arguments each time; one launch for the host.

    An object that launches by a method of its own is freed as soon as nothing else refers to it.
    """

    def __init__(self, launch: Callable[[], None]) -> None:
        self._launch: Any = WeakMethod(launch) if ismethod(launch) else lambda: launch
        self._graph: Any = None

    def __call__(self) -> None:
        """Launch in the current stream; the first time one by one, as kernels are loaded then."""
        if self._graph is not None:
            self._graph.launch(cp.cuda.get_current_stream())
            return
        self._launch()()
        self._graph = self._captured()

    def _captured(self) -> Any:
        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            self._launch()()
            return stream.end_capture()
