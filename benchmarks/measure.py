"""One case: warm up, solve again and again, verify every answer.

What is measured, each on the slowest rank:

solve         the graph on the device, until the distances are on the device
predecessors  from there, until the shortest-path tree is on the device
upload        the graph from the host to the device
download      the answer from the device to rank 0's host memory
call          one call of `Session.solve` on rank 0: the above but upload, and the statistics
total         upload + call: the graph on the host, until the answer is on the host

A tiny graph is solved first, so that nothing is compiled later. Then the graph is loaded and solved
as often as is asked for (once if it is large): this gives the uploads, and these solves are the
warm-up. With the graph in place the solves that count follow. The first answer of all has to pass
the certificate (and have the known digest, if there is one); all others must have the same
distances, bit for bit, and a tree of their own that holds.
"""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.cases import Case, Shelf
from benchmarks.peers import measure_peers
from benchmarks.plan import Plan
from groute_py import Graph, Result, VerificationError, verify
from groute_py.comm.base import Channel
from groute_py.engine.agree import on_root
from groute_py.engine.options import Options
from groute_py.engine.session import Session
from groute_py.engine.supply.whole import Whole

LOADED_ONCE_FROM = 100_000_000
"""Arcs from which a graph is loaded once only."""

PHASES = ("solve", "predecessors", "download")

Record = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One solve: rank 0's wall time, and the answer there."""

    call_s: float
    result: Result | None

    def seconds(self) -> dict[str, float]:
        """By phase; only on rank 0."""
        assert self.result is not None
        return dict(self.result.statistics["seconds"])

    def as_dict(self) -> Record:
        """For JSON; only on rank 0."""
        assert self.result is not None
        return {"call_s": self.call_s, "statistics": self.result.statistics}


@dataclass(frozen=True)
class Series:
    """Attributes:
    case: of which it is.
    first: the case's first answer of all.
    loads: each a load and the solve after it.
    runs: the solves that count.
    """

    case: Case
    first: Result
    loads: list[Run]
    runs: list[Run]

    @property
    def answers(self) -> list[Result]:
        """All of the series; only on rank 0."""
        return [run.result for run in (*self.loads, *self.runs) if run.result is not None]

    def medians(self) -> dict[str, float]:
        """Seconds by name."""
        medians = {phase: self._median(self.runs, phase) for phase in PHASES}
        medians["upload"] = self._median(self.loads, "upload")
        medians["call"] = statistics.median(run.call_s for run in self.runs)
        return medians | {"total": medians["upload"] + medians["call"]}

    def _median(self, runs: list[Run], phase: str) -> float:
        return statistics.median(run.seconds().get(phase, 0.0) for run in runs)


def measure(case: Case, whole: Whole, channel: Channel, plan: Plan) -> list[Record]:
    """Measure a case; collective.

    Args:
        case: what it is called, and its source.
        whole: with the case's weights.
        channel: connects the ranks.
        plan: the same on every rank.

    Returns:
        On every rank, one record for each of ``plan.trees``.

    Raises:
        VerificationError: an answer is wrong; on every rank.
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
        records.append(on_root(channel, lambda s=series: _record(s, whole.graph())))
        del series, loads, runs
    if case.method != "auto":
        return records
    peers = on_root(channel, lambda: measure_peers(whole.graph(), source, first, plan))
    return [record | {"peers": peers} for record in records]


def _warm_up(case: Case, channel: Channel, plan: Plan) -> None:
    tiny = Shelf().take(replace(case, graph="road:30x30"))
    for tree in plan.trees:
        with Session(Whole(tiny), channel, plan.options(tree=tree, method=case.method)) as session:
            session.solve(0)


def _series(
    whole: Whole, source: int, channel: Channel, repeat: int, options: Options
) -> tuple[list[Run], list[Run]]:
    """The loads, each with its first solve; and the solves that count."""
    loads: list[Run] = []
    while True:
        with Session(whole, channel, options) as session:
            loads.append(_timed(session, source, channel))
            if len(loads) == repeat or session.facts.arc_count >= LOADED_ONCE_FROM:
                return loads, [_timed(session, source, channel) for _ in range(repeat)]
        del session  # it leaves the device before the next one comes


def _timed(session: Session, source: int, channel: Channel) -> Run:
    channel.gather(None)  # no rank waits within its solve for one that has not begun
    start = time.perf_counter()
    result = session.solve(source)
    return Run(time.perf_counter() - start, result)


def _record(series: Series, graph: Graph) -> Record:
    """Verify all answers; what is known of the series. On rank 0."""
    case, first = series.case, series.first
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
    """How the first answer was verified; the others are compared with it."""
    if series.first is series.loads[0].result:  # else the series before has done it
        verify(graph, series.first)
    by_digest = series.case.check_digest(series.first)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda other: _check_alike(graph, series.first, other), series.answers))
    return "certificate and digest" if by_digest else "certificate"


def _check_alike(graph: Graph, first: Result, other: Result) -> None:
    """The distances are the verified ones; a tree may be another one, and is verified if it is."""
    distances = other.distances
    if distances.dtype != first.distances.dtype or distances.tobytes() != first.distances.tobytes():
        raise VerificationError("a later run's distances differ from the first run's")
    if not np.array_equal(other.predecessors, first.predecessors):
        verify(graph, other)
