"""Figures of all distances of an answer: their number, the greatest, and their sum."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.results.result import reached_in
from groute_py.system.threads import thread_count

AT_ONCE = 1 << 20
"""Distances that a thread looks at in one go."""


class Figures(NamedTuple):
    """Figures of the distances of reached vertices; both are 0 if there are none.

    The sum of integers is exact; one of floats that is out of range is infinite.
    """

    reached: int
    greatest: float
    total: float


def figures_of(distances: NDArray[Any]) -> Figures:
    """The figures of distances in public types, shape (n,), by all threads.

    >>> figures_of(np.array([0.0, 2.5, np.inf]))
    Figures(reached=2, greatest=2.5, total=2.5)
    """
    parts = [distances[first : first + AT_ONCE] for first in range(0, len(distances), AT_ONCE)]
    if len(parts) == 1:
        return _figures_of_part(parts[0])
    with ThreadPoolExecutor(thread_count()) as pool:
        figures = list(pool.map(_figures_of_part, parts))
    return Figures(
        sum(part.reached for part in figures),
        max((part.greatest for part in figures if part.reached), default=0),
        sum(part.total for part in figures),
    )


def _figures_of_part(part: NDArray[Any]) -> Figures:
    reached = part[reached_in(part)]
    if len(reached) == 0:
        return Figures(0, 0, 0)
    return Figures(len(reached), reached.max().item(), _total(reached))


def _total(distances: NDArray[Any]) -> float:
    if distances.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return float(distances.sum(dtype=np.float64))
    high, low = distances >> 32, distances & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())
