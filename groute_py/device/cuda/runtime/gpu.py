"""The GPU that a rank works on."""

from __future__ import annotations

import platform
from typing import Any

import cupy as cp
from cupy.cuda import runtime

from groute_py.errors import SetupError

REMEDY = (
    "nvidia-smi shows who uses it; wait, choose another with CUDA_VISIBLE_DEVICES, or use "
    "--device cpu"
)
"""What to do where CUDA cannot begin on a GPU."""


def own_gpu(local_rank: int) -> Any:
    """The ``local_rank``-th GPU, current in this thread; where there are fewer, ranks share.

    Raises:
        SetupError: CUDA cannot begin there: no memory is left, or another process has it alone.
    """
    gpu = cp.cuda.Device(local_rank % runtime.getDeviceCount())
    try:
        gpu.use()
    except runtime.CUDARuntimeError as problem:
        where = f"GPU {gpu.id} of {platform.node()}, {runtime.deviceGetPCIBusId(gpu.id)}"
        raise SetupError(f"CUDA cannot begin on {where} ({problem}); {REMEDY}") from problem
    return gpu
