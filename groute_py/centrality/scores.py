"""The answers of centralities: a number for each of some vertices, or for each arc."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.dependencies import Accumulated
from groute_py.centrality.distances import Reduced
from groute_py.graph.geography import Units
from groute_py.io.npz import save_arrays
from groute_py.results.answer import JobAnswer
from groute_py.results.tables import Column, TableColumns, in_parts, with_units, write_table
from groute_py.system.atomic_file import replacing, translating_errors
from groute_py.system.threads import in_slices

ROWS_AT_ONCE = 1 << 16

ESTIMATED_AT_ONCE = 1 << 15
"""Sums that a thread estimates from in one go, so that they stay in its cache."""


@dataclass(frozen=True, eq=False)
class Scores(JobAnswer):
    """A number for each of k vertices.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        vertices: int64, shape (k,), positions of vertices.
        values: shape (k,): float64, or int64 for eccentricities of integer weights.
        errors: float64, shape (k,), standard errors of estimates; None if the values are exact.
        units: of the values by "", such as ``min`` or ``per min``, where it is known.
    """

    vertices: NDArray[np.int64]
    values: NDArray[Any]
    errors: NDArray[np.float64] | None = None

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`."""
        return {title: column.at(some) for title, column in self.columns().items()}

    def columns(self, title: str = "value") -> TableColumns:
        """Return columns of one length by title: ids, the values, and standard errors."""
        ids = Column(self.numbering.ids_of(self.vertices))
        return {"vertex": ids, title: Column(self.values, sums=""), **_errors_of(self)}


@dataclass(frozen=True, eq=False)
class ArcScores(JobAnswer):
    """A number for each of m arcs, in the order of the graph's rows.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        tails, heads: int64, shape (m,), positions of vertices.
        values: float64, shape (m,).
        errors: float64, shape (m,), standard errors of estimates; None if the values are exact.
    """

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    values: NDArray[np.float64]
    errors: NDArray[np.float64] | None = None

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`."""
        return {title: column.at(some) for title, column in self.columns().items()}

    def columns(self, title: str = "value") -> TableColumns:
        """Return columns of one length by title, as those of `Scores`."""
        tails, heads = map(Column, map(self.numbering.ids_of, (self.tails, self.heads)))
        return {"tail": tails, "head": heads, title: Column(self.values), **_errors_of(self)}


def row_scores(result: Reduced, values: NDArray[Any], per: str = "") -> Scores:
    """The scores of the sources, from values of rows, in the unit of distances or ``per`` it."""
    statistics = result.job.statistics(result.label) | {"complete": result.complete}
    graph = result.job.row_graph
    units = {"": per + graph.units[""]} if "" in graph.units else {}
    answer = result.sources, values, None
    return Scores(*answer, statistics=statistics, numbering=graph.numbering, units=units)


def vertex_scores(result: Accumulated, normalized: bool) -> Scores:
    """The scores of all vertices."""
    assert result.input_graph is not None
    vertices, numbering = np.arange(result.job.graph.vertex_count), result.input_graph.numbering
    values = estimated(result, normalized=normalized)
    return Scores(vertices, *values, statistics=result.statistics, numbering=numbering)


def arc_scores(result: Accumulated, normalized: bool) -> ArcScores:
    """The scores of the arcs of the graph that was given."""
    graph = result.input_graph
    assert graph is not None
    tails = graph.tails()
    heads = graph.heads.astype(np.int64)
    answer = tails, heads, *estimated(result, normalized=normalized)
    return ArcScores(*answer, statistics=result.statistics, numbering=graph.numbering)


def estimated(
    result: Accumulated, *, normalized: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Betweenness over all sources from sums over some, and its standard errors.

    The sums are scaled by the vertices for each source; a source is none of its own paths' inner
    vertices, so for itself it counts neither as a vertex nor as a source. The errors are those of
    drawing the sources at random, without replacement; None if all vertices are sources. Values
    and errors that one source too few was drawn for are NaN.
    """
    job, totals, squares = result.job, result.totals, result.squares
    is_inner = not (job.accumulation.by_arc or job.accumulation.endpoints)
    count, drawn = job.graph.vertex_count - is_inner, len(job.sources)
    pairs = count * (count - 1)
    values = np.empty(len(totals))
    errors = None if squares is None else np.empty(len(totals))

    def estimate(some: Any, drawn: int) -> None:
        factor = 1.0
        if pairs > 0 and job.sampled:
            factor = count / drawn if drawn else np.nan
        if pairs > 0 and normalized:
            factor /= pairs
        values[some] = totals[some] * factor
        if squares is not None and errors is not None:
            share = max(1 - drawn / max(count, 1), 0)
            spread = _spread(totals[some], squares[some], drawn)
            errors[some] = np.sqrt(spread * drawn * share) * factor

    in_slices(len(totals), ESTIMATED_AT_ONCE, lambda some: estimate(some, drawn))
    if is_inner:
        estimate(job.sources, drawn - 1)
    return values, errors


def _spread(totals: Any, squares: Any, drawn: int) -> Any:
    """The variance of the numbers that add up to some sums; NaN of fewer than two."""
    if drawn < 2:
        return np.full(len(totals), np.nan)
    return np.maximum((squares - totals**2 / drawn) / (drawn - 1), 0)


def _errors_of(scores: Scores | ArcScores) -> TableColumns:
    return {} if scores.errors is None else {"standard_error": Column(scores.errors)}


def save_columns(columns: TableColumns, path: Path, units: Units, attribution: str = "") -> None:
    """Write them, atomically: ``.npz``, or a table of a suffix of `groute_py.results.tables`."""
    if path.suffix != ".npz":
        count = len(next(iter(columns.values())).values)

        def part_of(rows: slice) -> TableColumns:
            part = {title: column.at(rows) for title, column in columns.items()}
            return with_units(part, units)

        write_table(path, in_parts(count, ROWS_AT_ONCE, part_of), attribution)
        return
    arrays = {title: column.values for title, column in columns.items()}
    arrays |= {"attribution": np.array(attribution)} if attribution else {}
    with translating_errors(path), replacing(path) as file:
        save_arrays(file, arrays)
