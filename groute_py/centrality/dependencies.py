"""Dependencies of many sources on all vertices or arcs, over all ranks.

Each rank has the whole graph and takes every k-th source, k being the number of ranks. Sums are
exact in fixed point, so they are the same at every number of ranks and threads, and after every
resumed run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.simple import SimpleGraph, refuse_zero_cycles, simple_graph
from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.cpu.dependencies import CpuDependencies
from groute_py.device.dependencies import (
    EXACT,
    Accumulation,
    CycleError,
    Dependencies,
    DependencySolver,
    PathCountError,
    square_scale,
)
from groute_py.device.registry import gpu_problem
from groute_py.device.rows import NarrowError
from groute_py.engine.options import Options
from groute_py.errors import InputError, RunError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.facts import facts_of
from groute_py.graph.size import Size
from groute_py.hierarchy.prepared import without_hierarchy
from groute_py.kernels.cpu.fixed_point import floats
from groute_py.many.apsp import Progress
from groute_py.many.precision import one_precision, row_types
from groute_py.many.reduce import slices
from groute_py.many.solve import batch_delta
from groute_py.many.sources import Vertices, vertices_in
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.store import Store
from groute_py.memory.gpus import betweenness_bytes, free_gpu_bytes
from groute_py.memory.host import bytes_of, refuse_beyond, refuse_more
from groute_py.solver.opened import NOTHING, Opened, Work
from groute_py.system.environment import local_rank


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


@dataclass(frozen=True, eq=False)
class DependencyJob:
    """What all ranks do.

    Attributes:
        simple: the graph.
        sources: int64, shape (k,).
        hops: whether every weight is 1.
        asked: what is summed.
        options: of which the device and the memory limit count.
    """

    simple: SimpleGraph
    sources: NDArray[np.int64]
    hops: bool
    asked: Accumulation
    options: Options

    @property
    def graph(self) -> Graph:
        """Without self-loops and parallel arcs."""
        return self.simple.graph

    @property
    def sum_count(self) -> int:
        """Vertices or arcs that sums are of."""
        return self.graph.arc_count if self.asked.by_arc else self.graph.vertex_count

    @property
    def sampled(self) -> bool:
        """Whether some vertices are no sources."""
        return len(self.sources) != self.graph.vertex_count


def dependency_job(
    opened: Opened,
    sources: Vertices | None,
    *,
    by_arc: bool = False,
    endpoints: bool = False,
    errors: bool = False,
) -> DependencyJob:
    """Give a graph whose shortest paths can be counted to every rank. Collective.

    Args:
        opened: the graph.
        sources: None for all vertices.
        by_arc: whether sums are those of arcs, not of vertices.
        endpoints: whether the ends of a path lie on it.
        errors: whether the squares are summed too where not all vertices are sources.

    Raises:
        InputError: no vertices, negative weights or a cycle of weight 0.
    """
    channel, _ = opened.channel, opened.supply()

    def made() -> DependencyJob:
        graph = opened.graph()
        simple, every = _countable(graph), np.arange(graph.vertex_count)
        if sources is not None:
            every = vertices_in(graph, sources).astype(np.int64, copy=False)
        refuse_repeats(every, graph)
        refuse_zero_cycles(simple.graph, every)
        squares = errors and len(every) != graph.vertex_count
        asked = Accumulation(by_arc, endpoints, squares)
        return DependencyJob(simple, every, opened.options.hops, asked, opened.options)

    return on_root(channel, made)


def refuse_repeats(sources: NDArray[np.int64], graph: Graph) -> None:
    """Raise `InputError` for a source that is there twice, since its paths would count twice."""
    found, times = np.unique(sources, return_counts=True)
    if len(found) < len(sources):
        source = quoted(graph.numbering.id_of(int(found[times.argmax()])))
        raise InputError(f"source {source} is given {times.max()} times; give it once")


def _countable(graph: Graph) -> SimpleGraph:
    """The graph whose shortest paths are counted."""
    name = quoted(graph.name)
    if graph.vertex_count == 0:
        raise InputError(f"{name} has no vertices, so there is no source")
    whole = one_precision(without_hierarchy(graph))
    if whole.arc_count and whole.weights.min() < 0:
        raise InputError(f"{name} has a negative weight, with which betweenness is not defined")
    return simple_graph(whole)


LITTLE = 1 << 24
"""Arcs and vertices of all sources that cores have done before a GPU is ready."""


class OwnSums:
    """The sums over a rank's sources, in the narrowest type that holds every distance.

    Attributes:
        label: what they are computed on.

    Args:
        job: the same on every rank.
        own: the rank's sources, shape (k,).
        channel: connects the ranks.
        progress: takes how many sources of all ranks are done, about, and of how many.
        before: how many are done already.
    """

    def __init__(
        self,
        job: DependencyJob,
        own: NDArray[np.int64],
        channel: Channel,
        progress: Progress | None,
        before: int = 0,
    ) -> None:
        self._job, self._own, self._channel, self._progress = job, own, channel, progress
        self._before, self._done, self.label = before, 0, ""
        self._attempts = iter(_attempts(job, device_of(job, channel.size)))
        self._type: np.dtype[Any] | None = None
        self._solver: DependencySolver | None = None
        self._of_solver: Dependencies | None = None
        self._of_others = list[Dependencies]()

    def advance(self, stop: int | None) -> None:
        """Take the next sources, up to so many; None for all.

        Raises:
            InputError, RunError: as for `groute_py.centrality.dependencies.accumulate`.
        """
        some = self._own[self._done : stop]
        with _translated(self._job.graph.name):
            if self._solver is None:
                self._open_next()
            while not self._added(some):
                self._open_next()
        self._done += len(some)

    @property
    def found(self) -> Dependencies:
        """The sums over all sources that were taken, in arrays of their own."""
        assert self._of_solver is not None
        total = Dependencies.of(self._job.sum_count, self._job.asked)
        for sums in (*self._of_others, self._of_solver):
            total.add(sums)
        return total

    def _added(self, some: NDArray[np.int64]) -> bool:
        """Whether the distances from some sources fit in the type; if so their sums are taken."""
        assert self._solver is not None
        try:
            for done in self._solver.add(some):
                self._report(done)
        except NarrowError:
            return False
        self._of_solver = self._solver.sums()
        return True

    def _open_next(self) -> None:
        """Go on in the next type; what there was before the sources that did not fit stays."""
        if self._of_solver is not None:
            self._of_others.append(self._of_solver)
        self._solver = self._of_solver = None  # its memory is free before more is taken
        kind, device = next(self._attempts, (None, ""))
        if kind is None:
            raise RunError(
                f"a distance in {quoted(self._job.graph.name)} does not fit in {self._type}; scale "
                "the weights down"
            )
        self._type = kind
        self._solver = _opened(self._job, kind, device, self._channel, len(self._own))
        self.label = self._solver.label

    def _report(self, done: int) -> None:
        if self._progress is not None:
            everywhere = self._before + (self._done + done) * self._channel.size
            self._progress(min(everywhere, len(self._job.sources)), len(self._job.sources))


def _attempts(job: DependencyJob, device: str) -> list[tuple[np.dtype[Any], str]]:
    """The types of distances to try, and where."""
    types = [np.dtype(np.int32)] if job.hops else row_types(facts_of(job.graph), device)
    attempts = [(kind, device) for kind in types]
    if device == "cuda":
        # a core can tell a sum that a distance misses from one that was only tried
        attempts.append((types[-1], "cpu"))
    return attempts


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Let what ends an accumulation be an error of ours."""
    try:
        yield
    except CycleError as problem:
        raise RunError(
            f"in {quoted(name)} weights are so small beside distances that they are lost in "
            "rounding, and shortest paths close cycles; scale them to integers"
        ) from problem
    except PathCountError as problem:
        raise RunError(
            f"{quoted(name)} has more than 1.8e308 shortest paths between two vertices, which "
            "float64 cannot count; use weights with fewer ties"
        ) from problem
    except MemoryError as problem:
        raise InputError(
            f"betweenness of {quoted(name)} does not fit in memory ({problem})"
        ) from problem


