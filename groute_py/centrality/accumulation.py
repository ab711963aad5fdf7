"""Dependencies of many sources on all vertices or arcs, over all ranks.

Each rank has the whole graph and takes every so-manieth source. Sums are exact in fixed point, so
that they are the same at every number of ranks and threads, and however often a run was ended and
gone on with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.choices import Choices, Load
from groute_py.centrality.dependency_job import DependencyJob, dependency_job
from groute_py.centrality.own_sums import OwnSums, device_of
from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.dependencies import EXACT, Dependencies, square_scale
from groute_py.kernels.cpu.fixed_point import floats
from groute_py.many.apsp import Progress
from groute_py.many.saving import Keep, Saving, saving_in, slices
from groute_py.many.storage.record import run_of


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
    keep: Keep | None = None,
) -> Accumulated | None:
    """Sums of dependencies; None on ranks other than 0. Collective.

    Args:
        channel, load, choices, by_arc, endpoints, errors: as for `dependency_job`.
        progress: as for `accumulate`.
        keep: gives the place where sums are saved; None, on every rank, if they are not.

    Raises:
        InputError, RunError, SetupError: as these functions do.
    """
    job = dependency_job(channel, load, choices, by_arc=by_arc, endpoints=endpoints, errors=errors)
    saving = None
    if keep is not None:
        count = len(job.sources)
        saving = saving_in(
            channel, keep, lambda: run_of(job.graph, {"sources": job.sources}, {}), count
        )
    return accumulate(channel, job, progress, saving)


def accumulate(
    channel: Channel,
    job: DependencyJob,
    progress: Progress | None = None,
    saving: Saving | None = None,
) -> Accumulated | None:
    """Sums of dependencies over all sources; None on ranks other than 0. Collective.

    Args:
        channel: connects the ranks.
        job: the same on every rank.
        progress: takes how many sources are done, and of how many.
        saving: has what an earlier run saved, and saves the sums now and then.

    Raises:
        InputError: the memory does not suffice.
        RunError: a distance, or a number of paths, does not fit; or the disk is full.
    """
    begun, missing = Begun(job), np.arange(len(job.sources))
    if saving is not None:
        missing = on_root(channel, lambda: begun.missing(saving))
        saving.pace.begin(device_of(job, channel.size), job.graph.vertex_count, job.graph.arc_count)
    own = job.sources[missing[channel.rank :: channel.size]]
    sums = OwnSums(job, own, channel, progress, len(job.sources) - len(missing))
    total: Dependencies | None = None
    for stop in slices(channel, len(own), saving):
        with collective(channel):
            sums.advance(stop)
        total = _gathered(channel, sums.found, begun.sums)
        with collective(channel):
            if saving is not None and stop is not None and total is not None:
                # the first ``stop`` of each rank are done
                saving.save(*begun.with_more(total, missing[: stop * channel.size]))
    return None if total is None else _accumulated(job, total, sums.label)


class Begun:
    """The sums that an earlier run of a job saved, and which of its sources they are over."""

    def __init__(self, job: DependencyJob) -> None:
        self.sums = Dependencies.of(job.sum_count, job.asked)
        self._is_done = np.zeros(len(job.sources), np.bool_)

    def missing(self, saving: Saving) -> NDArray[np.int64]:
        """Load what was saved, if anything; the positions of the other sources."""
        most_paths = np.array([self.sums.most_paths])
        saving.load_into(_arrays(self.sums, most_paths, self._is_done))
        self.sums.most_paths = float(most_paths[0])
        saving.note(int(self._is_done.sum()))
        return np.flatnonzero(~self._is_done)

    def with_more(
        self, total: Dependencies, positions: NDArray[np.int64]
    ) -> tuple[dict[str, NDArray[Any]], int]:
        """What is to be saved, and over how many sources it is.

        Args:
            total: these sums, and those over more sources.
            positions: of these.
        """
        is_done = self._is_done.copy()
        is_done[positions] = True
        return _arrays(total, np.array([total.most_paths]), is_done), int(is_done.sum())


def _arrays(
    sums: Dependencies, most_paths: NDArray[np.float64], is_done: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    sides = {"totals": sums.totals, "squares": sums.squares}
    return {**sides, "most_paths": most_paths, "is_done": is_done}


def _gathered(channel: Channel, sums: Dependencies, begun: Dependencies) -> Dependencies | None:
    """The sums of all ranks, and those of an earlier run, on rank 0."""
    counts = channel.gather(sums.most_paths)
    totals, squares = (channel.collect(a.reshape(-1)) for a in (sums.totals, sums.squares))
    if totals is None or squares is None:
        return None
    for total, square, most in list(zip(totals, squares, counts, strict=True))[1:]:
        sums.add(Dependencies(total.reshape(-1, 2), square.reshape(-1, 2), most))
    sums.add(begun)
    return sums


def _accumulated(job: DependencyJob, sums: Dependencies, label: str) -> Accumulated:
    spread: Callable[[Any], Any] = job.simple.of_given_arcs if job.asked.by_arc else lambda v: v
    squared = None
    if job.asked.squares:
        scale = square_scale(job.graph.vertex_count)
        squared = _spread_squares(job, floats(sums.squares) / scale**2)
    return Accumulated(job, spread(floats(sums.totals)), squared, sums.most_paths, label)


def _spread_squares(job: DependencyJob, squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each of s parallel arcs has 1 / s of the value of the arc for them: 1 / s² of its square."""
    simple = job.simple
    if not job.asked.by_arc or simple.shares is None:
        return squares
    return simple.of_given_arcs(squares / simple.shares)
