"""Accessibility: the targets that sources reach, counted or summed as rows are solved."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock
from groute_py.engine.keywords import MatrixKeywords
from groute_py.engine.option import takes
from groute_py.engine.options import Options
from groute_py.errors import InputError, check_choice, quote, quoted
from groute_py.graph.arrays import host_array
from groute_py.graph.csr import GraphLike
from groute_py.jobs.rows import RowsJob
from groute_py.many.apsp import ManySources, Spans
from groute_py.many.delivery import Progress, in_rounds
from groute_py.many.opened import Opened, Work, open_for
from groute_py.many.sources import Vertices
from groute_py.results import tables
from groute_py.results.answer import JobAnswer, about
from groute_py.results.distances import public_distances, reached_in
from groute_py.results.tables import Column, TableColumns

Floats = NDArray[np.float64]


def _decayed(distances: NDArray[Any], weights: Floats, cutoff: float) -> Floats:
    shares = np.where(reached_in(distances), np.exp(-distances / cutoff), 0)
    return np.asarray(shares @ weights)


REDUCTIONS: Mapping[str, Callable[[NDArray[Any], Floats, float], NDArray[Any]]] = {
    "count": lambda distances, _, __: reached_in(distances).sum(axis=1),
    "sum": lambda distances, weights, _: reached_in(distances) @ weights,
    "nearest": lambda distances, _, __: distances.min(axis=1),
    "decay": _decayed,
}
"""By name what becomes of rows of distances, the weights of their targets, and the cutoff."""

WEIGHTED = ("sum", "decay")


@dataclass(frozen=True, eq=False)
class Accessibility(JobAnswer):
    """A number for each of k sources, of the targets that it reaches.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        sources: int64, shape (k,), positions of vertices.
        values: shape (k,): int64 for ``count``, distances for ``nearest``, else float64.
        reduce: the name of the reduction, which is the title in tables.
    """

    sources: NDArray[np.int64]
    values: NDArray[Any]
    reduce: str

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`; a line for each source."""
        values, rows = self.values[some], np.arange(len(self.sources))[some]
        of_values = tables.of_distances(values) if self.reduce == "nearest" else Column(values)
        part = {"source": Column(self.numbering.ids_of(self.sources[some])), self.reduce: of_values}
        return part | tables.beside(self.attributes, source=rows)


@takes(Options, "matrix")
def accessibility(
    graph: GraphLike,
    sources: Vertices,
    targets: Vertices,
    reduce: str = "count",
    *,
    weights: Any = None,
    **options: Unpack[MatrixKeywords],
) -> Accessibility | None:
    """Count or sum what sources reach: the jobs within 30 minutes of each home, the nearest stop.

    The rows are those of `groute_py.matrix`, reduced block by block on the rank that solves them,
    so that memory is needed for one number a source.

    Args:
        graph, sources, targets: as for `groute_py.matrix`. A source that is a target reaches it.
        reduce: ``count`` the targets that are reached, within ``cutoff`` if there is one; ``sum``
            their weights; the distance of the ``nearest``; or ``decay``: the sum of weight ·
            exp(−distance / cutoff), pandana's exponential decay (Foti, Waddell and Luxen, 2012).
        weights: numbers, shape (t,), of the targets, or the title of a column of targets that are
            `groute_py.Points`; None for 1 each.
        tail, head, weight, ignore_columns, comm: as for `groute_py.sssp`.
        **options: how to solve, see `groute_py.engine.options.Options`.

    Returns:
        An `Accessibility` on rank 0; None on the other ranks.

    Raises:
        InputError, NegativeCycleError, SetupError, RunError: as for `groute_py.matrix`.

    >>> path = ([0, 1, 2, 2], [1, 2], [4, 3])
    >>> within = accessibility(path, [0, 1], [1, 2], "sum", weights=[10, 5], cutoff=5, device="cpu")
    >>> within.values.tolist()
    [10.0, 15.0]
    """
    with open_for("matrix", graph, options) as opened:
        how = opened.options.of_rows()
        return opened.answer(AccessibilityJob(sources, targets, reduce, weights, **how))


@dataclass(frozen=True, eq=False)
class AccessibilityJob:
    """A request for what sources reach; fields as for `accessibility`."""

    sources: Vertices
    targets: Vertices
    reduce: str = "count"
    weights: Any = None
    algorithm: str = "auto"
    predecessors: bool = False

    def shared_arguments(self) -> dict[str, Any]:
        return {"function": "accessibility", "reduce": self.reduce, "algorithm": self.algorithm}

    def check(self, options: Options) -> None:
        check_choice("reduce", self.reduce, REDUCTIONS)
        self.rows.check(options)
        if options.carry or self.predecessors:
            raise InputError("what sources reach has no paths; leave out carry and predecessors")
        if self.weights is not None and self.reduce not in WEIGHTED:
            raise InputError(f"weights are for {' and '.join(WEIGHTED)}, not for {self.reduce}")

    def run(self, opened: Opened, work: Work) -> Accessibility | None:
        return self.rows.run(opened, work)

    @property
    def rows(self) -> RowsJob[Accessibility | None]:
        """The rows that are reduced."""
        how: dict[str, Any] = {"algorithm": self.algorithm}
        return RowsJob("matrix", self.sources, self.deliver, self.targets, **how)

    def deliver(
        self, channel: Channel, many: ManySources, progress: Progress | None
    ) -> Accessibility | None:
        """Return the answer of many sources. Collective."""
        weights = on_root(channel, partial(self._weights, many))
        numbers = np.arange(len(many.sources))
        parts: list[tuple[NDArray[np.int64], NDArray[Any]]] = []

        def reduced(block: RowBlock | None) -> NDArray[Any] | None:
            if block is None:
                return None
            cutoff = float(many.options.bound or 0)
            return REDUCTIONS[self.reduce](public_distances(block.distances), weights, cutoff)

        def hand_over(block: RowBlock | None, spans: Spans) -> None:
            values = [some for some in channel.gather(reduced(block)) if some is not None]
            parts.extend(zip(many.parts(numbers, spans), values, strict=True))

        label = in_rounds(channel, many, numbers, hand_over, progress)
        if channel.rank > 0:
            return None
        order = np.argsort(np.concatenate([some for some, _ in parts]))
        return Accessibility(
            many.sources,
            np.concatenate([values for _, values in parts])[order],
            self.reduce,
            statistics=many.statistics(label),
            attributes=tables.attributes_of(source=self.sources),
            **about(many.row_graph),
        )

    def _weights(self, many: ManySources) -> Floats:
        """The weights of the targets, checked; on rank 0."""
        if self.reduce == "decay" and not 0 < (many.options.bound or 0) < math.inf:
            raise InputError("decay needs a cutoff, the distance at which a weight counts 1/e")
        count, weights = many.width, self.weights
        if isinstance(weights, str):
            titles = tables.attributes_of(target=self.targets)["target"]
            if weights not in titles:
                there = quoted(", ".join(titles)) or "none"
                raise InputError(f"targets have no column {quote(weights)}; there are {there}")
            weights = titles[weights]
        values = np.ones(count) if weights is None else host_array(weights)
        if values.shape != (count,) or values.dtype.kind not in "biuf":
            raise InputError(
                f"weights must be {count:,} numbers, one a target, not {values.dtype} of shape "
                f"{values.shape}"
            )
        if not np.isfinite(values).all():
            number = int(np.isfinite(values).argmin()) + 1
            raise InputError(f"the weight of target {number} is not finite")
        return values.astype(np.float64)
