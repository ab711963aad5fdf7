"""What NVML says of the GPUs of this host; where there is no NVML, there is nothing to say."""

from __future__ import annotations

from typing import Any


def nvml() -> Any:
    """NVML, ready to be asked, or None where it is not there."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def free_bytes(library: Any) -> list[int]:
    """Free memory of each GPU of this host; empty without NVML."""
    if library is None:
        return []
    handles = map(library.nvmlDeviceGetHandleByIndex, range(library.nvmlDeviceGetCount()))
    return [int(library.nvmlDeviceGetMemoryInfo(handle).free) for handle in handles]
