"""The answer of nearest facilities: facilities, distances and next vertices for each vertex."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.engine.late import late
from groute_py.errors import NegativeCycleError, file_path
from groute_py.graph.csr import Graph
from groute_py.graph.turns.expanded import Layout, layout_of
from groute_py.io.npz import save_arrays
from groute_py.results import tables
from groute_py.results.answer import JobAnswer, about, arrays_about
from groute_py.results.distances import reached_in
from groute_py.results.tables import Attributes, Column, TableColumns
from groute_py.system.atomic_file import replacing, translating_errors
from groute_py.system.environment import local_rank

LINES_AT_ONCE = 1 << 16  # about how many lines of a table are made at once


def by_id(graph: Graph, facilities: NDArray[np.int64]) -> NDArray[np.int64]:
    """The facilities in the order of the file's ids, each once."""
    every = np.unique(facilities)
    return every[np.argsort(graph.numbering.ids_of(every), kind="stable")]


@dataclass(frozen=True, eq=False)
class NearestFacilities(JobAnswer):
    """For each of n vertices its nearest facility, or its k nearest.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        facilities: int64, shape (n,), or (n, k) for k > 1, the nearest first: positions of
            vertices; −1 where no path leads, and where there are no more.
        distances: of the same shape, in the types and units of `groute_py.Result`.
        next: int64, of the same shape: the vertex next to each on a shortest path between it and
            the facility; −1 for a vertex that is its own facility, and where there is none.
        to_facility: the paths lead to the facilities, not from them.
        statistics: of the solve, see `groute_py.engine.statistics.Statistics`; of k > 1 only
            ``algorithm``, ``reason`` and ``devices``.
        vertices: int64, shape (n,): positions of those that were asked for; None for all.
        candidates: int64, shape (f,): positions of all facilities, as they were named; None where
            they have no attributes.
    """

    facilities: NDArray[np.int64]
    distances: NDArray[Any]
    next: NDArray[np.int64]
    to_facility: bool = False
    vertices: NDArray[np.int64] | None = None
    candidates: NDArray[np.int64] | None = None

    @property
    def reached(self) -> NDArray[np.bool_]:
        """bool, of the shape of ``distances``: where there is a facility."""
        return reached_in(self.distances)

    def with_columns(
        self, candidates: NDArray[np.int64] | None, attributes: Attributes
    ) -> NearestFacilities:
        """The answer with the columns of points; arrays stay on a GPU if they are there."""
        answer = copy(self)
        vars(answer).update(candidates=candidates, attributes=attributes)  # the class is frozen
        return answer

    def save(self, path: str | Path) -> None:
        """Write the answer; the file is complete or absent.

        ``.npz`` holds the arrays by name, with ``to_facility``, ``first_id``, and perhaps ``ids``,
        ``vertices``, ``attribution``, and the sums of each column by its name behind ``carried_``.
        ``.csv`` and ``.parquet`` are tables in the file's ids: ``vertex``, ``facility``,
        ``distance``, ``next``; of k facilities with the column ``rank``, from 1, after ``vertex``.

        Raises:
            InputError: unknown suffix, or no file can be written there.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        target = file_path("path", path)
        tables.check_table(target, (".npz",))
        if target.suffix == ".npz":
            with translating_errors(target), replacing(target) as file:
                save_arrays(file, self._arrays())
            return
        count = len(self.distances)
        step = max(LINES_AT_ONCE // (self.distances.size // max(count, 1) or 1), 1)
        tables.write_table(target, tables.in_parts(count, step, self.lines), self.attribution)

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`; a line for each vertex and facility."""
        numbering, distances = self.numbering, self.distances[some]
        rows = np.arange(len(self.distances))[some]
        ranks: dict[str, Column] = {}
        if distances.ndim == 2:
            count, each = distances.shape
            rows = np.repeat(rows, each)
            ranks["rank"] = Column(np.tile(np.arange(1, each + 1), count))
        facilities, rows_by_role = self.facilities[some].reshape(-1), {"vertex": rows}
        if self.candidates is not None:
            rows_by_role["facility"] = tables.numbers_of(facilities, self.candidates)
        part = {
            "vertex": Column(
                numbering.ids_of(rows if self.vertices is None else self.vertices[rows])
            ),
            **ranks,
            "facility": tables.of_vertices(facilities, numbering),
            "distance": tables.of_distances(distances.reshape(-1)),
            "next": tables.of_vertices(self.next[some].reshape(-1), numbering),
        }
        part |= tables.beside(self.attributes, **rows_by_role)
        return tables.with_sums(part, self.carried, some)

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {
            "facilities": self.facilities,
            "distances": self.distances,
            "next": self.next,
            "to_facility": np.bool_(self.to_facility),
        }
        arrays |= {} if self.vertices is None else {"vertices": self.vertices}
        arrays |= arrays_about(self)
        return arrays | {f"{tables.CARRIED}{name}": sums for name, sums in self.carried.items()}


