"""Kernels whose arcs extend distances as a user's operator says: copies of those that add weights.

A copy has the same code, but `extend` in it, and in the kernels that it calls, is another function.
So an operator changes nothing of the kernels without one. Numba caches copies by the operator.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

from groute_py.kernels.cpu.algebra import does_not_fit, extend, is_nothing
from groute_py.kernels.cpu.kernel import Kernel, inlined_kernel


@cache
def variant(kernel: Kernel, operator: str) -> Kernel:
    """Return a kernel with the function ``extend`` of a text; itself if that is empty.

    ``extend`` returns ``nothing`` where an arc leads too far.
    """
    if not operator:
        return kernel
    if kernel is does_not_fit:
        return variant(is_nothing, operator)
    others = {}
    for name, value in kernel.names.items():
        if value is extend:
            others[name] = _extend(operator)
        elif isinstance(value, Kernel) and (other := variant(value, operator)) is not value:
            others[name] = other
    return kernel.copy(others, _digest(operator)) if others else kernel


@cache
def _extend(operator: str) -> Any:
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(operator, __file__, "exec"), names)
    function = names["extend"]
    function.__qualname__ += _digest(operator)
    return inlined_kernel(function)


def _digest(operator: str) -> str:
    return f"_{hashlib.sha256(operator.encode()).hexdigest()[:16]}"
