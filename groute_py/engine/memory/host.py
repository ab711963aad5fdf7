"""Host memory that jobs take beside the graph, at most, and the refusal of more than is free."""

from __future__ import annotations

import re
from typing import NamedTuple

from groute_py.device.cpu.memory_plan import PATHS_BYTES, SIDE_BYTES, SUM_BYTES
from groute_py.errors import InputError, quote
from groute_py.graph.facts import Size
from groute_py.system.memory_limits import room_for
from groute_py.system.threads import core_count

COUNTED = {"betweenness": False, "edge-betweenness": True}
"""The measures of all shortest paths; whether they have a value for each arc."""

OF_ROWS = ("closeness", "harmonic", "eccentricity", "diameter", "radius", "mean")

FORMS = "matrix:KxT, nearest[:K], isochrone[:K], route[:K] or centrality:MEASURE[:K]"

COUNT = r"([1-9]\d{0,17})"

ROOT_BYTES = 8
"""Bytes of a copy of the graph with a root, for each vertex and each arc; more with 64-bit
weights."""

CORE_ARC_BYTES = 12
"""For each arc, converted for the kernels of cores."""


class Bytes(NamedTuple):
    """Bytes, by what they grow with."""

    vertex: int = 0
    arc: int = 0
    source: int = 0  # or facility, pair, entry of a matrix, rank
    row_vertex: int = 0  # each vertex of each source
    sum: int = 0  # of dependencies
    thread_vertex: int = 0  # of each thread
    thread_sum: int = 0


JOBS = {
    "matrix": Bytes(source=8),
    # a distance, a facility, the next vertex and the place in a queue
    "nearest": Bytes(vertex=32 + ROOT_BYTES, arc=ROOT_BYTES),
    "nearest by sweep": Bytes(vertex=24),
    # what is left of the rows, the answer, and what it takes to make this
    "k nearest": Bytes(row_vertex=(8 + 4 + 4) + 3 * 8 + (4 + 1)),
    # a distance, and the number and distance of a vertex within reach
    "isochrone": Bytes(vertex=8 + 16 + ROOT_BYTES, arc=ROOT_BYTES),
    "isochrone without a reach": Bytes(vertex=8 + ROOT_BYTES, arc=ROOT_BYTES),
    "isochrones": Bytes(vertex=8, row_vertex=16),
    # arcs turned round, and weights of the others; objects of a pair with a source of its own
    "route": Bytes(vertex=8, arc=20, source=2500, thread_vertex=2 * SIDE_BYTES),
    # what the paths of a pair are found in, arcs in both directions, and objects of each path
    "k routes": Bytes(arc=24, source=240, thread_vertex=24),
    "alternatives": Bytes(arc=24, source=240, thread_vertex=48),
    "one-sided search": Bytes(vertex=SIDE_BYTES + 1),
    "two-sided search": Bytes(vertex=2 * SIDE_BYTES),
    # while parallel arcs are merged; free again when sources are solved for
    "simple graph": Bytes(arc=80),
    "betweenness": Bytes(
        arc=CORE_ARC_BYTES, sum=5 * SUM_BYTES, thread_vertex=PATHS_BYTES, thread_sum=SUM_BYTES
    ),
    "sums of ranks": Bytes(sum=SUM_BYTES),
    "rows by heap": Bytes(arc=CORE_ARC_BYTES, source=40, thread_vertex=24),
    "rows by batch": Bytes(arc=CORE_ARC_BYTES, source=40, thread_vertex=40),
    "rows by sweep": Bytes(arc=CORE_ARC_BYTES + 24, source=40, thread_vertex=136),
    "rows by floyd": Bytes(arc=CORE_ARC_BYTES, source=40),  # beside the matrix
    "contraction": Bytes(arc=75, thread_vertex=12),
    "contraction of 64 bits": Bytes(arc=100, thread_vertex=28),
}
"""The bytes of rank 0, by job or part of one. Measured on roads where arrays do not say them."""


def bytes_of(what: str, size: Size, sources: int = 1, *, threads: int = 1, sums: int = 0) -> int:
    """Return the most bytes of host memory that a job of `JOBS` takes on a rank.

    >>> bytes_of("k nearest", Size(5, 9), 2), bytes_of("isochrone", Size(5, 9))
    (450, 232)
    """
    vertex, arc, source, row_vertex, of_sum, thread_vertex, thread_sum = JOBS[what]
    shared = vertex * size.vertices + arc * size.arcs + source * sources + of_sum * sums
    rows = row_vertex * size.vertices * sources
    return shared + rows + threads * (thread_vertex * size.vertices + thread_sum * sums)


def sums_of(measure: str, size: Size, sources: int) -> int:
    """Count the sums of a measure of `COUNTED`, and as many squares if not all are sources."""
    return (size.arcs if COUNTED[measure] else size.vertices) * (1 + (sources < size.vertices))


def job_bytes(job: str, size: Size) -> int:
    """Return the most bytes of host memory that a job of `FORMS` takes on rank 0.

    A matrix that streams to a file takes less. `InputError` for an unknown job.

    >>> job_bytes("matrix:10x20", Size(5, 9)), job_bytes("nearest:1", Size(5, 9))
    (1600, 272)
    """
    threads = core_count()
    if match := re.fullmatch(f"matrix:{COUNT}x{COUNT}", job):
        return bytes_of("matrix", size, int(match[1]) * int(match[2]))
    if centrality := centrality_of(job, size):
        measure, sources = centrality
        threads = min(threads, sources)
        if measure not in COUNTED:
            return bytes_of("rows by sweep", size, sources, threads=threads)
        sums = sums_of(measure, size, sources)
        solving = bytes_of("betweenness", size, threads=threads, sums=sums)
        return max(solving, bytes_of("simple graph", size))
    match = re.fullmatch(f"(nearest|isochrone|route)(?::{COUNT})?", job)
    if match is None:
        raise InputError(f"job {quote(job)} is unknown; a job is {FORMS}")
    name, count = match[1], int(match[2] or 0)
    if name == "route":
        return bytes_of(name, size, count, threads=threads)
    several = {"nearest": "k nearest", "isochrone": "isochrones"}[name]
    is_one = count == 0 or (name == "nearest" and count == 1)
    return bytes_of(name, size) if is_one else bytes_of(several, size, count)


def centrality_of(job: str, size: Size) -> tuple[str, int] | None:
    """The measure and the number of sources of a job; None if it is another."""
    measures = "|".join((*COUNTED, *OF_ROWS))
    match = re.fullmatch(rf"centrality:({measures})(?::(\d{{1,18}}))?", job)
    return None if match is None else (match[1], min(int(match[2] or size.vertices), size.vertices))


def refuse_beyond(needed: int, what: str, advice: str) -> None:
    """Raise `InputError` if so many bytes of host memory are not free; ``what`` is a plural."""
    refuse_more(needed, room_for(needed), what, advice)


def refuse_more(needed: int, free: int | None, what: str, advice: str) -> None:
    """Raise `InputError` if more bytes are needed than are free; None if that is not known."""
    if free is not None and needed > free:
        raise InputError(
            f"{what} take {needed:,} bytes, and {free:,} bytes of memory are free; {advice}"
        )
