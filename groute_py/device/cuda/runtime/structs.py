"""The structs of the main solver in host memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from groute_py.kernels.source import SOLVE
from groute_py.kernels.structs import struct

POINTER, NUMBER = np.uint64, np.uint32

SHARE, WORK, PEERS, MAILBOX, ENDING, TEAM = (
    struct(SOLVE, name) for name in ("Share", "Work", "Peers", "Mailbox", "Ending", "Team")
)


def control_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """The control block, whose distances have the run's type."""
    return struct(SOLVE, "Control", distance_type)


def offset_of(layout: np.dtype[Any], field: str) -> int:
    """Bytes from the beginning of a struct to one of its fields."""
    assert layout.fields is not None
    return int(layout.fields[field][1])


def pointed(layout: np.dtype[Any], arrays: Mapping[str, Any], numbers: Mapping[str, float]) -> Any:
    """A struct as kernels take it, by value: addresses of device arrays, then numbers."""
    words = np.zeros(1, layout)
    for name, array in arrays.items():
        pairs = layout[name].shape != ()
        words[name] = [row.data.ptr for row in array] if pairs else array.data.ptr
    for name, number in numbers.items():
        words[name] = number
    return words
