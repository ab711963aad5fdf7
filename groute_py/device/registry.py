"""Devices by the name that a user gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

from groute_py.device.base import Device
from groute_py.device.kernel_cache import find_kernel_cache
from groute_py.device.primary_context import begin_context
from groute_py.errors import InputError, SetupError, check_choice
from groute_py.graph.arrays import on_device
from groute_py.graph.drawn import RandomGraph
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.partition.share import Partition, Rows, Share, share_of
from groute_py.source.generated import RowMaker

DEVICES = ("auto", "cpu", "cuda")
"""The choices of a user."""

Maker = Callable[[int, bool], Device]
"""From the rank's number on its host, and whether messages stay in device memory, to a device."""

Makers = Mapping[str, Maker]
"""By ``cpu`` and ``cuda``; one that is missing cannot be had."""


def of_module(module: str, name: str) -> Any:
    """Return a name that a module defines, which is imported only now."""
    return getattr(import_module(module), name)


def on_cpu(module: str, method: str, **choices: Any) -> Maker:
    """Make the device of a core with a method from a module; both are imported only then."""

    def make(local_rank: int, direct: bool) -> Device:
        cpu_device = of_module("groute_py.device.cpu.device", "CpuDevice")
        device: Device = cpu_device(of_module(module, method), **choices)
        return device

    return make


def on_gpu(module: str, method: str, **choices: Any) -> Maker:
    """Make the device of a GPU with a method from a module; both are imported only then."""

    def make(local_rank: int, direct: bool) -> Device:
        kind = of_module(module, method)
        cuda_device = of_module("groute_py.device.cuda.sssp.device", "CudaDevice")
        device: Device = cuda_device(local_rank, direct=direct, method=kind, **choices)
        return device

    return make


NEAR_FAR: Makers = {
    "cpu": on_cpu("groute_py.device.cpu.methods.base", "CpuMethod"),
    "cuda": on_gpu("groute_py.device.cuda.sssp.method", "GpuMethod"),
}
"""The devices that can share a graph with others."""

CONTRACTION = {
    "cpu": "groute_py.device.cpu.contraction",
    "cuda": "groute_py.device.cuda.hierarchy.rounds",
}
"""The modules that contract, by the kind of device."""


def contraction_on(kind: str) -> Callable[..., Hierarchy]:
    """The function that contracts on a kind of device; its module is imported only then."""
    contract: Callable[..., Hierarchy] = of_module(CONTRACTION[kind], "contract")
    return contract


def maker_on_gpu(
    name: str, local_rank: int, makers: Makers = NEAR_FAR
) -> Callable[[RandomGraph], RowMaker] | None:
    """Return what makes rows of a generated graph where `choose` opens a GPU; None elsewhere."""
    if name == "cpu" or "cuda" not in makers or gpu_problem() is not None:
        return None
    return partial(of_module("groute_py.device.cuda.graph.generate", "GpuMaker"), local_rank)


def share_in_place(rows: Rows, cut: Partition, part: int) -> Share:
    """Convert rows to a share, on a GPU if they lie there."""
    convert: Callable[[Rows, Partition, int], Share] = share_of
    if on_device(rows.heads) and cut.part_count > 1:
        convert = of_module("groute_py.device.cuda.graph.share", "share_of")
    return convert(rows, cut, part)


def begin(name: str, local_rank: int, makers: Makers = NEAR_FAR) -> None:
    """Begin what takes no time of this thread of what `look_ahead` begins."""
    if name in ("auto", "cuda") and "cuda" in makers:
        begin_context(local_rank)


def look_ahead(name: str, local_rank: int, makers: Makers = NEAR_FAR) -> None:
    """Begin to import CuPy and to start CUDA, on each rank at once, if `choose` may take a GPU."""
    begin(name, local_rank, makers)
    if name in ("auto", "cuda") and "cuda" in makers:
        gpu_problem()


def choose(name: str, local_rank: int, *, direct: bool, makers: Makers = NEAR_FAR) -> Device:
    """Open the device of a rank; with ``direct`` a GPU's messages stay in its memory."""
    return makers[kind_of(name, makers)](local_rank, direct)


def kind_of(name: str, makers: Makers = NEAR_FAR) -> str:
    """``cpu`` or ``cuda``; ``auto`` is a GPU where CUDA finds one, else the CPU."""
    check_choice("device", name, DEVICES)
    if name == "auto":
        return "cuda" if "cuda" in makers and gpu_problem() is None else "cpu"
    if name not in makers:
        raise InputError(f"this algorithm has no device {name}; it runs on {', '.join(makers)}")
    problem = gpu_problem() if name == "cuda" else None
    if problem is not None:
        raise SetupError(f"no GPU can be used: {problem}")
    return name


@cache
def gpu_problem() -> str | None:
    """Why no GPU can be used here, or None when one can; it stays so while the process lives."""
    try:
        find_kernel_cache()
    except OSError as problem:
        return f"CuPy finds no folder to write to ({problem}); set CUPY_CACHE_DIR to one"
    try:
        import cupy
    except (ImportError, OSError) as problem:
        return f"CuPy cannot be imported ({problem}); pip install 'groute-py[cuda13]' or [cuda12]"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        return f"CUDA finds no usable driver or GPU ({problem})"
    return None if count else "CUDA sees no GPU; is CUDA_VISIBLE_DEVICES empty?"
