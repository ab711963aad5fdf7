"""The GPUs of this host, and the one that a rank works on."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import cupy as cp
from cupy.cuda import runtime

from groute_py.errors import SetupError


@dataclass(frozen=True)
class Gpu:
    """A GPU of this host."""

    index: int  # CUDA's number
    name: str  # the model
    uuid: str  # unique in the whole world
    bus: str  # its address on the PCI bus
    capability: str  # such as ``9.0``
    total_bytes: int

    def shown(self) -> str:
        """A line for people."""
        return f"{self.name}, capability {self.capability}, {self.total_bytes / 1e9:.1f} GB"


def gpus() -> list[Gpu]:
    """All GPUs that CUDA shows to this process; it begins on none of them."""
    result = []
    for index in range(runtime.getDeviceCount()):
        properties = runtime.getDeviceProperties(index)
        capability = f"{properties['major']}.{properties['minor']}"
        names = (properties["name"].decode(), uuid_of(properties), runtime.deviceGetPCIBusId(index))
        result.append(Gpu(index, *names, capability, properties["totalGlobalMem"]))
    return result


def room_on(index: int) -> int:
    """Bytes of a GPU's memory that are free; CUDA begins there, and it is current afterwards."""
    runtime.setDevice(index)
    return int(runtime.memGetInfo()[0])


def uuid_of(properties: dict[str, Any]) -> str:
    """A GPU's UUID in NVML's form; of bytes, CuPy drops those from the first zero on."""
    return f"GPU-{UUID(bytes=properties['uuid'].ljust(16, bytes(1)))}"


def peer_access() -> list[list[bool]]:
    """``peer_access()[a][b]``: GPU a can read and write the memory of GPU b."""
    indices = range(runtime.getDeviceCount())
    return [[a == b or bool(runtime.deviceCanAccessPeer(a, b)) for b in indices] for a in indices]


REMEDY = (
    "nvidia-smi shows who uses it; wait, choose another with CUDA_VISIBLE_DEVICES, or use "
    "--device cpu"
)
"""Advice where CUDA cannot begin on a GPU."""


class GpuContext:
    """A GPU, as a rank uses it; ``local_rank`` picks it, and ranks share where there are fewer.

    ``beside`` is a stream for work that must not wait for kernels in ``stream``.
    """

    def __init__(self, local_rank: int) -> None:
        self._device, count = own_gpu(local_rank), runtime.getDeviceCount()
        self.id = self._device.id
        properties = runtime.getDeviceProperties(self.id)
        self.processors = properties["multiProcessorCount"]
        self.l2_bytes = properties["l2CacheSize"]
        self.shared_bytes = properties["sharedMemPerBlockOptin"]  # of a block, at most
        shared = (
            f", shared by {local_rank // count + 1} ranks or more" if local_rank >= count else ""
        )
        self.label = f"{label_of(self._device)}{shared}"
        self.uuid = uuid_of(properties)
        self.stream = cp.cuda.Stream(non_blocking=True)
        self.beside = cp.cuda.Stream(non_blocking=True)

    def use(self) -> None:
        """Make it current: a thread that comes for the first time has no context to launch in."""
        self._device.use()

    def synchronize(self) -> None:
        """Wait for all work on it."""
        self._device.synchronize()

    @property
    def free_bytes(self) -> int:
        """Free memory outside CuPy's pool."""
        return int(self._device.mem_info[0])

    def room(self) -> int:
        """Free memory, that in CuPy's pool included."""
        return self.free_bytes + pooled_bytes()


def pooled_bytes() -> int:
    """Bytes that CuPy's pool holds in reserve on the current GPU."""
    return int(cp.get_default_memory_pool().free_bytes())


def label_of(gpu: Any) -> str:
    """The name and the number of a GPU, for messages and statistics."""
    return f"{runtime.getDeviceProperties(gpu.id)['name'].decode()} #{gpu.id}"


def own_gpu(local_rank: int) -> Any:
    """The ``local_rank``-th GPU, current in this thread; where there are fewer, ranks share."""
    gpu = cp.cuda.Device(local_rank % runtime.getDeviceCount())
    try:
        gpu.use()
    except runtime.CUDARuntimeError as problem:
        where = f"GPU {gpu.id} of {platform.node()}, {runtime.deviceGetPCIBusId(gpu.id)}"
        raise SetupError(f"CUDA cannot begin on {where} ({problem}); {REMEDY}") from problem
    return gpu
