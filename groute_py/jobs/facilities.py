"""The answer of nearest facilities: facilities, distances and next vertices for each vertex."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import file_path
from groute_py.graph.csr import Graph
from groute_py.graph.ids import Numbering
from groute_py.io.array_archive import save_arrays
from groute_py.results.result import reached_in
from groute_py.results.tables import (
    Column,
    Part,
    check_table,
    of_distances,
    of_vertices,
    write_table,
)
from groute_py.system.atomic_file import replacing, translating_errors

LINES_AT_ONCE = 1 << 16
"""Of a table, about."""


def by_id(graph: Graph, facilities: NDArray[np.int64]) -> NDArray[np.int64]:
    """The facilities in the order of the file's ids, each once."""
    every = np.unique(facilities)
    return every[np.argsort(graph.numbering.ids_of(every), kind="stable")]


@dataclass(frozen=True, eq=False)
class NearestFacilities:
    """For each of n vertices its nearest facility, or its k nearest, the nearest first.

    Attributes:
        facilities: int64, shape (n,), or (n, k) for k > 1: vertex indices; −1 where no path leads,
            and where there are no more.
        distances: of the same shape, in the types and units of `groute_py.Result`.
        next: int64, of the same shape: the vertex beside each on a shortest path between it and the
            facility; −1 for facilities that are their own, and where there is none.
        to_facility: the paths lead to the facilities, not from them.
        statistics: of the solve, see `groute_py.engine.statistics.Statistics`.
        numbering: between vertices and the ids of the graph's file.
        attribution: whom to name where the answer is shown, "" for nobody.
    """

    facilities: NDArray[np.int64]
    distances: NDArray[Any]
    next: NDArray[np.int64]
    to_facility: bool = False
    statistics: dict[str, Any] = field(default_factory=dict)
    numbering: Numbering = field(default_factory=lambda: Numbering(0))
    attribution: str = ""

    @property
    def reached(self) -> NDArray[np.bool_]:
        """bool, of the shape of ``distances``: where there is a facility."""
        return reached_in(self.distances)

    def save(self, path: str | Path) -> None:
        """Write the answer; the file is complete or absent.

        ``.npz`` holds the arrays by name, with ``to_facility``, ``first_id``, and perhaps ``ids``
        and ``attribution``.
        ``.csv`` and ``.parquet`` are tables in the file's ids: ``vertex``, ``facility``,
        ``distance``, ``next``; of k facilities with the column ``rank``, from 1, behind ``vertex``.

        Raises:
            InputError: unknown suffix, or no file can be written there.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        target = file_path("path", path)
        check_table(target, (".npz",))
        if target.suffix == ".npz":
            with translating_errors(target), replacing(target) as file:
                save_arrays(file, self._arrays())
            return
        write_table(target, self._parts(), self.attribution)

    def _parts(self) -> Iterator[Part]:
        step = max(LINES_AT_ONCE // (self.distances.size // max(len(self.distances), 1) or 1), 1)
        for start in range(0, max(len(self.distances), 1), step):
            yield self._part(slice(start, start + step))

    def _part(self, some: slice) -> Part:
        """The lines of some vertices, one for each facility."""
        numbering, distances = self.numbering, self.distances[some]
        vertices = np.arange(len(self.distances))[some]
        ranks: dict[str, Column] = {}
        if distances.ndim == 2:
            count, each = distances.shape
            vertices = np.repeat(vertices, each)
            ranks["rank"] = Column(np.tile(np.arange(1, each + 1), count))
        return {
            "vertex": Column(numbering.ids_of(vertices)),
            **ranks,
            "facility": of_vertices(self.facilities[some].reshape(-1), numbering),
            "distance": of_distances(distances.reshape(-1)),
            "next": of_vertices(self.next[some].reshape(-1), numbering),
        }

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {
            "facilities": self.facilities,
            "distances": self.distances,
            "next": self.next,
            "to_facility": np.bool_(self.to_facility),
            "first_id": np.int64(self.numbering.first),
        }
        if self.numbering.ids is not None:
            arrays["ids"] = self.numbering.ids
        if self.attribution:
            arrays["attribution"] = np.array(self.attribution)
        return arrays
