"""Estimates of the time of each method for many sources of a graph; `choose` takes the shortest.

Every figure was fitted to measurements on road grids, R-MAT and random graphs of 10⁴ to 10⁸
vertices on one H100, whose raw numbers are in ``benchmarks/results/many-costs-h100.jsonl``. On
these graphs the estimate of the method that is chosen is within a factor of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from groute_py.device.cuda.hierarchy.memory_plan import contraction_bytes
from groute_py.device.rows import MOST_LEVELS
from groute_py.engine.algorithms.numbers import row_types
from groute_py.graph.facts import Facts
from groute_py.graph.hierarchy.problems import why_not
from groute_py.kernels.source import MAX_PEERS
from groute_py.system.threads import core_count

FLOYD_RATE = {
    ("cuda", "int32"): 1.3e13,
    ("cuda", "float32"): 0.9e13,
    ("cuda", "int64"): 2.4e12,
    ("cuda", "float64"): 2.2e12,
    ("cpu", "int64"): 1.0e9,
    ("cpu", "float32"): 4.0e9,
    ("cpu", "float64"): 2.0e9,
}
"""Sums and minima a second; on the CPU of each core."""

CPU_ARC_S = {"batch": 2.0e-8, "heap": 1.0e-8}
"""Seconds for each source and each arc or vertex, of one core."""

CONTRACT_S, CPU_CONTRACT_S = 6e-9, 4e-6
"""Seconds to contract a graph for each vertex and arc, by a GPU and by one core."""

PACK_BYTES = 80
"""Bytes of GPU memory of the fewest sources at once for each vertex and byte of a distance, with
their rows."""

CORE_S = 0.15
"""Seconds that a GPU takes for the core, and for what does not depend on the graph."""

SWEEP_S, CPU_SWEEP_S = 4e-12, 2e-9
"""Seconds of a sweep for each vertex and arc, of several at once; on a GPU and of one core."""

CLIMB_S, CPU_CLIMB_S = 5e-6, 1e-4
"""Seconds of a source's search up to the core and through it."""

CPU_SETTLE_S = 1.5e-7  # seconds for each vertex that a heap of 2¹⁶ on a core settles

DELIVERY_RATE = {"nowhere": math.inf, "sums": math.inf, "memory": 1.5e9, "file": 0.8e9}
"""Bytes a second at which complete rows get to where they are wanted; ``sums`` need no rows."""

LEVEL_S = 6e-13  # seconds for each source and each arc or vertex of a search level by level

LANE_S, LANE_SOURCES, LANES = 3e-4, 132, 8
"""Seconds to begin a lane of a batch, about how many sources it has, and the most lanes."""

OPEN_S, UPLOAD_S = 3.5e-3, 5e-10
"""Seconds until a graph is on the GPU, and for each arc; twice as many where `single` loads it."""

ORDER_VERTEX_S, ORDER_ARC_S = 2.2e-6, 0.85e-6
"""Seconds of an order from separators for each vertex and each arc, by one core of an AMD EPYC with
METIS 5.2.1, and of what follows from it. The least of two runs: 0.75 s for road:500x500, 1.3 s for
New York's roads (734,000 arcs), 4.0 s for road:1000x1000, 12.4 s for road:1500x1500."""

LABEL_S = {
    "cuda": {"pairs": 5e-9, "matrix": 2e-10, "rows": 1.7e-11},
    "cpu": {"pairs": 6e-7, "matrix": 6e-7, "rows": 1e-8},
}
"""Seconds by labels for each pair, with its transfer, and each entry of a matrix; of whole rows,
by sweeps, for each vertex and arc. On the CPU of each core."""

LABELS_CALL_S, FILL_S, PAIR_CLIMB_S = 3e-4, 1.2e-6, 5e-5
"""Seconds of a call on a GPU, of filling labels on a core for each vertex, and of a pair without
them."""

ROAD_ANCESTORS, ROAD_BYTES = 2.6, 480
"""Ancestors of a vertex of roads, about, for each on the side of a cube of them; and bytes of its
triangles, arcs and tree: those of New York. Larger networks have up to a third fewer."""

PATH_S = 4e-7
"""Seconds of a core to unpack a path, for each vertex on the side of a square of them."""

MESH_DEGREE = 4.0
"""Below so many arcs a vertex a graph is taken for a mesh, whose depth is the root of its size."""


