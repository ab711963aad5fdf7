"""From the name a user gives to a device."""

from __future__ import annotations

from functools import cache

from groute_py.device.base import Device
from groute_py.errors import InputError, SetupError

DEVICES = ("auto", "cpu", "cuda")
"""What a user may ask for."""


def choose(name: str, local_rank: int, *, direct: bool) -> Device:
    """Open the device for the ``local_rank``-th rank of this host.

    With ``direct`` a GPU's messages stay in its memory.

    ``auto`` is a GPU where one can be used, else the CPU.

    Raises:
        InputError: unknown name.
        SetupError: ``cuda`` was asked for and cannot be used; says why.
    """
    if name not in DEVICES:
        raise InputError(f"device {name!r} is unknown; choose one of {', '.join(DEVICES)}")
    problem = None if name == "cpu" else gpu_problem()
    if name == "cuda" and problem is not None:
        raise SetupError(f"no GPU can be used: {problem}")
    if name != "cpu" and problem is None:
        from groute_py.device.cuda import CudaDevice

        return CudaDevice(local_rank, direct=direct)
    from groute_py.device.cpu import CpuDevice

    return CpuDevice()


@cache
def gpu_problem() -> str | None:
    """Why no GPU can be used here, or None when one can; it stays so while the process lives."""
    try:
        import cupy
    except ImportError as problem:
        return f"CuPy cannot be imported ({problem}); pip install 'groute-py[cuda13]' or [cuda12]"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        return f"CUDA finds no usable driver or GPU ({problem})"
    return None if count else "CUDA sees no GPU; is CUDA_VISIBLE_DEVICES empty?"
