"""``python -m benchmarks --centrality``: centralities, and NetworKit in the same run if installed.

    python -m benchmarks --centrality --device cuda
    python -m benchmarks --centrality --device cpu --case betweenness:NY/100
    mpirun -n 4 python -m benchmarks --centrality --device cuda --case betweenness:NY/1000

A case is ``MEASURE:GRAPH[/N][/unweighted]`` with N random sources, or all. The time is that of
`accumulate` or `reduce` from the graph in host memory to the values on rank 0, without reading the
graph and merging parallel arcs. Before, the values of two sources are verified on that device, by
`benchmarks.reference`.
"""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.cases import KINDS
from benchmarks.program import Program, timed
from benchmarks.reference import right_dependencies, right_distances
from groute_py import Graph, InputError, VerificationError
from groute_py.centrality.dependencies import accumulate, dependency_job
from groute_py.centrality.distances import WANTED, Reduced
from groute_py.comm.agree import at_root, on_root
from groute_py.comm.base import Channel, SoloChannel
from groute_py.device.summary import Wanted
from groute_py.engine.options import Options
from groute_py.many.apsp import Ends
from groute_py.many.opened import Opened, source_of
from groute_py.many.reduce import reduce
from groute_py.many.sources import sources_of

SETS = {
    "cuda": [
        "closeness:NY",
        "eccentricity:NY",
        "betweenness:NY/1000",
        "betweenness:rmat:20/1000/unweighted",
    ],
    "cpu": ["closeness:road:60x60", "betweenness:NY/100"],
}
"""The cases without ``--case``, by device."""