def may_have_few_levels(facts: Facts) -> bool:
    """Return whether each arc counts 1, and distances are perhaps below `MOST_LEVELS`."""
    is_mesh = facts.mean_degree < MESH_DEGREE and facts.vertex_count > MOST_LEVELS**2
    is_unit = facts.least == facts.greatest == 1 and not facts.has_maxima
    return is_unit and facts.arc_count < 1 << 31 and not is_mesh


@dataclass(frozen=True)
class GpuRates:
    """A GPU's multiprocessors, and its free bytes beside the graph."""

    processors: int
    free_bytes: int


def estimates(
    facts: Facts,
    count: int,
    gpu: GpuRates | None,
    ranks: int = 1,
    destination: str = "nowhere",
    *,
    predecessors: bool = False,
    prepared: bool = False,
    resident: str | None = None,
    cutoff: float | None = None,
) -> dict[str, float]:
    """Seconds by method, on all ranks together; searches look at what is within the cutoff."""
    share, near = math.ceil(count / ranks), _within(facts, cutoff)
    device = "cpu" if gpu is None else "cuda"
    if gpu is None:
        solving = _on_cpu(near, share)
    else:
        solving = {"heap": _heap(facts, share, gpu), "batch": _batch(near, share, gpu)}
        solving["single"] = _single(near, share)
        if destination == "sums" and may_have_few_levels(facts):
            solving["batch"] = OPEN_S + (UPLOAD_S + share * LEVEL_S) * facts.arc_count
    is_open = resident == "sweep"
    if why_not(facts) is None and (
        gpu is None or is_open or _sweeps_fit(facts, gpu, prepared=prepared)
    ):
        solving["sweep"] = _sweep(facts, share, device, prepared=prepared)
    if resident is not None:
        opened = facts if is_open else near
        solving[resident] -= _opening(resident, opened, device, prepared=prepared)
    if not facts.has_maxima:  # it adds weights
        solving["floyd"] = _floyd(facts, device) / ranks
    entry_bytes = (4 if facts.weight_type.name == "float32" else 8) + 4 * predecessors
    delivery = count * facts.vertex_count * entry_bytes / DELIVERY_RATE[destination]
    return {name: seconds + delivery for name, seconds in solving.items()}


def order_seconds(vertices: int, arcs: int) -> float:
    """Estimate an order from separators, and what follows from it before there are weights."""
    return ORDER_VERTEX_S * vertices + ORDER_ARC_S * arcs


def label_bytes(vertices: int, arcs: int, gpus: int) -> int:
    """Estimate labels of 32 bits of roads in shares on GPUs: bytes on each, triangles included."""
    ancestors = ROAD_ANCESTORS * vertices ** (1 / 3) / min(gpus, MAX_PEERS)
    return int(vertices * (8 * ancestors + ROAD_BYTES)) + 20 * arcs


def label_seconds(facts: Facts, device: str, kind: str, count: int, ranks: int = 1) -> float:
    """Estimate so many ``pairs``, with ``paths``, entries of a ``matrix`` or ``rows``.

    There is an order already.
    """
    if kind == "paths":
        unpacking = PATH_S * math.sqrt(facts.vertex_count) * count / ranks / core_count()
        return unpacking + label_seconds(facts, device, "pairs", count, ranks)
    size = facts.vertex_count + facts.arc_count if kind == "rows" else 1
    seconds = LABEL_S[device][kind] * size * count / ranks
    if device == "cuda":
        return LABELS_CALL_S + seconds
    if kind != "rows":
        climbing = PAIR_CLIMB_S * count / ranks
        seconds = min(climbing, FILL_S * facts.vertex_count + seconds)
    return seconds / core_count()


def _within(facts: Facts, cutoff: float | None) -> Facts:
    """Estimate the facts of what lies within a cutoff of a source: of a mesh, a square of it."""
    is_mesh = facts.mean_degree < MESH_DEGREE and facts.least >= 0 < facts.mean
    if cutoff is None or not is_mesh:
        return facts
    hops = min(cutoff / facts.mean, facts.vertex_count)
    part = min(2 * hops**2 / facts.vertex_count, 1.0)
    vertices, arcs = (int(part * n) for n in (facts.vertex_count, facts.arc_count))
    return replace(facts, vertex_count=max(vertices, 1), arc_count=arcs)


