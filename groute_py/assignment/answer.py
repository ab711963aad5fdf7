"""The answer of an assignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.equilibrium import Iteration
from groute_py.assignment.matrices import check_matrices, write_matrices
from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.results.tables import Column, TableColumns, check_table, write_table

ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Assignment:
    """Flows of an equilibrium, by the arcs of the graph.

    Attributes:
        class_flows: float64, shape (c, m): trips of each class on each link.
        volumes: float64, shape (m,): of all classes, in passenger cars.
        times: float64, shape (m,): of each link at its volume.
        saturation: float64, shape (m,): volume over capacity.
        names: of the classes, of which there are c.
        history: the gap, the objective and the seconds of each iteration.
        is_converged: whether the gap that was asked for is reached.
        trips: of all classes.
        unassigned: those among them whose destination cannot be reached.
        within_zones: those among them from a zone to itself, which use no link.
        selected: by name of a selection, flows of its trips on all links, float64, shape (m,); the
            names end in ``_CLASS`` if there are several classes, as those of matrices do.
        zones: ids of the vertices where trips to another vertex begin or end, shape (z,).
        matrices: by name of a skim, or ``trips_SELECTION``: float64, shape (z, z).
    """

    graph: Graph
    class_flows: NDArray[np.float64]
    volumes: NDArray[np.float64]
    times: NDArray[np.float64]
    saturation: NDArray[np.float64]
    names: Sequence[str]
    history: Sequence[Iteration]
    is_converged: bool
    trips: float
    unassigned: float
    within_zones: float
    selected: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    zones: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    matrices: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """The relative gap that is left."""
        return self.history[-1].gap

    @property
    def objective(self) -> float:
        """Beckmann's objective."""
        return self.history[-1].objective

    def summary(self) -> dict[str, Any]:
        """Figures of the whole network, by name; times and lengths are in the units of the links.

        ``total_time`` and, with such a column, ``total_length`` add up what all passenger cars need
        and drive; with several classes, ``CLASS_time`` and ``CLASS_length`` what travellers do.
        """
        last, columns = self.history[-1], self.graph.columns
        sums = {"time": self.times, "length": columns.get("length")}
        flows = {"total": self.volumes}
        if len(self.names) > 1:
            flows |= dict(zip(self.names, self.class_flows, strict=True))
        totals = {
            f"{name}_{title}": float(own @ values)
            for name, own in flows.items()
            for title, values in sums.items()
            if values is not None
        }
        return {
            "graph": self.graph.name,
            "links": self.graph.arc_count,
            "trips": self.trips,
            "unassigned": self.unassigned,
            "within_zones": self.within_zones,
            "iterations": last.iteration,
            "relative_gap": last.gap,
            "average_excess_cost": last.excess,
            "objective": last.objective,
            **totals,
            "converged": self.is_converged,
        }

    def save(self, path: str | Path) -> None:
        """Write a table of the links, ``.csv`` or ``.parquet``, atomically.

        Columns: tail, head, volume, time, saturation; the flow of each class if there are several;
        and the flow through each selection.

        Raises:
            InputError: the suffix is unknown, or no file can be written there.
            RunError: the disk is full.
        """
        check_table(Path(path))
        write_table(Path(path), self._parts(), self.graph.attribution)

    def save_matrices(self, path: str | Path) -> None:
        """Write the matrices and the ids of their zones, ``.npz`` or ``.omx``, atomically.

        Raises:
            InputError: the suffix is unknown, no file can be written there, or there are none.
            RunError: the disk is full.
            SetupError: openmatrix is not installed.
        """
        if not self.matrices:
            raise InputError("there are no matrices; name skims or selections")
        check_matrices(Path(path))
        write_matrices(Path(path), self.zones, self.matrices)

    def _parts(self) -> Iterator[TableColumns]:
        ids = self.graph.numbering
        tails, heads = ids.ids_of(self.graph.tails()), ids.ids_of(self.graph.heads)
        columns = {
            "tail": tails,
            "head": heads,
            "volume": self.volumes,
            "time": self.times,
            "saturation": self.saturation,
        }
        if len(self.names) > 1:
            flows = zip(self.names, self.class_flows, strict=True)
            columns |= {f"flow_{name}": flow for name, flow in flows}
        columns |= {f"through_{name}": flow for name, flow in self.selected.items()}
        for first in range(0, max(len(heads), 1), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            yield {title: Column(values[rows]) for title, values in columns.items()}
