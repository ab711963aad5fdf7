"""The algebra of paths on the CPU: how an arc extends a distance; all else is the same.

Less is better in every algebra, and 0 is the distance of the source. Where distances are signed or
floats, an arc adds its weight: paths are as long as their arcs together. Unsigned ones are ranks of
weights, and an arc leaves the greater one: a path is as bad as its worst arc. No rank reaches half
of the type's range, so that what looks for overflows finds none. `groute_py.kernels.cpu.operators`
has those of users.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groute_py.kernels.cpu.kernel import by_type, kernel


@by_type
def extend(distance: Any, weight: Any) -> Callable[[Any, Any], Any]:
    """Return the distance behind an arc of a weight that begins at a distance."""
    if getattr(distance, "signed", True):
        return lambda distance, weight: distance + weight
    return lambda distance, weight: max(distance, weight)


@kernel
def does_not_fit(base: Any, weight: Any, nothing: Any) -> Any:
    """Return True if base + weight overflows. (Numba may assume that integer sums never wrap.)"""
    return (weight > 0 and base > nothing - weight) or (weight < 0 and base < -nothing - weight)


@kernel
def is_nothing(base: Any, weight: Any, nothing: Any) -> Any:
    """Return the same of an operator, which never wraps."""
    return extend(base, weight) == nothing
