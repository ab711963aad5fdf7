"""Rows of some targets as a table: a line for each source and target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.ids import Numbering
from groute_py.results.tables import Column, Part, of_distances, of_vertices

PAIRS_AT_ONCE = 1 << 20
"""About how many lines are made in one go."""


def pairs(
    numbering: Numbering,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    arrays: dict[str, Any],
    points: Mapping[str, Sequence[str]],
) -> Iterator[Part]:
    """The table, some sources at a time.

    Args:
        numbering: between vertices and the file's ids.
        sources: shape (k,).
        targets: shape (t,).
        arrays: ``distances`` and perhaps ``predecessors``, each of shape (k, t).
        points: for which ends stand, by ``source`` and ``target``: k or t names, or none.
    """
    heads = numbering.ids_of(targets)
    named = {role: np.array(names, object) for role, names in points.items()}
    step = max(PAIRS_AT_ONCE // len(heads), 1)
    for start in range(0, len(sources), step):
        tails = numbering.ids_of(sources[start : start + step])
        part = {
            "source": Column(np.repeat(tails, len(heads))),
            "target": Column(np.tile(heads, len(tails))),
            "distance": of_distances(_flat(arrays["distances"], start, step)),
        }
        if "predecessors" in arrays:
            before = _flat(arrays["predecessors"], start, step)
            part["predecessor"] = of_vertices(before, numbering)
        if "source" in named:
            some = named["source"][start : start + step]
            part["source_point"] = Column(np.repeat(some, len(heads)))
        if "target" in named:
            part["target_point"] = Column(np.tile(named["target"], len(tails)))
        yield part


def _flat(array: Any, start: int, step: int) -> NDArray[Any]:
    return np.asarray(array[start : start + step]).reshape(-1)
