"""Measure one case: warm up, solve several times, verify each answer.

Times, each of the slowest rank:

solve         the graph on the device, until the distances are on the device
predecessors  from there, until the shortest-path tree is on the device
upload        the graph from the host to the device
download      the answer from the device to rank 0's host memory
call          one `sssp` of a `SourceSolver` on rank 0: all above except upload, plus the statistics
total         upload + call: the graph on the host, until the answer is on the host

A tiny graph is solved first, so that everything is compiled. Then the graph is loaded and solved
``repeat`` times (once if it is large); this measures the uploads and warms up. The measured solves
follow with the last loaded graph. The first answer must pass the certificate and match the known
digest, if there is one. All others must have the same distances bit for bit and a valid tree.
"""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Case, Shelf
from benchmarks.peers import measure_peers
from benchmarks.plan import Plan
from groute_py import Graph, Result, VerificationError, verify
from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply

LOADED_ONCE_FROM = 100_000_000
"""A graph with at least this many arcs is loaded once."""

PHASES = ("solve", "predecessors", "download")

Record = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One solve: rank 0's wall time, and the answer on rank 0."""

    call_s: float
    result: Result | None

    def seconds(self) -> dict[str, float]:
        """Seconds by phase; on rank 0 only."""
        assert self.result is not None
        return dict(self.result.statistics["seconds"])

    def as_dict(self) -> Record:
        """Plain values for JSON; on rank 0 only."""
        assert self.result is not None
        return {"call_s": self.call_s, "statistics": self.result.statistics}


@dataclass(frozen=True)
class Series:
    """All solves of a case with or without predecessors.

    Attributes:
        case: the case.
        first: the first answer of the case, on rank 0.
        loads: the solves that each followed a load.
        runs: the measured solves.
    """

    case: Case
    first: Result | None
    loads: list[Run]
    runs: list[Run]

    @property
    def answer(self) -> Result:
        """The first answer of the case; on rank 0 only."""
        assert self.first is not None
        return self.first

    @property
    def answers(self) -> list[Result]:
        """All answers of the series; on rank 0 only."""
        return [run.result for run in (*self.loads, *self.runs) if run.result is not None]

    def medians(self) -> dict[str, float]:
        """Median seconds by phase."""
        medians = {phase: self._median(self.runs, phase) for phase in PHASES}
        medians["upload"] = self._median(self.loads, "upload")
        medians["call"] = statistics.median(run.call_s for run in self.runs)
        return medians | {"total": medians["upload"] + medians["call"]}

    def _median(self, runs: list[Run], phase: str) -> float:
        return statistics.median(run.seconds().get(phase, 0.0) for run in runs)


def measure(case: Case, whole: GraphSupply, channel: Channel, plan: Plan) -> list[Record]:
    """Measure a case; collective.

    Args:
        case: its name and its source.
        whole: the graph, with the case's weights.
        channel: connects the ranks.
        plan: how to measure; the same on each rank.

    Returns:
        One record for each of ``plan.trees``, on each rank.

    Raises:
        VerificationError: an answer is wrong; raised on each rank.
    """
    source = on_root(channel, lambda: case.kind.source(whole.graph()))
    _warm_up(case, channel, plan)
    records: list[Record] = []
    first: Result | None = None
    for tree in plan.trees:
        options = plan.options(tree=tree, method=case.method)
        loads, runs = _series(whole, source, channel, plan.repeat, options)
        first = first or loads[0].result
        series = Series(case, first, loads, runs)
        records.append(on_root(channel, partial(_record, series, whole)))
        del series, loads, runs
    if case.method != "auto":
        return records

    def beside() -> Record:
        assert first is not None
        return measure_peers(whole.graph(), source, first, plan)

    peers = on_root(channel, beside)
    return [record | {"peers": peers} for record in records]


def _warm_up(case: Case, channel: Channel, plan: Plan) -> None:
    tiny = Shelf().take(replace(case, graph="road:30x30"))
    for tree in plan.trees:
        with SourceSolver(
            GraphSupply(tiny), channel, plan.options(tree=tree, method=case.method)
        ) as solver:
            solver.sssp(0)


def _series(
    whole: GraphSupply, source: int, channel: Channel, repeat: int, options: Options
) -> tuple[list[Run], list[Run]]:
    """The solves after each load, and the measured solves."""
    loads: list[Run] = []
    while True:
        with SourceSolver(whole, channel, options) as solver:
            loads.append(_timed(solver, source, channel))
            if len(loads) == repeat or solver.facts.arc_count >= LOADED_ONCE_FROM:
                return loads, [_timed(solver, source, channel) for _ in range(repeat)]
        del solver  # frees the device before the next load


def _timed(solver: SourceSolver, source: int, channel: Channel) -> Run:
    channel.gather(None)  # all ranks begin together
    start = time.perf_counter()
    result = solver.sssp(source)
    return Run(time.perf_counter() - start, result)


def _record(series: Series, whole: GraphSupply) -> Record:
    """Verify all answers and make the record of the series; on rank 0."""
    case, first, graph = series.case, series.answer, whole.graph()
    try:
        verified = _verify(series, graph)
    except VerificationError as error:
        raise VerificationError(f"{case.name}: WRONG ANSWER: {error}") from error
    return case.record() | {
        "tree": series.answers[-1].predecessors is not None,
        "vertices": graph.vertex_count,
        "arcs": graph.arc_count,
        "weights": graph.weights.dtype.name,
        "source": first.source + first.first_id,
        "reached": int(first.reached.sum()),
        "verified": verified,
        "answers_verified": len(series.answers),
        "medians": series.medians(),
        "loads": [run.as_dict() for run in series.loads],
        "runs": [run.as_dict() for run in series.runs],
    }


def _verify(series: Series, graph: Graph) -> str:
    """Verify the first answer and compare the others with it; the kind of verification."""
    first = series.answer
    if first is series.loads[0].result:  # otherwise an earlier series verified it
        verify(graph, first)
    by_digest = series.case.check_digest(first)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(partial(_check_alike, graph, first), series.answers))
    return "certificate and digest" if by_digest else "certificate"


def _check_alike(graph: Graph, first: Result, other: Result) -> None:
    """Require the verified distances; verify the tree if it is another one."""
    distances = other.distances
    if distances.dtype != first.distances.dtype or distances.tobytes() != first.distances.tobytes():
        raise VerificationError("a later run's distances differ from the first run's")
    tree, known = other.predecessors, first.predecessors
    if tree is not None and (known is None or not np.array_equal(tree, known)):
        verify(graph, other)
