"""Routes that a run keeps: those of some sources as arrays, and as they were found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.jobs.groups import Found
from groute_py.many.storage.part_file import Part

WIDTH = 5
"""Arrays of a part: sources, the places of their pairs, distances, lengths of paths, vertices."""


def part_of(found: list[Found], pairs: NDArray[np.int64]) -> Part:
    """What is known of some sources, at least one, as arrays.

    Args:
        found: of one source each.
        pairs: all of them, shape (k, 2).
    """
    sources = pairs[[some.places[0] for some in found], 0]
    paths = [path for some in found for path in some.paths or ()]
    return (
        sources,
        np.concatenate([some.places for some in found]),
        np.concatenate([some.distances for some in found]),
        np.array([len(path) for path in paths], np.int64),
        np.concatenate([np.empty(0, np.int64), *paths]),
    )


def found_in(part: Part, *, paths: bool) -> Found:
    """What a part says of all its pairs.

    Args:
        part: of `part_of`.
        paths: whether it has paths.
    """
    parts: Any = part  # whose types are known to who made it
    _, places, distances, lengths, vertices = parts
    known = np.split(vertices, np.cumsum(lengths)[:-1]) if paths else None
    return Found(places, distances, known)
