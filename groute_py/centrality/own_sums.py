"""Dependencies of a rank's sources on all vertices or arcs, on its device."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.dependency_job import DependencyJob
from groute_py.comm.base import Channel
from groute_py.device.cpu.dependencies import CpuDependencies
from groute_py.device.dependencies import (
    CycleError,
    Dependencies,
    DependencySolver,
    PathCountError,
)
from groute_py.device.registry import gpu_problem
from groute_py.device.rows import NarrowError
from groute_py.errors import InputError, RunError, quoted
from groute_py.graph.facts import facts_of
from groute_py.graph.size import Size
from groute_py.many.apsp import Progress
from groute_py.many.precision import row_types
from groute_py.many.solve import batch_delta
from groute_py.memory.gpus import betweenness_bytes, free_gpu_bytes
from groute_py.memory.host import bytes_of, refuse_beyond, refuse_more
from groute_py.system.environment import local_rank

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
            InputError, RunError: as for `groute_py.centrality.accumulation.accumulate`.
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
