"""Dependencies of many sources on all vertices or arcs, over all ranks.

Each rank has the whole graph and takes every so-manieth source. Sums are exact in fixed point, so
that they are the same at every number of ranks and threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.choices import Choices, Load
from groute_py.centrality.dependency_job import DependencyJob, dependency_job
from groute_py.centrality.own_sums import own_sums
from groute_py.comm.base import Channel
from groute_py.device.dependencies import EXACT, Dependencies, square_scale
from groute_py.engine.agree import collective
from groute_py.kernels.cpu.fixed_point import floats
from groute_py.many.apsp import Progress


@dataclass(frozen=True, eq=False)
class Accumulated:
    """Sums of dependencies over all sources, on rank 0.

    Attributes:
        job: what they are of.
        totals: float64, shape (n,) or (arcs of the given graph,).
        squares: float64, likewise: sums of squares; None if not asked for.
        most_paths: the greatest number of shortest paths between two vertices.
        label: what they were computed on.
    """

    job: DependencyJob
    totals: NDArray[np.float64]
    squares: NDArray[np.float64] | None
    most_paths: float
    label: str

    @property
    def exact_counts(self) -> bool:
        """Whether no count of paths was rounded."""
        return self.most_paths <= EXACT


def accumulated(
    channel: Channel,
    load: Load,
    choices: Choices,
    *,
    by_arc: bool = False,
    endpoints: bool = False,
    errors: bool = False,
    progress: Progress | None = None,
) -> Accumulated | None:
    """Sums of dependencies; None on ranks other than 0. Collective.

    Args:
        channel, load, choices, by_arc, endpoints, errors: as for `dependency_job`.
        progress: as for `accumulate`.

    Raises:
        InputError, RunError, SetupError: as these functions do.
    """
    job = dependency_job(channel, load, choices, by_arc=by_arc, endpoints=endpoints, errors=errors)
    return accumulate(channel, job, progress)


def accumulate(
    channel: Channel, job: DependencyJob, progress: Progress | None = None
) -> Accumulated | None:
    """Sums of dependencies over all sources; None on ranks other than 0. Collective.

    Args:
        channel: connects the ranks.
        job: the same on every rank.
        progress: takes how many sources are done, and of how many.

    Raises:
        InputError: the memory does not suffice.
        RunError: a distance, or a number of paths, does not fit.
    """
    own = job.sources[channel.rank :: channel.size]
    with collective(channel):
        sums, label = own_sums(job, own, channel, progress)
    return _gathered(channel, job, sums, label)


def _gathered(
    channel: Channel, job: DependencyJob, sums: Dependencies, label: str
) -> Accumulated | None:
    """The sums of all ranks, on rank 0."""
    most = max(channel.gather(sums.most_paths))
    parts = [channel.collect(array.reshape(-1)) for array in (sums.totals, sums.squares)]
    totals, squares = parts
    if totals is None or squares is None:
        return None
    for total, square in zip(totals[1:], squares[1:], strict=True):
        sums.add(Dependencies(total.reshape(-1, 2), square.reshape(-1, 2)))
    spread: Callable[[Any], Any] = job.simple.of_given_arcs if job.asked.by_arc else lambda v: v
    squared = None
    if job.asked.squares:
        scale = square_scale(job.graph.vertex_count)
        squared = _spread_squares(job, floats(sums.squares) / scale**2)
    return Accumulated(job, spread(floats(sums.totals)), squared, most, label)


def _spread_squares(job: DependencyJob, squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each of s parallel arcs has 1 / s of the value of the arc for them: 1 / s² of its square."""
    simple = job.simple
    if not job.asked.by_arc or simple.shares is None:
        return squares
    return simple.of_given_arcs(squares / simple.shares)
