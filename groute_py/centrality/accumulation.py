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
from groute_py.centrality.simple import SimpleGraph, refuse_zero_cycles, simple_graph
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
from groute_py.engine.agree import collective, on_root
from groute_py.errors import InputError, RunError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.facts import facts_of
from groute_py.kernels.cpu.fixed_point import floats
from groute_py.many.apsp import Progress
from groute_py.many.precision import one_precision, row_types
from groute_py.many.solve import batch_delta
from groute_py.many.sources import checked
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import available_bytes
from groute_py.system.threads import thread_count

LITTLE = 1 << 24
"""Arcs and vertices of all sources that cores have done before a GPU is ready."""


@dataclass(frozen=True, eq=False)
class DependencyJob:
    """What all ranks do.

    Attributes:
        simple: the graph.
        sources: int64, shape (k,).
        hops: whether every weight is 1.
        asked: what is summed.
        choices: where.
    """

    simple: SimpleGraph
    sources: NDArray[np.int64]
    hops: bool
    asked: Accumulation
    choices: Choices

    @property
    def graph(self) -> Graph:
        """Without self-loops and parallel arcs."""
        return self.simple.graph

    @property
    def sampled(self) -> bool:
        """Whether some vertices are no sources."""
        return len(self.sources) != self.graph.vertex_count


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


def dependency_job(
    channel: Channel,
    load: Load,
    choices: Choices,
    *,
    by_arc: bool = False,
    endpoints: bool = False,
    errors: bool = False,
) -> DependencyJob:
    """Read the graph, and give it to every rank. Collective.

    Args:
        channel: connects the ranks.
        load: gives the graph and the sources; called on rank 0.
        choices: the same on every rank, but for the device.
        by_arc: whether sums are those of arcs, not of vertices.
        endpoints: whether the ends of a path lie on it.
        errors: whether the squares are summed too where not all vertices are sources.

    Raises:
        InputError: no vertices, negative weights or a cycle of weight 0.
        SetupError: the device cannot be used.
    """

    def made() -> DependencyJob:
        graph, sources = load()
        simple = _countable(graph, choices)
        every = np.arange(graph.vertex_count) if sources is None else sources
        every = checked(every.astype(np.int64, copy=False), graph.vertex_count, graph.name)
        refuse_repeats(every, graph)
        squares = errors and len(every) != graph.vertex_count
        asked = Accumulation(by_arc, endpoints, squares)
        return DependencyJob(simple, every, not choices.weighted, asked, choices)

    on_root(channel, choices.check)
    return on_root(channel, made)


def refuse_repeats(sources: NDArray[np.int64], graph: Graph) -> None:
    """Raise `InputError` for a source that is there twice, since its paths would count twice."""
    found, times = np.unique(sources, return_counts=True)
    if len(found) < len(sources):
        source = quoted(graph.numbering.id_of(int(found[times.argmax()])))
        raise InputError(f"source {source} is given {times.max()} times; give it once")


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
        sums, label = _sums(job, own, channel, progress)
    return _gathered(channel, job, sums, label)


def _countable(graph: Graph, choices: Choices) -> SimpleGraph:
    """The graph whose shortest paths are counted."""
    name = quoted(graph.name)
    if graph.vertex_count == 0:
        raise InputError(f"{name} has no vertices, so there is no source")
    whole = one_precision(choices.applied(graph))
    if whole.arc_count and whole.weights.min() < 0:
        raise InputError(f"{name} has a negative weight, with which betweenness is not defined")
    simple = simple_graph(whole)
    refuse_zero_cycles(simple.graph)
    return simple


def _sums(
    job: DependencyJob, own: NDArray[np.int64], channel: Channel, progress: Progress | None
) -> tuple[Dependencies, str]:
    """The sums over this rank's sources, in the narrowest type that holds every distance."""
    facts, device = facts_of(job.graph), _device(job, channel.size)
    types = [np.dtype(np.int32)] if job.hops else row_types(facts, device)
    attempts = [(kind, device) for kind in types]
    if (
        device == "cuda"
    ):  # a core can tell a sum that a distance misses from one that was only tried
        attempts.append((types[-1], "cpu"))
    for kind, place in attempts:
        try:
            solver = _opened(job, kind, place, channel)
            for done in solver.add(own):
                if progress is not None:
                    progress(min(done * channel.size, len(job.sources)), len(job.sources))
            return solver.sums(), solver.label
        except NarrowError:
            continue
        except CycleError as problem:
            raise RunError(
                f"in {quoted(facts.name)} weights are so small beside distances that they are lost "
                "in rounding, and shortest paths close cycles; use float64, or integers"
            ) from problem
        except PathCountError as problem:
            raise RunError(
                f"{quoted(facts.name)} has more than 1.8e308 shortest paths between two vertices, "
                "which float64 cannot count; use weights with fewer ties"
            ) from problem
        except MemoryError as problem:
            raise InputError(
                f"betweenness of {quoted(facts.name)} does not fit in memory ({problem})"
            ) from problem
    raise RunError(
        f"a distance in {quoted(facts.name)} does not fit in {types[-1]}; scale the weights down"
    )


def _device(job: DependencyJob, ranks: int) -> str:
    """A GPU where there is one, but what cores have done before a GPU is ready stays there."""
    if job.choices.device != "auto":
        return job.choices.device
    work = len(job.sources) * (job.graph.vertex_count + job.graph.arc_count)
    if gpu_problem() is not None or (ranks == 1 and work < LITTLE):
        return "cpu"
    return "cuda"


def _opened(
    job: DependencyJob, kind: np.dtype[Any], device: str, channel: Channel
) -> DependencySolver:
    if device == "cpu":
        _refuse_memory(job)
        return CpuDependencies(job.graph, kind, job.asked, hops=job.hops)
    from groute_py.device.cuda.multi_source.dependencies import CudaDependencies
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    place, limit = local_rank(channel.rank), job.choices.memory_limit
    graph = CudaGraph(job.graph, kind, place, limit)
    return CudaDependencies(graph, batch_delta(facts_of(job.graph)), job.asked)


def _refuse_memory(job: DependencyJob) -> None:
    threads, free = min(thread_count(), len(job.sources)), available_bytes()
    needed = CpuDependencies.bytes_needed(job.graph, job.asked, threads)
    if free is not None and needed > free:
        raise InputError(
            f"betweenness of {quoted(job.graph.name)} by {threads} threads takes {needed:,} bytes, "
            f"and {free:,} bytes of memory are free"
        )


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
