"""Dependencies of many sources on all vertices or arcs, over all ranks.

Each rank has the whole graph and takes every so-manieth source. Sums are exact in fixed point, so
that they are the same at every number of ranks and threads, and however often a run was ended and
gone on with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.dependency_job import DependencyJob, dependency_job
from groute_py.centrality.own_sums import OwnSums, device_of
from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.dependencies import EXACT, Dependencies, square_scale
from groute_py.errors import quoted
from groute_py.graph.csr import Graph
from groute_py.graph.size import Size
from groute_py.kernels.cpu.fixed_point import floats
from groute_py.many.apsp import Progress
from groute_py.many.slices import slices
from groute_py.many.sources import Vertices
from groute_py.many.storage.record import run_of
from groute_py.many.storage.store import Store
from groute_py.memory.host import bytes_of, refuse_beyond
from groute_py.solver.opened import NOTHING, Opened, Work


@dataclass(frozen=True, eq=False)
class Accumulated:
    """Sums of dependencies over all sources, on rank 0.

    Attributes:
        job: what they are of.
        totals: float64, shape (n,) or (arcs of the given graph,).
        squares: float64, likewise: sums of squares; None if not asked for.
        most_paths: the greatest number of shortest paths between two vertices.
        label: what they were computed on.
        given: the graph as it was given, where that is known.
    """

    job: DependencyJob
    totals: NDArray[np.float64]
    squares: NDArray[np.float64] | None
    most_paths: float
    label: str
    given: Graph | None = None

    @property
    def exact_counts(self) -> bool:
        """Whether no count of paths was rounded."""
        return self.most_paths <= EXACT


def accumulated(
    opened: Opened, sources: Vertices | None, work: Work = NOTHING, **asked: bool
) -> Accumulated | None:
    """Sums of dependencies; None on ranks other than 0. Collective.

    Args:
        opened, sources, asked: as for `dependency_job`.
        work: its ``keep`` has the sums.

    Raises:
        InputError, RunError, SetupError: as `dependency_job` and `accumulate` do.
    """
    channel, store = opened.channel, work.keep
    job = dependency_job(opened, sources, **asked)
    if store is not None:
        ends = {"sources": job.sources}
        store.begin(channel, lambda: run_of(job.graph, ends, {}), len(job.sources))
    opened.make_room()
    found = accumulate(channel, job, opened.ended(work.progress), store)
    return None if found is None else replace(found, given=opened.graph())


def accumulate(
    channel: Channel,
    job: DependencyJob,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Accumulated | None:
    """Sums of dependencies over all sources; None on ranks other than 0. Collective.

    Args:
        channel: connects the ranks.
        job: the same on every rank.
        progress: takes how many sources are done, and of how many.
        store: has begun with what an earlier run saved, and saves the sums now and then.

    Raises:
        InputError: the memory does not suffice.
        RunError: a distance, or a number of paths, does not fit; or the disk is full.
    """
    on_root(channel, lambda: _refuse_sums(job, channel.size))
    before, missing = Dependencies.of(job.sum_count, job.asked), np.arange(len(job.sources))
    if store is not None:
        missing, most_paths = store.missing, np.array([before.most_paths])
        store.load_into(channel, _arrays(before, most_paths))
        before.most_paths = float(most_paths[0])
    is_done = np.ones(len(job.sources), np.bool_)
    is_done[missing] = False
    own = job.sources[missing[channel.rank :: channel.size]]
    sums = OwnSums(job, own, channel, progress, len(job.sources) - len(missing))
    total: Dependencies | None = None
    work = job.graph.vertex_count + job.graph.arc_count
    for stop in slices(channel, len(own), store, device_of(job, channel.size), work):
        with collective(channel):
            sums.advance(stop)
        total = _gathered(channel, sums.found, before)
        with collective(channel):
            if store is not None and stop is not None and total is not None:
                is_done[missing[: stop * channel.size]] = True  # the first ``stop`` of each rank
                arrays = _arrays(total, np.array([total.most_paths]))
                store.replace(np.flatnonzero(is_done), **arrays)
    return None if total is None else _accumulated(job, total, sums.label)


def _refuse_sums(job: DependencyJob, ranks: int) -> None:
    """Refuse sums of all ranks that do not fit on rank 0, which collects them."""
    graph = job.graph
    sums = ranks * job.sum_count * (1 + job.asked.squares)
    needed = bytes_of("sums of ranks", Size(graph.vertex_count, graph.arc_count), sums=sums)
    what = f"sums of betweenness of {quoted(graph.name)} from {ranks:,} ranks"
    refuse_beyond(needed, what, "use fewer ranks, or give the job more memory")


def _arrays(sums: Dependencies, most_paths: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    return {"totals": sums.totals, "squares": sums.squares, "most_paths": most_paths}


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
