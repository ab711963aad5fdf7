"""``python -m benchmarks --many``: all pairs and many sources.

    python -m benchmarks --many --device cuda
    python -m benchmarks --many --device cuda --case floyd:random:40000,320000/paths
    mpirun -n 4 python -m benchmarks --many --device cuda --case batch:NY

A case is ``METHOD:GRAPH[/N][/paths][/sums|/among][/half]``. The sources are N random vertices, or,
without N, the 532 sources of the DIMACS problem file for NY and all vertices of other graphs. With
``sums`` only the sum of each row leaves the device, with ``among`` only the distances to the
sources. ``half`` limits the matrix on the GPU to half of its size.

The time starts with the graph on the device and ends with the last complete row in host memory
(page-locked for a GPU), on the slowest rank. For a matrix it includes filling, closing and reading.
The first solve is a warm-up. Some of its rows (all, up to 2,000) are verified: distances as
`benchmarks.reference` says, trees by the certificate.

If a case fails, the others still run, and the command ends with the exit code of the first failure.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.cases import KINDS, data_file
from benchmarks.program import Program, timed
from benchmarks.reference import SERIAL_UP_TO, right_distances
from groute_py import Graph, InputError, Result, VerificationError, verify
from groute_py.comm.agree import at_root, collective
from groute_py.comm.base import Channel
from groute_py.device.rows import NarrowError, RowBlock
from groute_py.device.summary import Wanted
from groute_py.engine.algorithms.numbers import distance_types
from groute_py.engine.option_values import METHODS
from groute_py.engine.options import Options
from groute_py.io.pairs import read_sources
from groute_py.many.apsp import Ends, ManySources
from groute_py.many.opened import Opened, source_of
from groute_py.many.solve import Solving
from groute_py.many.sources import sources_of
from groute_py.results.distances import public_distances

SETS = {
    "cuda": [
        "floyd:random:5760,46080",
        "floyd:random:40000,320000",
        "floyd:random:40000,320000/paths",
        "floyd:random:40000,320000/half",
        "batch:NY",
        "batch:NY/8192",
        "batch:random:4096,24576",
        "heap:random:4096,24576",
        "batch:random:65536,393216",
        "heap:random:65536,393216",
        "sweep:NY/8192/sums",
        "sweep:road:4900x4900/512/sums",
        "sweep:road:4900x4900/10000/among",
    ],
    "cpu": ["floyd:random:1000,8000", "heap:random:4096,24576", "heap:random:1000,8000/paths"],
}
"""The cases without ``--case``, by device."""

NY_SOURCES = "dimacs9/USA-road-d.NY.ss"

WHOLLY, SOME, FEW = 2000, 16, 4
"""All rows of up to `WHOLLY` are verified, about `SOME` of more, and `FEW` of a large graph."""


@dataclass(frozen=True)
class Case:
    """One case to measure.

    Attributes:
        name: its text.
        method: one of `METHODS`.
        graph: ``NY`` or the spec of a generated graph.
        count: the number of random sources; None for the graph's own.
        paths: whether to find predecessors.
        sums: whether rows shrink to their sums.
        among: whether only the sources' columns are kept.
        half: whether the GPU may hold only half of the matrix.
    """

    name: str
    method: str
    graph: str
    count: int | None
    paths: bool
    sums: bool
    among: bool
    half: bool

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.
        """
        found = re.fullmatch(
            r"(\w+):(([A-Za-z]+)[^/]*)(?:/(\d+))?(/paths)?(/sums)?(/among)?(/half)?", text
        )
        if not found or found[1] not in METHODS or found[3] not in KINDS:
            raise InputError(
                f"case {text!r} is unknown; a case is METHOD:GRAPH[/N][/paths][/sums|/among][/half]"
            )
        count = int(found[4]) if found[4] else None
        return cls(text, found[1], found[2], count, *map(bool, found.groups()[4:]))

    def load(self) -> tuple[Graph, Any]:
        """The graph and its sources; None for all vertices."""
        graph = KINDS[self.graph.partition(":")[0]].load(self.graph)
        if self.count is not None:
            chosen = sources_of(f"random:{self.count}", graph.numbering, graph.name)
            return graph, chosen
        if self.graph != "NY":
            return graph, None
        return graph, read_sources(data_file(NY_SOURCES)) - 1


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> dict[str, Any]:
    """Measure a case on all ranks; collective.

    Raises:
        SkippedError: there is nothing to measure.
        VerificationError: a row is wrong.
        GrouteError: it cannot be solved.
    """
    graph, sources = at_root(channel, case.load) or (None, None)
    options = Options(algorithm=case.method, device=device, predecessors=case.paths)
    opened = Opened(source_of(graph, options), channel, options)
    job = opened.many_sources(lambda: Ends(sources), options, destination="memory")
    types = distance_types(job.facts)
    kind = types[0] if device == "cuda" else types[-1]
    limit = _limit(case, job, kind)
    options = replace(options, memory_limit=limit)
    positions = np.arange(len(job.sources))
    own = job.sources[job.part(positions, channel.rank, channel.size)]
    solving = Solving(job.graph, None, options, job.choice, channel)
    start = time.perf_counter()
    with collective(channel), _fitting():
        solver = solving.opened(kind)
    opened_s = time.perf_counter() - start
    targets = job.sources if case.among else None
    with collective(channel), _fitting():
        verified = _verify(job, solver.blocks(own, targets), own, targets)

    def run() -> None:
        if case.sums:
            rows = sum(summary.count for summary in solver.summaries(own, Wanted()))
        else:
            rows = sum(len(block.distances) for block in solver.blocks(own, targets))
        assert rows == len(own)

    seconds, _ = timed(channel, run, repeat)
    median = statistics.median(seconds)
    record = {
        "vertices": job.graph.vertex_count,
        "arcs": job.graph.arc_count,
        "sources": len(job.sources),
        "distances": kind.name,
        "on": solver.label,
        "rows_verified": sum(channel.gather(verified)),
        "opened_s": opened_s,
        "seconds": seconds,
        "median_s": median,
        "sources_per_s": len(job.sources) / median,
    }
    if case.method == "floyd":
        record["add_min_per_s"] = job.graph.vertex_count**3 / median
    return record


