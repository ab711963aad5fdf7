"""Distances as users get them, and figures of all: their number, the greatest, and their sum."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.arrays import on_device
from groute_py.graph.units import SHOWN, shown
from groute_py.system.memory_limits import ANSWERS
from groute_py.system.threads import in_slices, thread_count

UNREACHED = np.iinfo(np.int64).max
"""The integer distance of a vertex that no path reaches; float distances use infinity."""

WIDENED_AT_ONCE = 1 << 20
"""Distances that a thread converts in one go. With fewer, threads on many cores spend most of the
time on Python's lock, which each takes again after every operation of NumPy."""

WIDENED_ALONE = 1 << 19  # up to this many distances one thread is faster than several


def public_type(weight_type: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of distances as users get them, by that of the weights."""
    return weight_type if weight_type.kind == "f" else np.dtype(np.int64)


def public_distances(distances: NDArray[Any], *more: NDArray[Any]) -> NDArray[Any]:
    """Return distances as users get them: int64 with `UNREACHED`, or float with infinity.

    With ``more`` all are of shape (k,) and one type, and are joined.
    """
    if distances.dtype.itemsize > 4 or distances.dtype.kind == "f":
        return np.concatenate([distances, *more]) if more else distances
    if on_device(distances):
        wide = distances.astype(np.int64)
        wide[distances == np.iinfo(distances.dtype).max] = UNREACHED
        return wide
    narrow = [array.reshape(-1) for array in (distances, *more)]
    wide = ANSWERS.empty(sum(map(len, narrow)), np.int64)
    places = np.split(wide, np.cumsum([len(array) for array in narrow])[:-1])
    pieces = [
        (place[first : first + WIDENED_AT_ONCE], array[first : first + WIDENED_AT_ONCE])
        for place, array in zip(places, narrow, strict=True)
        for first in range(0, len(array), WIDENED_AT_ONCE)
    ]

    def put(some: slice) -> None:
        for piece in pieces[some]:
            put_public(*piece)

    in_slices(len(pieces), 1 if len(wide) > WIDENED_ALONE else max(len(pieces), 1), put)
    return wide if more else wide.reshape(distances.shape)


def put_public(wide: NDArray[Any], distances: NDArray[Any]) -> None:
    """Put distances into an array of their public type and their shape."""
    step = max(WIDENED_AT_ONCE * len(wide) // max(wide.size, 1), 1)
    for first in range(0, len(wide), step):
        part = distances[first : first + step]
        wide[first : first + step] = part
        is_narrow = distances.dtype.kind != "f" and distances.dtype.itemsize == 4
        nothing = np.iinfo(distances.dtype).max if is_narrow else None
        if is_narrow and part.max(initial=0) == nothing:  # few parts have one
            wide[first : first + step][part == nothing] = UNREACHED


def reached_in(distances: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which distances in public types are of a path, bool of the same shape."""
    if distances.dtype.kind == "f":
        return np.asarray(np.isfinite(distances))
    return np.asarray(distances != UNREACHED)


def shown_distances(distances: NDArray[Any], unit: str) -> NDArray[Any]:
    """Return distances in public types as `shown`, infinite where no path leads.

    >>> shown_distances(np.array([1500, UNREACHED]), "ms").tolist()
    [1.5, inf]
    """
    if unit not in SHOWN:
        return distances
    return np.where(reached_in(distances), shown(distances, unit), np.inf)


AT_ONCE = 1 << 20  # distances that a thread looks at in one go


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
