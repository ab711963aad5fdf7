"""The answer of nearest facilities: a facility, its distance and a next vertex for each vertex."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import file_path
from groute_py.graph.ids import Numbering
from groute_py.jobs.forms import check_table
from groute_py.results.result import reached_in
from groute_py.results.tables import Column, of_distances, of_vertices, write_table
from groute_py.system.atomic_file import replacing, translating_errors


@dataclass(frozen=True, eq=False)
class NearestFacilities:
    """For each of n vertices its nearest facility.

    Attributes:
        facilities: int64, shape (n,), vertex indices; −1 where no path leads.
        distances: shape (n,), in the types and units of `groute_py.Result`.
        next: int64, shape (n,): the vertex beside each on a shortest path between it and its
            facility; −1 for facilities that are their own, and where no path leads.
        to_facility: the paths lead to the facilities, not from them.
        statistics: of the solve, see `groute_py.engine.statistics.Statistics`.
        numbering: between vertices and the ids of the graph's file.
    """

    facilities: NDArray[np.int64]
    distances: NDArray[Any]
    next: NDArray[np.int64]
    to_facility: bool = False
    statistics: dict[str, Any] = field(default_factory=dict)
    numbering: Numbering = field(default_factory=lambda: Numbering(0))

    @property
    def reached(self) -> NDArray[np.bool_]:
        """bool, shape (n,): which vertices have a facility."""
        return reached_in(self.distances)

    def save(self, path: str | Path) -> None:
        """Write the answer; the file is complete or absent.

        ``.npz`` holds the arrays by name, with ``to_facility``, ``first_id`` and perhaps ``ids``.
        ``.csv`` and ``.parquet`` are tables in the file's ids: ``vertex``, ``facility``,
        ``distance``, ``next``.

        Raises:
            InputError: unknown suffix, or no file can be written there.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        target = file_path("path", path)
        check_table(target, (".npz",))
        if target.suffix == ".npz":
            with translating_errors(target), replacing(target) as file:
                np.savez(file, **self._arrays())
            return
        numbering = self.numbering
        columns = {
            "vertex": Column(numbering.ids_of(np.arange(len(self.distances)))),
            "facility": of_vertices(self.facilities, numbering),
            "distance": of_distances(self.distances),
            "next": of_vertices(self.next, numbering),
        }
        write_table(target, [columns])

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
        return arrays
