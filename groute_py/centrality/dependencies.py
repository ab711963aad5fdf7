"""Dependencies of many sources on all vertices or arcs, over all ranks: sums of betweenness.

Each rank has the whole graph and takes every k-th source, k being the number of ranks. Sums are
exact in fixed point, so they are the same at every number of ranks and threads, and after every
resumed run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.simple import (
    CountableGraph,
    SimpleGraph,
    refuse_repeats,
    refuse_zero_cycles,
    simple_part,
)
from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.device import dependencies
from groute_py.device.cpu.dependencies import CpuDependencies
from groute_py.device.dependencies import Accumulation, Dependencies, DependencySolver
from groute_py.device.registry import gpu_problem
from groute_py.device.rows import NarrowError
from groute_py.engine.algorithms.numbers import row_types
from groute_py.engine.memory.gpus import SUM_BYTES, betweenness_bytes, free_gpu_bytes
from groute_py.engine.memory.host import bytes_of, refuse_beyond, refuse_more
from groute_py.engine.options import Options
from groute_py.errors import InputError, RunError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.kernels.cpu.fixed_point import add, floats
from groute_py.many.delivery import Progress
from groute_py.many.estimates import may_have_few_levels
from groute_py.many.opened import NO_WORK, Opened, Work
from groute_py.many.reduce import in_slices, slices
from groute_py.many.solve import batch_delta
from groute_py.many.sources import Vertices, vertices_in
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.store import Store
from groute_py.system.clock import span
from groute_py.system.environment import local_rank
from groute_py.system.threads import core_count

SUMMED_AT_ONCE = 1 << 22  # sums that ranks exchange: MPI counts at most 2³¹ bytes
LITTLE = 1 << 24
"""Arcs and vertices of all sources that cores have done before a GPU is ready."""


@dataclass(frozen=True, eq=False)
class DependencyJob:
    """The graph and the sources of sums, the same on every rank."""

    countable: CountableGraph
    sources: NDArray[np.int64]  # (k,)
    hops: bool  # every weight is 1
    accumulation: Accumulation
    options: Options  # of which the device and the memory limit count

    @property
    def simple(self) -> SimpleGraph:
        """The graph, and what its arcs stand for."""
        return self.countable.simple

    @property
    def graph(self) -> Graph:
        """The graph without self-loops and parallel arcs."""
        return self.simple.graph

    @property
    def size(self) -> Size:
        """The size of the graph."""
        return Size.of(self.graph)

    @property
    def sum_count(self) -> int:
        """Vertices or arcs that sums are of."""
        return self.graph.arc_count if self.accumulation.by_arc else self.graph.vertex_count

    @property
    def sampled(self) -> bool:
        """Return whether some vertices are no sources."""
        return len(self.sources) != self.graph.vertex_count

    def device(self, ranks: int) -> str:
        """Return the GPU where there is one, but cores for what they do before it is ready."""
        if self.options.device != "auto":
            return self.options.device
        work = len(self.sources) * (self.size.vertices + self.size.arcs)
        if gpu_problem() is not None or (ranks == 1 and work < LITTLE):
            return "cpu"
        return "cuda"


@dataclass(frozen=True, eq=False)
class Accumulated:
    """Sums of dependencies over all sources of a job, on rank 0."""

    job: DependencyJob
    totals: NDArray[np.float64]  # (n,), or for each arc of the given graph
    squares: NDArray[np.float64] | None  # sums of squares, of the same shape
    most_paths: float  # the greatest number of shortest paths between two vertices
    label: str  # of the device
    input_graph: Graph | None = None  # the graph as it was given, where that is known

    @property
    def statistics(self) -> dict[str, Any]:
        """The device, the most paths, and whether no count of paths was rounded."""
        exact = self.most_paths <= dependencies.EXACT
        return {"device": self.label, "most_paths": self.most_paths, "exact_counts": exact}


def accumulated(
    opened: Opened, sources: Vertices | None, work: Work = NO_WORK, **how: bool
) -> Accumulated | None:
    """Return sums of dependencies on rank 0, None elsewhere; ``how`` as for `dependency_job`.

    Collective.
    """
    channel, store = opened.channel, work.keep
    job = dependency_job(opened, sources, **how)
    if store is not None:
        ends = {"sources": job.sources}
        store.begin(channel, lambda: run_of(job.graph, ends, {}), len(job.sources))
    opened.make_room()
    result = accumulate(channel, job, opened.rank_watch(work.progress), store)
    return None if result is None else replace(result, input_graph=opened.graph())


def dependency_job(
    opened: Opened,
    sources: Vertices | None,
    *,
    by_arc: bool = False,
    endpoints: bool = False,
    errors: bool = False,
) -> DependencyJob:
    """Give a graph whose shortest paths can be counted to every rank. Collective.

    Sums are those of arcs with ``by_arc``; with ``errors`` the squares are summed too where not all
    vertices are sources. Negative weights and cycles of weight 0 are refused.
    """
    channel, _ = opened.channel, opened.supply()

    def make() -> CountableGraph:
        return CountableGraph(on_root(channel, lambda: simple_part(opened.graph())))

    countable = opened.memo("countable graph", make)

    def ends() -> tuple[NDArray[np.int64], Accumulation]:
        graph = opened.graph()
        every = np.arange(graph.vertex_count)
        if sources is not None:
            every = vertices_in(graph, sources).astype(np.int64, copy=False)
        refuse_repeats(every, graph)
        if countable.facts.least == 0:
            refuse_zero_cycles(countable.simple.graph, every)
        squares = errors and len(every) != graph.vertex_count
        return every, Accumulation(by_arc, endpoints, squares)

    every, accumulation = on_root(channel, ends)
    return DependencyJob(countable, every, opened.options.hops, accumulation, opened.options)


def accumulate(
    channel: Channel,
    job: DependencyJob,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Accumulated | None:
    """Return sums of dependencies over all sources on rank 0; None elsewhere. Collective.

    With ``store``, which has begun, it goes on with an earlier run, and is saved now and then.
    """
    on_root(channel, lambda: _refuse_sums(job, channel.size))
    sums, work = DependencySums(channel, job, store), job.size.vertices + job.size.arcs
    stops = slices(channel, len(sums.own), store, job.device(channel.size), work)
    counts = len(sums.own), len(sums.missing), len(job.sources)
    in_slices(channel, sums, stops, counts, progress, store)
    total = sums.total
    if total is None:
        return None
    with span("answer"):
        totals, squares = floats(total.totals), None
        if job.accumulation.by_arc:
            totals = job.simple.of_given_arcs(totals)
        if job.accumulation.squares:
            scale = dependencies.square_scale(job.graph.vertex_count)
            squares = _spread_squares(job, floats(total.squares) / scale**2)
    return Accumulated(job, totals, squares, total.most_paths, sums.label)


def _refuse_sums(job: DependencyJob, ranks: int) -> None:
    """Refuse sums of all ranks that do not fit on rank 0, which collects them."""
    sums = ranks * job.sum_count * (1 + job.accumulation.squares)
    needed = bytes_of("sums of ranks", job.size, sums=sums)
    what = f"sums of betweenness of {quoted(job.graph.name)} from {ranks:,} ranks"
    refuse_beyond(needed, what, "use fewer ranks, or give the job more memory")


def _spread_squares(job: DependencyJob, squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each of s parallel arcs 1 / s of the value of the arc for them: 1 / s² of its square."""
    simple = job.simple
    if not job.accumulation.by_arc or simple.shares is None:
        return squares
    return simple.of_given_arcs(squares / simple.shares)


