"""As much of CuPy as a GPU's device asks for, on host memory; kernels are emulated.

`install` puts it where ``import cupy`` finds it. The persistent kernel runs as a grid of one block:
its barrier then waits for nobody. Ranks are threads, and those that have a GPU each exchange inside
the kernel. See emulation.cuh for what this shows and what not.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from emulated import REWRITTEN

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

PROCESSORS = 1

ONE_AT_A_TIME = Lock()
"""Ranks compile what others need too."""


class Array(np.ndarray[Any, Any]):
    """An array that says where it lies."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self, out: Any = None, *, blocking: bool = True) -> Any:
        """A copy on the host."""
        if out is None:
            return np.array(self)
        np.copyto(out.view(self.dtype), np.asarray(self))
        return out


def as_array(values: Any) -> Any:
    """A copy on the device."""
    return np.array(values).view(Array)


class Kernel:
    """A kernel, as CuPy calls it."""

    ptr = 0

    def __init__(self, library: Any, name: str) -> None:
        self._launch, self._entry = library.launch, getattr(library, f"{name}_by_place")
        self.kernel = self

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Any, **_: object
    ) -> None:
        kept = [self._bytes(argument) for argument in arguments]
        places = (ctypes.c_uint64 * 16)(*(words.ctypes.data for words in kept))
        twelve = (ctypes.c_uint64 * 12)(ctypes.addressof(places))
        self._launch(self._entry, *(*grid, 1)[:2], block[0], twelve)

    @staticmethod
    def _bytes(argument: Any) -> Any:
        if isinstance(argument, Array):
            argument = np.uint64(argument.ctypes.data)
        return np.frombuffer(np.asarray(argument).tobytes(), np.uint8)


@cache
def library(code: str, options: tuple[str, ...]) -> Any:
    """A program as plain C++."""
    names = re.findall(
        r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(', code
    )
    for pattern, replacement in REWRITTEN:
        code = re.sub(pattern, replacement, code, flags=re.MULTILINE)
    entries = "".join(
        f'extern "C" void {name}_by_place(Argument places)'
        f" {{ call({name}, (const Argument*)places); }}\n"
        for name in names
    )
    folder = Path(mkdtemp())
    header = Path(__file__).with_name("emulation.cuh")
    (folder / "kernels.cpp").write_text(f'#include "{header}"\n{BY_PLACE}{code}\n{entries}')
    flags = [*options, "-shared", "-fPIC", "-O1", "-w", "-fno-strict-aliasing", "-fwrapv"]
    subprocess.run(
        ["g++", *flags, "-o", str(folder / "kernels.so"), str(folder / "kernels.cpp")], check=True
    )
    return ctypes.CDLL(str(folder / "kernels.so"))


class RawModule:
    """A compiled program."""

    def __init__(self, code: str, options: tuple[str, ...], backend: str) -> None:
        with ONE_AT_A_TIME:
            self._library = library(code, options)

    def get_function(self, name: str) -> Kernel:
        """One of its kernels."""
        return Kernel(self._library, name)


class Stream:
    """Whatever it is given has ended when it returns."""

    ptr, done = 0, True

    def __init__(self, *, non_blocking: bool = False) -> None: ...

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None: ...

    def synchronize(self) -> None:
        """Wait."""

    def wait_event(self, event: Event) -> None:
        """Let what comes next wait."""


class Event:
    """Over."""

    def __init__(self, *, disable_timing: bool = False) -> None: ...

    def record(self, stream: Stream | None = None) -> None:
        """Note."""

    def synchronize(self) -> None:
        """Wait."""


class Device(Stream):
    """The only one."""

    mem_info = (1 << 34, 1 << 34)

    def __init__(self, number: int = 0) -> None:
        self.id = number

    def use(self) -> None:
        """Make it current."""


class MemoryPool:
    """Host memory."""

    def malloc(self, size: int) -> Any:
        """Some, for an array."""
        return np.empty(size, np.uint8)


class Exported:
    """Memory that other ranks map: they have the same addresses."""

    def __init__(self) -> None:
        self._held: dict[int, Any] = {}

    def malloc(self, size: int) -> int:
        """The address of some that is aligned as a GPU's."""
        memory = np.empty(size + 512, np.uint8)
        address = -(-memory.ctypes.data // 512) * 512
        self._held[address] = memory
        return address

    def free(self, address: int) -> None:
        """Let it go."""
        del self._held[address]


def _copy(to: int, source: int, nbytes: int, *_: object) -> None:
    ctypes.memmove(to, source, nbytes)


def _module(name: str, **members: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module
    return module


def _new(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *sizes: make(*sizes).view(Array)


def _like_numpy(name: str) -> Any:
    """What CuPy has from NumPy."""
    found = getattr(np, name)
    if isinstance(found, type | np.ufunc) or not callable(found):
        return found

    def on_device(*words: Any, **named: Any) -> Any:
        result = found(*words, **named)
        return result.view(Array) if isinstance(result, np.ndarray) else result

    return on_device


def install(gpus: int) -> None:
    """Let ``import cupy`` find it."""
    exported = Exported()
    properties = {"name": b"emulated", "multiProcessorCount": PROCESSORS, "uuid": bytes(16)}
    runtime = _module(
        "cupy.cuda.runtime",
        CUDARuntimeError=RuntimeError,
        getDeviceCount=lambda: gpus,
        getDevice=lambda: 0,
        setDevice=lambda _: None,
        deviceGetPCIBusId=lambda gpu: f"0000:{gpu:02}:00.0",
        deviceGetByPCIBusId=lambda bus: int(bus[5:7]),
        deviceCanAccessPeer=lambda *_: 1,
        malloc=exported.malloc,
        free=exported.free,
        ipcGetMemHandle=lambda address: int(address).to_bytes(8, "little"),
        ipcOpenMemHandle=lambda handle: int.from_bytes(handle, "little"),
        ipcCloseMemHandle=lambda _: None,
        getDeviceProperties=lambda _: properties | {"major": 9, "minor": 0},
        memcpyAsync=_copy,
        memcpyDefault=4,
        memcpyDeviceToHost=2,
        memcpyHostToDevice=1,
        memGetInfo=lambda: Device.mem_info,
    )
    driver = _module("cupy.cuda.driver", occupancyMaxActiveBlocksPerMultiprocessor=lambda *_: 1)
    memory = SimpleNamespace(OutOfMemoryError=MemoryError)
    cuda = _module("cupy.cuda", runtime=runtime, driver=driver, memory=memory)
    cuda.__dict__.update(Device=Device, Stream=Stream, Event=Event, get_current_stream=Stream)
    cuda.__dict__.update(MemoryPool=MemoryPool)
    pool = SimpleNamespace(free_bytes=lambda: 0, used_bytes=lambda: 0, free_all_blocks=lambda: None)
    _module(
        "cupy",
        __version__="14.0.0",
        ndarray=Array,
        cuda=cuda,
        RawModule=RawModule,
        asarray=as_array,
        empty=_new(np.empty),
        zeros=_new(np.zeros),
        diff=np.diff,
        get_default_memory_pool=lambda: pool,
    )
    sys.modules["cupy"].__getattr__ = _like_numpy  # type: ignore[method-assign]
    _module("cupyx", empty_pinned=np.empty, zeros_pinned=np.zeros)