def _limit(case: Case, job: ManySources, kind: np.dtype[Any]) -> int | None:
    return job.graph.vertex_count**2 * kind.itemsize // 2 if case.half else None


@contextmanager
def _fitting() -> Iterator[None]:
    """Run the block; raise `InputError` if memory or the distance type is too small."""
    try:
        yield
    except MemoryError as problem:
        raise InputError(f"does not fit in memory: {problem}") from problem
    except NarrowError as problem:
        raise InputError("a distance does not fit in the type that is measured") from problem


def _verify(job: ManySources, blocks: Any, own: Any, targets: Any) -> int:
    """Take all rows and verify some; the number of verified rows."""
    is_large = job.graph.arc_count > SERIAL_UP_TO
    is_whole = len(own) <= WHOLLY and not is_large
    step = 1 if is_whole else max(len(own) // (FEW if is_large else SOME), 1)
    verified = 0
    for block in blocks:
        for row in range(len(block.distances)):
            if (block.first + row) % step == 0:
                _check(job.graph, int(own[block.first + row]), block, row, targets)
                verified += 1
    return verified


def _check(graph: Graph, source: int, block: RowBlock, row: int, targets: Any) -> None:
    distances = public_distances(block.distances[row].copy())
    right = right_distances(graph, source)
    if not np.array_equal(distances, right if targets is None else right[targets]):
        raise VerificationError(f"the distances from {source} are wrong")
    if block.predecessors is not None:
        verify(graph, Result(source, distances, block.predecessors[row].astype(np.int64)))


def _shown(record: dict[str, Any]) -> str:
    return (
        f"{1e3 * record['median_s']:.1f} ms, "
        f"{record['sources_per_s']:,.0f} sources/s, {record['rows_verified']} rows verified "
        f"({record['on']})"
    )


PROGRAM = Program("many", Case.parse, SETS, _measure, _shown)
