"""Reaches that a run keeps: those of some sources as arrays, and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groute_py.jobs.isochrones import Reach
from groute_py.many.storage.part_file import Part

WIDTH = 4
"""Arrays of a part: places of the sources, counts of vertices, vertices, distances."""


def part_of(place: int, reach: Reach) -> Part:
    """A reach as arrays.

    Args:
        place: of its source, among all.
        reach: of the source.
    """
    count = len(reach.vertices)
    return np.array([place]), np.array([count]), reach.vertices, reach.distances


def reaches_in(parts: Sequence[Part], sources: Sequence[int]) -> dict[int, Reach]:
    """The reaches of some parts, by the places of their sources.

    Args:
        parts: of `part_of`, or joined of these.
        sources: all of them.
    """
    found = {}
    for part in parts:
        every: Any = part  # whose types are known to who made it
        places, counts, vertices, distances = every
        ends = np.cumsum(counts)[:-1]
        rows = np.split(vertices, ends), np.split(distances, ends)
        for place, *row in zip(places.tolist(), *rows, strict=True):
            found[place] = Reach(sources[place], *row)
    return found
