"""The memory of an emulated GPU, and arrays in it, which are host memory.

Memory is counted, and ends where `Memory` says: arrays that are asked for, and the results of
functions (`cupy.where`, `cupy.argsort`), raise what CuPy raises. What operators make on the way is
not counted.
"""

from __future__ import annotations

from threading import RLock
from types import SimpleNamespace
from typing import Any
from weakref import finalize

import numpy as np


class CUDARuntimeError(RuntimeError):
    """A call of the runtime that failed."""

    status = 2


class Memory:
    """The memory of an emulated GPU, counted in bytes."""

    def __init__(self, size: int) -> None:
        self.size, self.taken = size, 0
        self._lock, self._given = RLock(), dict[int, tuple[int, Any]]()
        # memory may come back while some is being taken: the lock is the same thread's

    def take(self, nbytes: int) -> None:
        """Count memory, or raise."""
        with self._lock:
            if self.taken + nbytes > self.size:
                raise MemoryError(f"{nbytes} bytes of {self.size - self.taken}")
            self.taken += nbytes

    def give(self, nbytes: int) -> None:
        """Count memory back."""
        with self._lock:
            self.taken -= nbytes

    def malloc(self, nbytes: int) -> int:
        """Take memory beside all arrays; returns its address, which peers map at the same place."""
        try:
            self.take(nbytes)
        except MemoryError as problem:
            raise CUDARuntimeError(str(problem)) from None
        memory = np.empty(nbytes + 512, np.uint8)
        address = -(-memory.ctypes.data // 512) * 512
        self._given[address] = nbytes, memory
        return int(address)

    def free(self, address: int) -> None:
        """Count what `malloc` took back."""
        self.give(self._given.pop(address)[0])

    def holding(self, array: Any) -> Any:
        """An array on the device, counted until nobody has it."""
        self.take(array.nbytes)
        finalize(array, self.give, array.nbytes)
        return array.view(Array)

    @property
    def info(self) -> tuple[int, int]:
        """Free bytes, and all."""
        return self.size - self.taken, self.size


MEMORY = Memory(1 << 34)


class Array(np.ndarray[Any, Any]):
    """An array that says where it lies."""

    __cuda_array_interface__ = None
    """Tells arrays on a GPU from others, by being there."""

    __module__ = "cupy"
    device = SimpleNamespace(id=0)  # type: ignore[assignment, unused-ignore]

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self, out: Any = None, *, blocking: bool = True) -> Any:
        """A copy on the host."""
        if out is None:
            return np.array(self, subok=False)
        np.copyto(out.view(self.dtype), np.asarray(self))
        return out

    def copy(self, order: Any = "C") -> Any:
        """Another array on the device."""
        return MEMORY.holding(np.array(self, subok=False))

    def astype(self, dtype: Any, *, copy: bool = True) -> Any:  # type: ignore[override, unused-ignore]
        """The array in another type, on the device."""
        return self if not copy and self.dtype == dtype else as_array(np.asarray(self, dtype))

    def set(self, values: Any) -> None:
        """Copy from the host."""
        np.copyto(self, values.view(self.dtype))


def as_array(values: Any) -> Any:
    """A copy on the device."""
    return MEMORY.holding(np.array(values, subok=False))


class OnHost:
    """An array of another library on the GPU, which is the host's memory."""

    def __init__(self, values: Any) -> None:
        self.__dlpack__ = values.__dlpack__

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(values: Any) -> Any:
    """An array of the same memory."""
    return np.from_dlpack(OnHost(values)).view(Array)
