"""As much of CuPy as a GPU's device asks for, on host memory; kernels are emulated.

`install` puts it where ``import cupy`` finds it. The blocks of a persistent kernel take turns; one
alone waits for nobody at its barrier. Ranks are threads, and those that have a GPU each exchange
inside the kernel. See emulation.cuh for what this shows and what not.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from threading import Lock, local
from types import ModuleType, SimpleNamespace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from support.emulation.arrays import MEMORY, Array, CUDARuntimeError, as_array, from_dlpack
from support.emulation.cpp import compiled, in_cpp

BY_PLACE = """
#include <tuple>
template <class... Types, size_t... Numbers>
static void call(void (*kernel)(Types...), const Argument* places,
                 std::index_sequence<Numbers...>) {
    kernel(*(std::remove_const_t<Types>*)places[Numbers]...);
}
template <class... Types>
static void call(void (*kernel)(Types...), const Argument* places) {
    call(kernel, places, std::index_sequence_for<Types...>());
}
"""
"""A kernel's arguments, structs among them, by the places where they lie."""

KERNEL = r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\)\s*)?(\w+)\('
"""As it is declared, and its name."""

ONE_AT_A_TIME = Lock()
"""Ranks compile what others need too."""


class CUDADriverError(CUDARuntimeError):
    """A call of the driver that failed."""


class Kernel:
    """A kernel, as CuPy calls it."""

    max_dynamic_shared_size_bytes = 0

    def __init__(self, library: Any, name: str) -> None:
        self._library, self._entry = library, getattr(library, f"{name}_by_place")
        self.kernel, self.ptr = self, id(self)
        KERNELS[self.ptr] = self

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        arguments: Any,
        **_: object,
    ) -> None:
        if CAPTURE.launches is not None:
            CAPTURE.launches.append(partial(self, grid, block, arguments))
            return
        kept = [self._bytes(argument) for argument in arguments]
        places = (ctypes.c_uint64 * 16)(*(words.ctypes.data for words in kept))
        twelve = (ctypes.c_uint64 * 12)(ctypes.addressof(places))
        self._library.launch(self._entry, *(*grid, 1)[:2], block[0], twelve)

    def launch_together(self, blocks: int, threads: int, places: int) -> None:
        """As the driver does, its arguments lying at ``places``."""
        twelve = (ctypes.c_uint64 * 12)(places)
        self._library.launch_together(self._entry, blocks, threads, twelve)

    @staticmethod
    def _bytes(argument: Any) -> Any:
        if isinstance(argument, Array):
            argument = np.uint64(argument.ctypes.data)
        return np.frombuffer(np.asarray(argument).tobytes(), np.uint8)


KERNELS: WeakValueDictionary[int, Kernel] = WeakValueDictionary()
"""By what the driver knows them by."""


def _launch_together(kernel: int, *words: int) -> None:
    (blocks, _, _, threads, _, _, _, _, places) = words
    KERNELS[kernel].launch_together(blocks, threads, places)


@cache
def library(code: str, options: tuple[str, ...]) -> Any:
    """A program as plain C++."""
    entries = "".join(
        f'extern "C" void {name}_by_place(Argument places)'
        f" {{ call({name}, (const Argument*)places); }}\n"
        for name in re.findall(KERNEL, code)
    )
    return compiled(in_cpp(f"{BY_PLACE}{code}\n{entries}"), [*options, "-O1"])


class RawModule:
    """A compiled program."""

    def __init__(self, code: str, options: tuple[str, ...], backend: str) -> None:
        with ONE_AT_A_TIME:
            self._library = library(code, options)

    def get_function(self, name: str) -> Kernel:
        """One of its kernels."""
        return Kernel(self._library, name)


class Capture(local):
    """The launches of the graph that this thread makes, if it makes one."""

    launches: list[Callable[[], None]] | None = None


CAPTURE = Capture()


class Stream:
    """Whatever it is given has ended when it returns."""

    ptr, done = 0, True

    def __init__(self, *, non_blocking: bool = False) -> None: ...

    def begin_capture(self) -> None:
        """Launch nothing, and note it."""
        CAPTURE.launches = []

    def end_capture(self) -> Graph:
        """What was noted."""
        launches, CAPTURE.launches = CAPTURE.launches, None
        assert launches is not None
        return Graph(launches)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None: ...

    def synchronize(self) -> None:
        """Wait."""

    def wait_event(self, event: Event) -> None:
        """Let what comes next wait."""


class Graph:
    """Launches that are done together."""

    def __init__(self, launches: list[Callable[[], None]]) -> None:
        self._launches = launches

    def launch(self, stream: Stream) -> None:
        """Do them."""
        for launch in self._launches:
            launch()


