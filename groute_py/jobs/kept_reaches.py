"""Reaches that a run keeps: those of some sources as arrays, and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groute_py.jobs.isochrones import Reach
from groute_py.many.storage.part_file import Part

WIDTH = 6
"""Arrays of a part: places of the sources; counts of vertices, vertices, distances; counts of arcs,
−1 without turns, and at which distances these begin."""


def part_of(place: int, reach: Reach) -> Part:
    """A reach as arrays.

    Args:
        place: of its source, among all.
        reach: of the source.
    """
    begins, arcs = reach.arc_begins, -1
    if begins is not None:
        arcs = len(begins)
    counts = np.array([len(reach.vertices)]), np.array([arcs])
    begins = np.empty(0) if begins is None else begins
    return np.array([place]), counts[0], reach.vertices, reach.distances, counts[1], begins


def reaches_in(parts: Sequence[Part], sources: Sequence[int]) -> dict[int, Reach]:
    """The reaches of some parts, by the places of their sources.

    Args:
        parts: of `part_of`, or joined of these.
        sources: all of them.
    """
    found = {}
    for part in parts:
        every: Any = part  # whose types are known to who made it
        places, counts, vertices, distances, arcs, begins = every
        ends, last = np.cumsum(counts)[:-1], np.cumsum(np.maximum(arcs, 0))[:-1]
        rows = np.split(vertices, ends), np.split(distances, ends), np.split(begins, last)
        for place, count, *row in zip(places.tolist(), arcs.tolist(), *rows, strict=True):
            of_arcs = row.pop() if count >= 0 else None
            found[place] = Reach(sources[place], *row[:2], of_arcs)
    return found