def _floyd(facts: Facts, device: str) -> float:
    padded = 128 * math.ceil(facts.vertex_count / 128)
    distance = row_types(facts, device)[0].name
    cores = 1 if device == "cuda" else core_count()
    return float(padded**3 / FLOYD_RATE[device, distance] / cores)


def _sweeps_fit(facts: Facts, gpu: GpuRates, *, prepared: bool) -> bool:
    """Return whether 32 sources at once have room, and what contracts the graph before."""
    width = row_types(facts, "cuda")[0].itemsize
    contracting = 0 if prepared else contraction_bytes(facts.arc_count)
    return max(PACK_BYTES * width * facts.vertex_count, contracting) <= gpu.free_bytes


def _opening(method: str, facts: Facts, device: str, *, prepared: bool) -> float:
    """Estimate until a method has its graph on the device; for sweeps each rank contracts it."""
    size = facts.vertex_count + facts.arc_count
    contracts = method == "sweep" and not prepared
    if device == "cpu":
        return CPU_CONTRACT_S * size * contracts / core_count()
    core = CORE_S if method == "sweep" else 0.0
    return OPEN_S + UPLOAD_S * facts.arc_count + core + CONTRACT_S * size * contracts


def _sweep(facts: Facts, count: int, device: str, *, prepared: bool) -> float:
    size = facts.vertex_count + facts.arc_count
    opening = _opening("sweep", facts, device, prepared=prepared)
    if device == "cuda":
        return opening + count * (CLIMB_S + SWEEP_S * size)
    return opening + count * (CPU_CLIMB_S + CPU_SWEEP_S * size) / core_count()


def _on_cpu(facts: Facts, count: int) -> dict[str, float]:
    n, m, cores = facts.vertex_count, facts.arc_count, core_count()
    settled = n * math.log2(max(n, 2)) / 16 * CPU_SETTLE_S
    return {
        "heap": count * (settled + m * CPU_ARC_S["heap"]) / cores,
        "batch": count * (n + m) * CPU_ARC_S["batch"] / cores,
    }


def _batch(facts: Facts, count: int, gpu: GpuRates) -> float:
    """Estimate `batch`: a block takes as long as its chain of accesses; many, as all bytes."""
    n, m = facts.vertex_count, facts.arc_count
    width = row_types(facts, "cuda")[0].itemsize
    waves = _waves(count, 2 * gpu.processors, n * (8.25 + width), gpu)
    chain = 4e-4 + 1.2e-8 * n * (n / 1e6) ** 0.12 + 1.9e-9 * m
    apiece = 4.2e-11 * (n / 1e6) ** 0.3 * (4 * n + m)
    lanes = min(math.ceil(count / LANE_SOURCES), LANES)
    return OPEN_S + UPLOAD_S * m + LANE_S * lanes + math.hypot(waves * chain, count * apiece)


def _heap(facts: Facts, count: int, gpu: GpuRates) -> float:
    """Estimate `heap`: a warp settles one vertex after the other."""
    n, m = facts.vertex_count, facts.arc_count
    width = row_types(facts, "cuda")[0].itemsize
    waves = _waves(count, 96 * gpu.processors, n * 5 * width, gpu)
    degree = m / n
    chain = 1.1e-6 * n * (1 + degree / 24) * (n / 1e5) ** 0.15
    apiece = n * math.log2(max(n, 2)) / 16 * (3.5e-10 + 4.2e-11 * degree)
    return OPEN_S + UPLOAD_S * m + math.hypot(waves * chain, count * apiece)


def _single(facts: Facts, count: int) -> float:
    """Estimate `single`: all of the GPU goes down the levels of one source after the other."""
    n, m = facts.vertex_count, facts.arc_count
    levels = 1.6e-6 * math.sqrt(n) if m < MESH_DEGREE * n else 0.0
    return 0.02 + 2 * UPLOAD_S * m + count * (9e-4 + levels + 4.5e-10 * n + 6e-12 * m)


def _waves(count: int, most: int, each_bytes: float, gpu: GpuRates) -> int:
    """Return how often the GPU is filled with as many sources as fit at once."""
    fitting = max(min(most, int(gpu.free_bytes / each_bytes)), 1)
    return math.ceil(count / fitting)