class DependencySums:
    """A rank's sums, in the narrowest type that holds every distance; see `many.reduce.Sums`.

    ``missing`` are the numbers of the sources that no earlier run has taken, and ``own`` the
    rank's sources among them; rank 0 has the sums of all ranks in ``total`` once it gathered them.
    """

    def __init__(self, channel: Channel, job: DependencyJob, store: Store | None) -> None:
        self._channel, self._job = channel, job
        self._closed: Dependencies | None = None  # of earlier solvers
        self.missing = np.arange(len(job.sources)) if store is None else store.missing
        if store is not None:
            self._closed = Dependencies.of(job.sum_count, job.accumulation)
            arrays = _arrays(self._closed)
            store.load_into(channel, arrays)
            self._closed.most_paths = float(arrays["most_paths"][0])
        self.own = job.sources[self.missing[channel.rank :: channel.size]]
        self.total: Dependencies | None = None
        self.label, self._done = "", 0
        device, place = job.device(channel.size), local_rank(channel.rank)
        self._attempts = iter(_attempts(job, device, place))
        self._type: np.dtype[Any] | None = None
        self._method = ""
        self._solver: DependencySolver | None = None
        self._of_solver: Dependencies | None = None

    def advance(self, stop: int | None) -> Iterator[int]:
        some = self.own[self._done : stop]
        with _translated(self._job.graph.name):
            while True:
                if self._solver is None:
                    self._open_next()
                assert self._solver is not None
                try:
                    for done in self._solver.add(some):
                        yield self._done + done
                except NarrowError:
                    self._close()
                    continue
                self._of_solver = self._solver.sums()
                break
        self._done += len(some)

    def gather(self, channel: Channel) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        assert self._of_solver is not None
        sums = self._of_solver
        if self._closed is not None:
            sums = Dependencies.of(self._job.sum_count, self._job.accumulation)
            sums.add(self._closed)
            sums.add(self._of_solver)
        most = max(channel.gather(sums.most_paths))
        totals, squares = (_summed(channel, array) for array in (sums.totals, sums.squares))
        if totals is None or squares is None:
            return np.empty(0, np.int64), {}
        self.total = sums = Dependencies(totals, squares, most)
        left = self.missing[self._done * channel.size :]  # each rank has taken as many
        return np.setdiff1d(np.arange(len(self._job.sources)), left), _arrays(sums)

    def _close(self) -> None:
        """Keep the sums from before the sources that did not fit, and free the solver."""
        if self._closed is None:
            self._closed = self._of_solver
        elif self._of_solver is not None:
            self._closed.add(self._of_solver)
        self._solver = self._of_solver = None
        if self._method == "levels":
            self._job.countable.levels, self._job.countable.has_few_levels = None, False

    def _open_next(self) -> None:
        """Open a solver of the next type."""
        kind, method = next(self._attempts, (None, ""))
        if kind is None:
            raise RunError(
                f"a distance in {quoted(self._job.graph.name)} does not fit in {self._type}; scale "
                "the weights down"
            )
        self._type, self._method = kind, method
        with span("load"):
            self._solver = _opened(self._job, kind, method, self._channel, len(self.own))
        self.label = self._solver.label


