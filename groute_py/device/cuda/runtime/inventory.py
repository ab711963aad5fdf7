"""The GPUs of this host: names, memory, and which can reach which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cupy.cuda import runtime


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
