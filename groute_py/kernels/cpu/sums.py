"""The sum at the end of an arc, for serial methods."""

from __future__ import annotations

from typing import Any

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import does_not_fit


@kernel
def reach_of(base: Any, weight: Any, nothing: Any) -> Any:
    """``base + weight``, or ``nothing`` where that does not fit."""
    return nothing if does_not_fit(base, weight, nothing) else base + weight