def _summed(channel: Channel, sums: NDArray[np.uint64]) -> NDArray[np.uint64] | None:
    """Sum the arrays of all ranks, of which each adds a part; on rank 0, else None. Collective."""
    if channel.size == 1:
        return sums
    total = np.empty_like(sums) if channel.rank == 0 else None
    for first in range(0, len(sums), SUMMED_AT_ONCE):
        some = sums[first : first + SUMMED_AT_ONCE]
        ends = 2 * (len(some) * np.arange(1, channel.size) // channel.size)
        own, *others = channel.exchange(np.split(some.reshape(-1), ends))
        for other in others:
            add(own.reshape(-1, 2), other.reshape(-1, 2))
        parts = channel.collect(own)
        if total is not None and parts is not None:
            total[first : first + len(some)] = np.concatenate(parts).reshape(-1, 2)
    return total


def _arrays(sums: Dependencies) -> dict[str, NDArray[Any]]:
    most_paths = np.array([sums.most_paths])
    return {"totals": sums.totals, "squares": sums.squares, "most_paths": most_paths}


def _attempts(job: DependencyJob, device: str, place: int) -> list[tuple[np.dtype[Any], str]]:
    """Return the types of distances to try, and the device or the method of a GPU."""
    types = [np.dtype(np.int32)] if job.hops else row_types(job.countable.facts, device)
    attempts = [(kind, device) for kind in types]
    if device == "cuda":
        # a core can tell a sum that a distance misses from one that was only tried
        attempts.append((types[-1], "cpu"))
        if _searches_levels(job, place):
            attempts.insert(0, (types[0], "levels"))
    return attempts


def _searches_levels(job: DependencyJob, place: int) -> bool:
    """Return whether a GPU has room to search level by level, and there may be few levels."""
    countable = job.countable
    if job.accumulation.endpoints or not countable.has_few_levels:
        return False
    if not may_have_few_levels(countable.facts):
        return False
    from groute_py.device.cuda.multi_source.levels import graph_bytes, group_bytes

    loading = graph_bytes(job.size) if countable.levels is None else 0
    sums = SUM_BYTES * job.sum_count * (1 + job.accumulation.squares)
    free = free_gpu_bytes(job.options.memory_limit, place)
    return loading + sums + group_bytes(job.size, with_paths=True) <= free


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Translate errors of an accumulation into ours."""
    try:
        yield
    except dependencies.CycleError as problem:
        raise RunError(
            f"in {quoted(name)} weights are so small beside distances that they are lost in "
            "rounding, and shortest paths close cycles; scale them to integers"
        ) from problem
    except dependencies.PathCountError as problem:
        raise RunError(
            f"{quoted(name)} has more than 1.8e308 shortest paths between two vertices, which "
            "float64 cannot count; use weights with fewer ties"
        ) from problem
    except MemoryError as problem:
        raise InputError(
            f"betweenness of {quoted(name)} does not fit in memory ({problem})"
        ) from problem


def _opened(
    job: DependencyJob, kind: np.dtype[Any], method: str, channel: Channel, sources: int
) -> DependencySolver:
    sums = job.sum_count * (1 + job.accumulation.squares)
    place, limit = local_rank(channel.rank), job.options.memory_limit
    what = f"sums of betweenness of {quoted(job.graph.name)}"
    if method == "cpu":
        threads = min(core_count(), max(sources, 1))
        by, advice = f"by {threads} threads", "allow fewer threads, by --threads or threads="
        needed = bytes_of("betweenness", job.size, threads=threads, sums=sums)
        refuse_beyond(needed, f"{what} {by}", advice)
        return CpuDependencies(job.graph, kind, job.accumulation, hops=job.hops)
    from groute_py.device.cuda.multi_source.dependencies import (
        CudaDependencies,
        CudaLevelDependencies,
    )
    from groute_py.device.cuda.multi_source.graph import CudaGraph
    from groute_py.device.cuda.multi_source.levels import LevelGraph

    countable = job.countable
    if method == "levels":
        if countable.levels is None:
            countable.levels = LevelGraph(job.graph, place)
        return CudaLevelDependencies(countable.levels, job.accumulation, sources, limit)
    free, advice = free_gpu_bytes(limit, place), "take --device cpu, or a larger GPU"
    refuse_more(betweenness_bytes(job.size, sums, kind), free, f"{what} on a GPU", advice)
    graph = CudaGraph(job.graph, kind, place, limit)
    return CudaDependencies(graph, batch_delta(countable.facts), job.accumulation)