MEASURES = ("closeness", "harmonic", "eccentricity", "betweenness", "edge-betweenness")

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Case:
    """One case to measure.

    Attributes:
        name: its text.
        measure: one of `MEASURES`.
        graph: ``NY`` or the spec of a generated graph.
        count: the number of random sources; None for all vertices.
        weighted: whether weights are added.
    """

    name: str
    measure: str
    graph: str
    count: int | None
    weighted: bool

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.
        """
        found = re.fullmatch(r"([\w-]+):(([A-Za-z]+)[^/]*)(?:/(\d+))?(/unweighted)?", text)
        if not found or found[1] not in MEASURES or found[3] not in KINDS:
            raise InputError(f"case {text!r} is unknown; a case is MEASURE:GRAPH[/N][/unweighted]")
        count = int(found[4]) if found[4] else None
        return cls(text, found[1], found[2], count, not found[5])

    def load(self) -> tuple[Graph, Any]:
        """The graph and its sources; None for all vertices."""
        graph = KINDS[self.graph.partition(":")[0]].load(self.graph)
        if self.count is None:
            return graph, None
        return graph, sources_of(f"random:{self.count}", graph.numbering, graph.name)


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> dict[str, Any]:
    whole, some = at_root(channel, case.load) or (None, None)
    opened = _opened(channel, whole, Options(hops=not case.weighted, device=device))
    counted = case.measure.endswith("betweenness")
    run, graph, sources = (_of_paths if counted else _of_rows)(opened, some, case)
    found = run()
    on_root(channel, lambda: _verify(case, graph, sources, device))
    theirs = None
    if case.measure == "betweenness" and channel.size == 1:
        theirs = _networkit(graph, len(sources), case.weighted)
    own, others = [], []
    for _ in range(repeat):  # by turns, since other work on the machine comes and goes
        own.append(timed(channel, run, 1))
        if theirs is not None:
            others.append(timed(channel, theirs, 1))
    seconds, processors = _joined(own)
    median = statistics.median(seconds)
    record = {
        "vertices": graph.vertex_count,
        "arcs": graph.arc_count,
        "sources": len(sources),
        "on": on_root(channel, lambda: found.label),
        "seconds": seconds,
        "processor_s": processors,
        "median_s": median,
        "sources_per_s": len(sources) / median,
    }
    if others:
        walls, processors = _joined(others)
        record["networkit"] = {
            "median_s": statistics.median(walls),
            "seconds": walls,
            "processor_s": processors,
            "cores": len(os.sched_getaffinity(0)),
        }
    return record


def _joined(runs: list[tuple[list[float], list[float]]]) -> tuple[list[float], list[float]]:
    """Seconds by the clock, and of the processors, of runs that `timed` took one by one."""
    return [wall for walls, _ in runs for wall in walls], [s for _, spent in runs for s in spent]


def _opened(channel: Channel, graph: Graph | None, options: Options) -> Opened:
    return Opened(source_of(graph, options), channel, options)


def _of_paths(opened: Opened, sources: Any, case: Case) -> tuple[Callable[[], Any], Any, Any]:
    by_arc, sampled = case.measure == "edge-betweenness", case.count is not None
    job = dependency_job(opened, sources, by_arc=by_arc, errors=sampled)
    return lambda: accumulate(opened.channel, job), job.graph, job.sources


def _of_rows(opened: Opened, sources: Any, case: Case) -> tuple[Callable[[], Any], Any, Any]:
    options = replace(opened.options, predecessors=False)
    job = opened.many_sources(lambda: Ends(sources), options)

    def run() -> Reduced | None:
        found = reduce(opened.channel, job, WANTED[case.measure])
        return None if found is None else Reduced(job, *found, job.sources)

    return run, job.graph, job.sources


def _verify(case: Case, graph: Graph, sources: Any, device: str) -> None:
    """Raise `VerificationError` if the values of two sources are wrong."""
    some = sources[:2]
    if not case.measure.endswith("betweenness"):
        _verify_rows(graph, some, device)
        return
    opened = _opened(SoloChannel(), graph, Options(hops=not case.weighted, device=device))
    sums = accumulate(SoloChannel(), dependency_job(opened, some))
    assert sums is not None
    lengths = graph if case.weighted else graph.with_weights(np.ones_like(graph.weights))
    expected = sum(right_dependencies(lengths, source) for source in some.tolist())
    if not np.allclose(sums.totals, expected, rtol=TOLERANCE, atol=TOLERANCE):
        raise VerificationError(f"{case.name}: betweenness differs from that of Brandes")


def _verify_rows(graph: Graph, sources: Any, device: str) -> None:
    options = Options(device=device, predecessors=False)
    job = _opened(SoloChannel(), graph, options).many_sources(lambda: Ends(sources), options)
    found = reduce(SoloChannel(), job, Wanted())
    assert found is not None
    for row, source in enumerate(sources.tolist()):
        distances = right_distances(graph, source)
        there = distances[distances != np.iinfo(np.int64).max]
        if found[0].sums[row] != there.sum() or found[0].greatest[row] != there.max():
            raise VerificationError(f"the distances from {source} are wrong")


def _networkit(graph: Graph, count: int, weighted: bool) -> Callable[[], Any] | None:
    """NetworKit's estimate from as many sources, on all cores; None where it is not installed."""
    try:
        import networkit
    except ImportError:
        return None
    theirs = networkit_graph(graph, weighted=weighted)
    return lambda: networkit.centrality.EstimateBetweenness(theirs, count, False, True).run()


def networkit_graph(graph: Graph, *, weighted: bool) -> Any:
    """A graph of NetworKit, which is to use all cores.

    Raises:
        ImportError: it is not installed.
    """
    import networkit

    networkit.setNumberOfThreads(len(os.sched_getaffinity(0)))
    ends = graph.tails().astype(np.uint64), graph.heads.astype(np.uint64)
    arcs = (graph.weights.astype(float), ends) if weighted else ends
    return networkit.GraphFromCoo(arcs, n=graph.vertex_count, weighted=weighted, directed=True)


def _shown(record: dict[str, Any]) -> str:
    text = f"{record['median_s']:.3f} s, {record['sources_per_s']:,.0f} sources/s"
    if "networkit" in record:
        theirs = record["networkit"]
        ratio = theirs["median_s"] / record["median_s"]
        busy = statistics.median(theirs["processor_s"]) / statistics.median(record["processor_s"])
        text += f", {ratio:.1f} times as fast as NetworKit, by processor time {busy:.1f} times"
    return f"{text} ({record['on']})"


PROGRAM = Program("centrality", Case.parse, SETS, _measure, _shown)