class Event:
    """Over."""

    def __init__(self, *, disable_timing: bool = False) -> None: ...

    def record(self, stream: Stream | None = None) -> None:
        """Note."""

    def synchronize(self) -> None:
        """Wait."""


class Device(Stream):
    """The only one."""

    compute_capability = "90"

    def __init__(self, number: int = 0) -> None:
        self.id = number
        self.attributes = {"MultiProcessorCount": 1}

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free, and in all."""
        return MEMORY.info

    def use(self) -> None:
        """Make it current."""


def _allocated(nbytes: int) -> Any:
    """Memory of its own, for an array."""
    return MEMORY.holding(np.empty(nbytes, np.uint8))


def _copy(to: int, source: int, nbytes: int, *_: object) -> None:
    ctypes.memmove(to, source, nbytes)


def _module(name: str, **members: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module
    return module


def _new(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *sizes: MEMORY.holding(make(*sizes))


def _like_numpy(name: str) -> Any:
    """What CuPy has from NumPy."""
    answer = getattr(np, name)
    if isinstance(answer, type | np.ufunc) or not callable(answer):
        return answer

    def on_device(*words: Any, **named: Any) -> Any:
        result = answer(*words, **named)
        return MEMORY.holding(np.asarray(result)) if isinstance(result, np.ndarray) else result

    return on_device


def install(gpus: int, blocks: int = 1) -> None:
    """Let ``import cupy`` find it: so many GPUs, so many blocks of a cooperative launch."""
    properties = {"name": b"emulated", "multiProcessorCount": blocks, "uuid": bytes(16)}
    properties["sharedMemPerBlockOptin"], properties["l2CacheSize"] = 1 << 16, 1 << 20
    properties["totalGlobalMem"] = MEMORY.info[1]
    runtime = _module(
        "cupy.cuda.runtime",
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=lambda: gpus,
        getDevice=lambda: 0,
        setDevice=lambda _: None,
        deviceGetPCIBusId=lambda gpu: f"0000:{gpu:02}:00.0",
        deviceGetByPCIBusId=lambda bus: int(bus[5:7]),
        deviceCanAccessPeer=lambda *_: 1,
        ipcGetMemHandle=lambda address: int(address).to_bytes(8, "little"),
        ipcOpenMemHandle=lambda handle: int.from_bytes(handle, "little"),
        ipcCloseMemHandle=lambda _: None,
        getDeviceProperties=lambda _: properties | {"major": 9, "minor": 0},
        memcpyAsync=_copy,
        memcpyDefault=4,
        memcpyDeviceToHost=2,
        memcpyHostToDevice=1,
        memGetInfo=lambda: MEMORY.info,
        malloc=MEMORY.malloc,
        hostRegister=lambda *_: None,
        hostUnregister=lambda *_: None,
        memset=ctypes.memset,
        memsetAsync=lambda place, value, nbytes, _: ctypes.memset(place, value, nbytes),
        streamQuery=lambda _: 0,
        deviceSynchronize=lambda: None,
        free=MEMORY.free,
    )
    driver = _module(
        "cupy.cuda.driver",
        CUDADriverError=CUDADriverError,
        launchCooperativeKernel=_launch_together,
        occupancyMaxActiveBlocksPerMultiprocessor=lambda *_: 1,
    )
    memory = SimpleNamespace(OutOfMemoryError=MemoryError)
    cuda = _module("cupy.cuda", runtime=runtime, driver=driver, memory=memory)
    cuda.__dict__.update(Device=Device, Stream=Stream, Event=Event, get_current_stream=Stream)
    cuda.__dict__.update(Memory=_allocated, MemoryPointer=lambda memory, _: memory)
    cuda.__dict__.update(set_allocator=lambda _: None)
    cuda.__dict__.update(alloc_pinned_memory=lambda nbytes: np.empty(nbytes, np.uint8))
    pool = SimpleNamespace(
        free_bytes=lambda: 0,
        used_bytes=lambda: 0,
        free_all_blocks=lambda: None,
        total_bytes=lambda: MEMORY.taken,
    )
    _module(
        "cupy",
        __version__="14.0.0",
        ndarray=Array,
        cuda=cuda,
        RawModule=RawModule,
        asarray=as_array,
        from_dlpack=from_dlpack,
        empty=_new(np.empty),
        zeros=_new(np.zeros),
        full=_new(np.full),
        diff=np.diff,
        argsort=lambda keys: MEMORY.holding(np.argsort(np.asarray(keys), kind="stable")),
        add=SimpleNamespace(at=np.add.at),
        memory=MEMORY,
        get_default_memory_pool=lambda: pool,
    )
    sys.modules["cupy"].__getattr__ = _like_numpy  # type: ignore[method-assign]
