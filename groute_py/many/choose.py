"""Choice of a method for many sources: the one that would be done first, by estimate."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.registry import gpu_problem
from groute_py.engine.algorithms.numbers import row_types
from groute_py.engine.memory.gpus import free_gpu_bytes
from groute_py.engine.options import Options
from groute_py.errors import InputError, SetupError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts
from groute_py.graph.hierarchy.problems import cannot
from groute_py.many.estimates import GpuRates, estimates
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import room_for

READY_S = 0.3  # seconds until a GPU has its kernels and the graph

LEAST_ROWS = 1024
"""Rows of the matrix that a GPU has to have room for, where the others come and go."""

MATRIX_SHARE = 0.85  # share of the free device memory that the matrix may take


@dataclass(frozen=True)
class Choice:
    """A method on a device, why, and the seconds that it was estimated to take."""

    algorithm: str
    device: str
    reason: str
    seconds: float = math.nan


def choose(
    options: Options,
    facts: Facts,
    count: int,
    ranks: int = 1,
    no_matrix: str | None = None,
    *,
    prepared: bool = False,
    resident: Choice | None = None,
    destination: str = "nowhere",
) -> Choice:
    """The method for ``count`` sources of a graph."""
    device = options.device
    if device == "auto":
        device = _device(options, facts, count, ranks, resident)
    problem = no_matrix or _floyd_problem(options, facts, device, ranks)
    if options.algorithm != "auto":
        if options.algorithm == "floyd" and facts.has_maxima:
            raise InputError("floyd adds weights, and the objective takes the greatest; use batch")
        if options.algorithm == "single" and device == "cpu":
            raise InputError("single is a method for GPUs; on the CPU use batch or heap")
        if options.algorithm == "floyd" and problem is not None:
            raise InputError(f"Floyd-Warshall cannot do this: {problem}")
        unlike = cannot(replace(facts, least=max(facts.least, 0)))  # potentials lift negative ones
        if options.algorithm == "sweep" and unlike is not None:
            raise InputError(f"sweep cannot do this: {unlike}")
        return Choice(options.algorithm, device, "asked for")
    gpu = own_figures(options.memory_limit, facts) if device == "cuda" else None
    trees = options.predecessors
    stays = resident.algorithm if resident is not None and resident.device == device else None
    seconds = estimates(
        *(facts, count, gpu, ranks, destination),
        predecessors=trees,
        prepared=prepared,
        resident=stays,
        cutoff=options.bound,
    )
    figures = ", ".join(f"{name} {s:.2g} s" for name, s in seconds.items())
    reason = f"estimates: {figures}" + (f" ({stays} is in place)" if stays else "")
    if problem is not None and "floyd" in seconds:
        del seconds["floyd"]
        reason += f" (floyd cannot: {problem})"
    fastest = min(seconds, key=lambda name: seconds[name])
    return Choice(fastest, device, reason, seconds[fastest])


def _device(options: Options, facts: Facts, count: int, ranks: int, resident: Choice | None) -> str:
    """Return the GPU where there is one, but the CPU for what it does before a GPU is ready."""
    problem = gpu_problem()
    if options.algorithm == "single" and problem is not None:
        raise SetupError(f"single is a method for GPUs, and none can be used: {problem}")
    if problem is not None:
        return "cpu"
    if options.algorithm == "single" or (resident is not None and resident.device == "cuda"):
        return "cuda"
    seconds = estimates(facts, count, None, cutoff=options.bound)
    on_cpu = seconds.get(options.algorithm, min(seconds.values()))
    return "cpu" if ranks == 1 and on_cpu < READY_S else "cuda"


def _floyd_problem(options: Options, facts: Facts, device: str, ranks: int) -> str | None:
    """Return why Floyd–Warshall cannot be taken, if so."""
    if options.predecessors and facts.weight_type.kind == "f":
        return "its float sums are not rounded from the source outwards, which predecessors need"
    width = row_types(facts, device)[0].itemsize
    padded = 128 * math.ceil(facts.vertex_count / 128)
    needed = padded**2 * width
    available = room_for(needed)
    host = sys.maxsize if available is None else available
    if device == "cpu":
        host = min(host, options.memory_limit or host)
        if needed <= host:
            return None
        return f"the matrix takes {needed:,} bytes, and {host:,} are free"
    gpu = gpu_bytes(options.memory_limit)
    if needed <= ranks * gpu:
        return None
    if ranks == 1 and gpu >= LEAST_ROWS * padded * width and needed - gpu <= host:
        return None
    return (
        f"the matrix takes {needed:,} bytes, and {gpu:,} are free on each GPU, {host:,} on the host"
    )


def gpu_bytes(limit: int | None) -> int:
    """Bytes that a matrix may take on the GPU of rank 0, which chooses for all ranks."""
    return int(MATRIX_SHARE * free_gpu_bytes(limit))


def own_figures(limit: int | None, facts: Facts) -> GpuRates:
    """The processors of rank 0's GPU, and its free bytes beside the graph."""
    from groute_py.device.cuda.runtime.gpu import own_gpu

    width = row_types(facts, "cuda")[0].itemsize
    graph = 8 * facts.vertex_count + 2 * width * facts.arc_count
    processors = own_gpu(local_rank(0)).attributes["MultiProcessorCount"]
    return GpuRates(int(processors), max(free_gpu_bytes(limit) - graph, 0))


SMALL = 1 << 18
"""Arcs up to which the CPU has an answer before a GPU has the graph: some ten milliseconds."""


def with_device(graph: Graph, options: Options) -> Options:
    """The options of one rank, with the device chosen by the graph where they say ``auto``.

    An answer that is to stay on a GPU is made there.
    """
    if options.device == "auto" and options.download and graph.arc_count <= SMALL:
        return replace(options, device="cpu")
    return options


def why_no_matrix(channel: Channel, options: Options) -> str | None:
    """Return why the ranks' GPUs cannot hold one matrix together, if so; collective."""
    if channel.size == 1:
        return None
    usable = options.device != "cpu" and gpu_problem() is None
    if not all(channel.gather(usable)):
        return "on several ranks it needs a GPU for each"
    from groute_py.device.cuda.peer.access import why_not
    from groute_py.device.cuda.runtime.gpu import own_gpu

    with collective(channel):
        gpu = own_gpu(local_rank(channel.rank))
    return why_not(channel, gpu.id)
