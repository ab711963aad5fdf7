"""What fits in memory."""

from __future__ import annotations


def available_bytes() -> int | None:
    """The memory that can be had without swapping, where Linux says so."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):
        return None
