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
    arcs, begins = -1, np.empty(0)
    if reach.arc_begins is not None:
        arcs, begins = len(reach.arc_begins), reach.arc_begins
    known = np.array([place]), np.array([len(reach.vertices)]), reach.vertices, reach.distances
    return *known, np.array([arcs]), begins


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
        known = (arcs >= 0).tolist()
        for place, some, near, of_arcs, has in zip(places.tolist(), *rows, known, strict=True):
            found[place] = Reach(sources[place], some, near, of_arcs if has else None)
    return found
