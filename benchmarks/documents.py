"""``python -m benchmarks --documents``: the tables of the source documents, measured here.

Each row is solved on the same graph, or on one made alike, by the document's methods and by the
one that is chosen automatically. A median of solves is taken, of distances and predecessors for one
source, and every answer is verified. All pairs of large graphs are estimated from a sample of
sources. What takes more than `MOST_CPU` elementary steps on a CPU is left out there, and methods
that run on one core are left out on a GPU.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.attempts import measure_all, numbers
from benchmarks.cases import KINDS, SkippedError
from benchmarks.document_tables import SERIAL, Run, listed, page
from benchmarks.environment import environment
from benchmarks.published import ROWS, Row
from groute_py import Graph, InputError, Result, SourceRows, VerificationError, apsp, sssp, verify
from groute_py.comm.connect import connect
from groute_py.results.reference import reference_distances

SAMPLED, WHOLLY = 64, 5000
"""All pairs of more than `WHOLLY` vertices are estimated from so many sources."""

MOST_CPU = 5e9
"""Additions of Floyd-Warshall, or sampled arcs, that one CPU core does within seconds."""

QUICK = 5000
"""Vertices of the largest graph of ``--quick``."""

QUICK_STEPS = 1e8
"""Steps of the textbook's Bellman-Ford, n·m, in ``--quick``."""

LONG_S = 2.0
"""A solve that takes longer is measured once."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """The times of a method.

    Attributes:
        seconds: of each solve; for all pairs of all sources.
        sources: solved, of as many as there are vertices; 1 for one source.
        verified: how many answers were verified.
    """

    seconds: list[float]
    sources: int
    verified: int

    def as_dict(self) -> Record:
        """Plain values for JSON."""
        return vars(self) | {"median_ms": 1000 * statistics.median(self.seconds)}


def measure_documents(
    device: str,
    names: tuple[str, ...],
    repeat: int,
    output: Path,
    commit: str | None,
    *,
    quick: bool,
) -> int:
    """Measure rows one after the other, write the numbers to a file, and print the tables.

    Args:
        device: ``cpu`` or ``cuda``.
        names: of the rows, or how they begin; all without one.
        repeat: how often to solve.
        output: the folder of the file.
        commit: see `environment`.
        quick: only small graphs.

    Returns:
        The exit code of the first row that failed, else 0.

    Raises:
        InputError: there are no such rows, or there are several ranks.
    """
    channel = connect()
    if channel.size > 1:
        raise InputError("--documents measures one rank")
    rows = [r for r in ROWS if not names or any(r.name.startswith(name) for name in names)]
    if not rows:
        raise InputError(f"no row begins so; rows are {', '.join(row.name for row in ROWS)}")
    found: list[Record] = []

    def measured(row: Row) -> Record:
        record = measure(row, device, 1 if quick else repeat, quick=quick)
        found.append({"case": row.name} | record)
        return record

    raw = numbers(output, f"documents-{device}", channel)
    about = {"device": device, "commit": commit, "repeat": 1 if quick else repeat}
    code = measure_all(channel, rows, measured, _shown, raw, about)
    run = Run([environment(device, commit) | {"records": found}])
    click.echo(f"{page([run])}\n\nhere: {run.machine}")
    click.echo(f"raw numbers: {raw.name}")
    return code


def measure(row: Row, device: str, repeat: int, *, quick: bool) -> Record:
    """The numbers of a row.

    Raises:
        SkippedError: its graph is not here, or takes too long.
        VerificationError: an answer is wrong.
    """
    graph = KINDS[row.graph.partition(":")[0]].load(row.graph)
    if quick and graph.vertex_count > QUICK:
        raise SkippedError("left out by --quick")
    if row.methods == ("floyd",) and device == "cpu" and graph.vertex_count**3 > MOST_CPU:
        raise SkippedError("takes minutes or more on one CPU core")
    methods = [m for m in row.methods if device == "cpu" or m not in SERIAL]
    if not methods:
        raise SkippedError("its methods run on a CPU core")
    ours: dict[str, Record] = {}
    slow = quick and graph.vertex_count * graph.arc_count > QUICK_STEPS
    for method in methods:
        if slow and method == "textbook-bellman-ford":
            continue
        solve = _all_pairs if row.pairs else _one_source
        ours[method] = solve(graph, method, device, repeat).as_dict()
    return {
        "document": row.document.title,
        "table": row.table,
        "graph": row.graph,
        "vertices": graph.vertex_count,
        "arcs": graph.arc_count,
        "published_ms": dict(row.published),
        "published_on": row.document.machine,
        "ours": ours,
    }


def _one_source(graph: Graph, method: str, device: str, repeat: int) -> Measured:
    """Times of distances and predecessors from vertex 0, without loading."""
    seconds: list[float] = []
    for number in range(repeat + 1):  # the first compiles
        result = sssp(graph, 0, algorithm=method, device=device)
        assert isinstance(result, Result)
        if number == 0:
            verify(graph, result)
        by_phase = result.statistics["seconds"]
        took = by_phase["solve"] + by_phase.get("predecessors", 0.0)
        if number > 0 or took > LONG_S:
            seconds.append(took)
        if took > LONG_S:
            break
    return Measured(seconds, 1, 1)


def _all_pairs(graph: Graph, method: str, device: str, repeat: int) -> Measured:
    """Times of all distances, or an estimate from some sources."""
    count = graph.vertex_count
    sampled = count > WHOLLY and method != "floyd"
    sources = np.random.default_rng(1).choice(count, SAMPLED, replace=False) if sampled else None
    apsp(graph, sources=[0], algorithm=method, device=device)  # compiles
    seconds: list[float] = []
    verified = 0
    for _ in range(repeat):
        start = time.perf_counter()
        rows = apsp(graph, sources=sources, algorithm=method, device=device)
        took = time.perf_counter() - start
        assert isinstance(rows, SourceRows)
        if not verified:
            verified = _verify(graph, rows)
        seconds.append(took * count / len(rows.sources))
        if took > LONG_S:
            break
    return Measured(seconds, count if sources is None else SAMPLED, verified)


def _verify(graph: Graph, rows: SourceRows) -> int:
    step = max(len(rows.sources) // 4, 1)
    for number in range(0, len(rows.sources), step):
        source = int(rows.sources[number])
        if not np.array_equal(rows.distances[number], reference_distances(graph, source)):
            raise VerificationError(f"the distances from {source} are wrong")
    return len(range(0, len(rows.sources), step))


def _shown(record: Record) -> str:
    published = listed(record["published_ms"])
    ours = listed({method: found["median_ms"] for method, found in record["ours"].items()})
    return f"published {published}; here {ours}"