def device_of(job: DependencyJob, ranks: int) -> str:
    """A GPU where there is one, but what cores have done before a GPU is ready stays there."""
    if job.options.device != "auto":
        return job.options.device
    work = len(job.sources) * (job.graph.vertex_count + job.graph.arc_count)
    if gpu_problem() is not None or (ranks == 1 and work < LITTLE):
        return "cpu"
    return "cuda"


def _opened(
    job: DependencyJob, kind: np.dtype[Any], device: str, channel: Channel, sources: int
) -> DependencySolver:
    size = Size(job.graph.vertex_count, job.graph.arc_count)
    sums = job.sum_count * (1 + job.asked.squares)
    place, limit = local_rank(channel.rank), job.options.memory_limit
    what = f"sums of betweenness of {quoted(job.graph.name)}"
    if device == "cpu":
        threads = min(len(os.sched_getaffinity(0)), max(sources, 1))
        by, advice = f"by {threads} threads", "let the job have fewer cores, as by taskset"
        needed = bytes_of("betweenness", size, threads=threads, sums=sums)
        refuse_beyond(needed, f"{what} {by}", advice)
        return CpuDependencies(job.graph, kind, job.asked, hops=job.hops)
    from groute_py.device.cuda.multi_source.dependencies import CudaDependencies
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    free, advice = free_gpu_bytes(limit, place), "take --device cpu, or a larger GPU"
    refuse_more(betweenness_bytes(size, sums, kind), free, f"{what} on a GPU", advice)
    graph = CudaGraph(job.graph, kind, place, limit)
    return CudaDependencies(graph, batch_delta(facts_of(job.graph)), job.asked)
