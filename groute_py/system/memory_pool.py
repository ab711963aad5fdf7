"""Host memory of large arrays, which later ones have again.

The system clears each page of new memory when it is first written, by a fault that takes several
times as long as to fill the page.
"""

from __future__ import annotations

import math
from itertools import count
from mmap import PAGESIZE
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import DTypeLike, NDArray

LEAST_BYTES = 1 << 20
"""Arrays of fewer bytes are NumPy's own."""

MOST_WASTE = 2
"""An array has idle memory up to so many times its size."""

MOST_IDLE = 256
"""Arrays that stay idle; each array that comes or goes looks at all of them."""


class MemoryPool:
    """Arrays in memory that earlier ones have left.

    Up to ``most`` bytes in `MOST_IDLE` arrays stay idle, of which the oldest go first. An array's
    memory is idle once nothing refers to it, views included. Threads, finalizers and forks are
    safe, because each step on ``_idle`` is one operation of a dictionary; there is no lock.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._idle: dict[int, NDArray[np.uint8]] = {}  # the oldest first
        self._numbers = count()

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array that is not initialized, as `numpy.empty` does."""
        shape, kind = (shape,) if isinstance(shape, int) else shape, np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if size < LEAST_BYTES:
            return np.empty(shape, kind)
        idle = self._fitting(size)
        memory = self._new(size) if idle is None else idle
        array = memory[:size].view(kind).reshape(shape)
        owner = _Owner(memory, array, is_reused=idle is not None)
        finalize(owner, self._leave, memory).atexit = False  # silent where the interpreter ends
        return np.asarray(owner)

    def copy(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of an array, shape and type included."""
        array = self.empty(values.shape, values.dtype)
        array[...] = values
        return array

    @property
    def idle_bytes(self) -> int:
        """Bytes that `clear` frees."""
        return sum(map(len, self._idle.copy().values()))

    def clear(self) -> bool:
        """Free the idle memory; return whether there was any."""
        idle = self._idle.copy()
        return sum(self._idle.pop(number, None) is not None for number in idle) > 0

    def _fitting(self, size: int) -> NDArray[np.uint8] | None:
        idle = self._idle.copy()
        # the newest first, which is in the caches, and page-locked by now
        for number in sorted(idle, key=lambda number: (len(idle[number]), -number)):
            if size <= len(idle[number]) <= MOST_WASTE * size:
                memory = self._idle.pop(number, None)
                if memory is not None:  # no other thread was faster
                    return memory
        return None

    def _new(self, size: int) -> NDArray[np.uint8]:
        try:
            return _pages(size)
        except MemoryError:
            if not self.clear():
                raise
            return _pages(size)

    def _leave(self, memory: NDArray[np.uint8]) -> None:
        self._idle[next(self._numbers)] = memory
        while idle := self._idle.copy():  # others change it meanwhile
            if len(idle) <= MOST_IDLE and sum(map(len, idle.values())) <= self.most:
                break
            self._idle.pop(min(idle), None)


def _pages(size: int) -> NDArray[np.uint8]:
    """Return pages of its own, since a page that two arrays share can be locked for one only."""
    whole = -(-size // PAGESIZE) * PAGESIZE
    memory = np.empty(whole + PAGESIZE, np.uint8)
    begin = -memory.ctypes.data % PAGESIZE
    return memory[begin : begin + whole]


class _Owner:
    """The base of an array and so of its views; ends after the last of them."""

    def __init__(self, memory: NDArray[np.uint8], array: NDArray[Any], *, is_reused: bool) -> None:
        self.memory, self.is_reused = memory, is_reused
        self.__array_interface__ = array.__array_interface__


def reused_memory(array: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Return the memory of an array of a pool, or of a view of one, if an earlier array had it."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return owner.memory if isinstance(owner, _Owner) and owner.is_reused else None
