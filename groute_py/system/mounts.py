"""The file system of a file."""

from __future__ import annotations

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
"""A line for each mount of this process; proc(5) has its fields."""


def file_system(device: int) -> str:
    """The type of the file system with a device number, such as "ext4"; "" if none is mounted."""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in MOUNTS.read_text("utf-8", "replace").splitlines():
        mount, _, source = line.partition(" - ")
        if mount.split()[2] == number:
            return source.split()[0]
    return ""