class DeviceNearest(NearestFacilities):
    """`NearestFacilities` from CuPy's arrays; host arrays are downloaded at their first use."""

    facilities: Any = late("facilities", "on_host")
    distances: Any = late("distances", "on_host")
    next: Any = late("next", "on_host")
    facilities_device: Any = late("facilities", "on_gpu")
    distances_device: Any = late("distances", "on_gpu")
    next_device: Any = late("next", "on_gpu")


def to_gpu(result: NearestFacilities) -> DeviceNearest:
    """Copy the arrays of an answer to the GPU of the only rank."""
    from groute_py.device.cuda.runtime.gpu import label_of, own_gpu  # imports CuPy
    from groute_py.device.cuda.runtime.short_memory import within_memory
    from groute_py.device.cuda.runtime.transfer import to_device

    what = f"the nearest facilities of {len(result.distances):,} vertices"
    label = label_of(own_gpu(local_rank(0)))
    with within_memory(what, label, "leave out download=False"):
        return DeviceNearest(
            to_device(result.facilities, np.int64),
            to_device(result.distances, result.distances.dtype),
            to_device(result.next, np.int64),
            to_facility=result.to_facility,
            statistics=result.statistics,
            **about(result),
        )


def at_vertices(result: NearestFacilities, layout: Layout) -> NearestFacilities:
    """The answer for each vertex where its paths end."""
    if not layout.is_expanded:
        return result
    return replace(
        result,
        facilities=layout.vertices(layout.at_ends(result.facilities)),
        distances=layout.at_ends(result.distances),
        next=next_vertices(result.next, layout),
    )


def next_vertices(predecessors: NDArray[Any], layout: Layout) -> NDArray[np.int64]:
    """The next vertex on a path between each vertex and its facility, (…, n); −1 for none.

    ``predecessors`` are those of the states of a graph that turns may have expanded. The state
    where paths to a vertex end, its *arrival*, is another than those where they go on: the vertex
    and its *copies*, one for each way in. An arc of weight 0 between these is no step of a path;
    see `groute_py.graph.turns.expanded.Layout`.
    """
    result = layout.at_ends(predecessors.T).T
    if layout.is_reversed:
        return layout.vertices(np.where(layout.are_arrivals(result), -1, result))
    farther = np.take_along_axis(predecessors, np.maximum(result, 0), axis=-1)
    farther = np.where(result < 0, -1, farther)
    return layout.vertices(np.where(layout.is_split(), farther, result))


def cycle_of_input(
    error: NegativeCycleError, solved: Graph | None, *, to_facility: bool
) -> NegativeCycleError:
    """The error of a solve, with its cycle as one of the graph that the user gave."""
    ids = None
    if solved is not None:
        error = layout_of(solved).cycle(error)
        ids = solved.numbering.ids_of(np.array(error.cycle)).tolist()
    again = NegativeCycleError(error.cycle, error.weight, ids=ids)
    again.on_all_ranks = error.on_all_ranks
    return again.reversed() if to_facility else again
