"""Dependencies of a rank's sources on all vertices or arcs, on its device."""

from __future__ import annotations

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
from groute_py.many.apsp import Progress
from groute_py.many.precision import row_types
from groute_py.many.solve import batch_delta
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import available_bytes
from groute_py.system.threads import thread_count

LITTLE = 1 << 24
"""Arcs and vertices of all sources that cores have done before a GPU is ready."""


def own_sums(
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
