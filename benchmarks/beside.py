"""``python -m benchmarks --beside``: jobs on an open solver, and other programs in the same run.

    python -m benchmarks --beside --device cuda
    python -m benchmarks --beside --device cpu --case pairs:NY/200 --case nearest:NY/100/k5

A case is ``JOB:GRAPH/N[/kK][/unweighted]``, on one rank. The graph is opened by ``groute_py.open``
with ``prepare``, and the time is that of a public call to the complete answer in host memory:

* ``pairs``: N random pairs; ``matrix``: N random sources by N random targets.
* ``nearest``: the nearest of N random facilities, or the K nearest, for each vertex.
* ``within``: rows from N sources, with a cutoff that `WITHIN` of the vertices of a tree are within;
  ``near``: the same by a call of `sssp` for each; ``isochrones``: by one call of `isochrone`.
* ``isochrone``: from one source with N limits, the last of which `WIDE` of the vertices are within.
* ``rows``: from N sources to all vertices; ``tree``: distances and predecessors, a call for each.
* ``closeness``, ``betweenness``: of, or from, N random sources.

``before_s`` are those of calls before the timed ones: in one of them a solver may find an order
from separators. ``phases`` are the seconds of one more call by what it did, and one phase may lie
within another. Of trees on a GPU ``held_s`` and ``held_solve_s`` are the seconds of a call that
leaves its answer there, and of its solve.

``peers`` has for each program of `benchmarks.job_peers` its seconds, its cores, and ``part``: the
rows of our answer that it had time for; or why it was skipped. Our answers are equal to theirs, and
to those of `benchmarks.reference` from one source: betweenness to its part of the sums.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import groute_py
from benchmarks.attempts import Record
from benchmarks.cases import KINDS
from benchmarks.comparison import check_same, comparable, peer_record, seconds_of, shown_peers
from benchmarks.job_peers import CORES, JOB_PEERS, Held, Question, held_graph
from benchmarks.program import Program, phases, timed
from benchmarks.reference import right_closeness, right_dependencies, right_distances
from groute_py import UNREACHED, Graph, InputError, Solver
from groute_py.comm.base import Channel, SoloChannel

SETS = {
    "cuda": [
        "pairs:NY/10000",
        "within:NY/100",
        "near:NY/100",
        "isochrones:NY/100",
        "nearest:NY/100",
        "nearest:NY/100/k5",
        "isochrone:NY/2",
        "rows:NY/64",
        "matrix:NY/1000",
        "matrix:NY/10000",
        "tree:NY/1",
        "betweenness:NY/20",
        "nearest:road:4900x4900/1000",
        "isochrone:road:4900x4900/3",
        "matrix:road:4900x4900/10000",
        "tree:road:4900x4900/1",
        "closeness:road:4900x4900/4096",
        "betweenness:rmat:20/200/unweighted",
        "betweenness:rmat:20/1000/unweighted",
        "closeness:rmat:20/200/unweighted",
    ],
    "cpu": [
        "pairs:road:512x512/200",
        "nearest:road:512x512/100",
        "within:road:512x512/100",
        "rows:road:512x512/64",
        "matrix:road:512x512/1000",
    ],
}
"""The cases without ``--case``, by device."""

WITHIN, WIDE = 0.01, 0.5
"""Shares of the vertices of a tree."""

SEED = 7
"""Seed of what is drawn."""

CALLS_BEFORE = 3
"""Calls before those that are timed."""


@dataclass(frozen=True)
class Case:
    """One case to measure.

    Attributes:
        name: its text.
        job: one of `JOBS`.
        graph: ``NY`` or the spec of a generated graph.
        count: N.
        k: facilities of each vertex.
        weighted: whether weights are added.
    """

    name: str
    job: str
    graph: str
    count: int
    k: int
    weighted: bool

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.
        """
        words = re.fullmatch(r"(\w+):(([A-Za-z]+)[^/]*)/(\d+)(?:/k(\d+))?(/unweighted)?", text)
        if not words or words[1] not in JOBS or words[3] not in KINDS or not int(words[4]):
            raise InputError(f"case {text!r} is unknown; a case is JOB:GRAPH/N[/kK][/unweighted]")
        return cls(text, words[1], words[2], int(words[4]), int(words[5] or 1), not words[6])


class Job(NamedTuple):
    """A job of this project.

    Attributes:
        run: the public calls, on a solver.
        answer: of what they returned: a row for each source, pair, or vertex; distances are
            float64, infinite where unreached.
        right: the first rows of that from a row of right distances from the first source.
        options: of `groute_py.open`, beside those that all have.
    """

    run: Callable[[Solver, Question], Any]
    answer: Callable[[Any, Question], NDArray[Any]]
    right: Callable[[NDArray[Any], Question], Any] | None
    options: Callable[[Question], Record] = lambda asked: {"predecessors": False}


def _distances(answer: Any, asked: Question) -> NDArray[Any]:
    return comparable(answer.distances)


def _each(solver: Solver, asked: Question) -> list[Any]:
    return [solver.sssp(source) for source in asked.sources.tolist()]


def _stacked(answer: list[Any], asked: Question) -> NDArray[Any]:
    return np.stack([comparable(tree.distances) for tree in answer])


def _of_reaches(answer: Any, asked: Question) -> NDArray[Any]:
    rows = np.full((len(answer.reaches), asked.held.graph.vertex_count), np.inf)
    for row, reach in zip(rows, answer.reaches, strict=True):
        row[reach.vertices] = reach.distances
    return rows


def _near(row: NDArray[Any], asked: Question) -> Any:
    return [np.where(row <= asked.limits[-1], row, np.inf)]


def _rows(solver: Solver, asked: Question) -> Any:
    return solver.apsp(asked.sources)


def _cutoff(asked: Question) -> Record:
    return {"predecessors": False, "cutoff": asked.limits[-1]}


def _isochrones(solver: Solver, asked: Question) -> Any:
    return solver.isochrone(asked.sources, asked.limits, each=True)


def _scores(answer: Any, asked: Question) -> NDArray[Any]:
    return np.asarray(answer.values)


def _dependencies(answer: Any, asked: Question) -> NDArray[Any]:
    """Sums over the sources, of which betweenness is an estimate that leaves out a vertex's own."""
    others = np.full(len(answer.values), len(asked.sources), float)
    others[asked.sources] -= 1
    values = np.where(others > 0, answer.values, 0.0)  # of a source that is alone NaN
    sums: NDArray[np.float64] = values * others / (len(others) - 1)
    return sums


JOBS: dict[str, Job] = {
    "pairs": Job(
        lambda solver, asked: solver.route(np.stack((asked.sources, asked.targets), axis=1)),
        _distances,
        lambda row, asked: [row[asked.targets[0]]],
    ),
    "nearest": Job(
        lambda solver, asked: _in_host_memory(solver.nearest(asked.sources, k=asked.k)),
        lambda answer, asked: comparable(answer[1]).reshape(-1, asked.k),
        None,
    ),
    "within": Job(_rows, _distances, _near, _cutoff),
    "near": Job(_each, _stacked, _near, _cutoff),
    "isochrones": Job(_isochrones, _of_reaches, _near),
    "isochrone": Job(_isochrones, _of_reaches, _near),
    "rows": Job(_rows, _distances, lambda row, asked: [row]),
    "matrix": Job(
        lambda solver, asked: solver.matrix(asked.sources, asked.targets),
        _distances,
        lambda row, asked: [row[asked.targets]],
    ),
    "tree": Job(_each, _stacked, lambda row, asked: [row], lambda asked: {}),
    "closeness": Job(
        lambda solver, asked: solver.closeness(asked.sources),
        _scores,
        lambda row, asked: [right_closeness(row)],
    ),
    "betweenness": Job(
        lambda solver, asked: solver.betweenness(asked.sources), _dependencies, None
    ),
}
"""The jobs by name."""


def _in_host_memory(answer: Any) -> tuple[Any, ...]:
    return answer.facilities, answer.distances, answer.next


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    if channel.size > 1:
        raise InputError(f"{case.name}: other programs run beside one rank")
    held = held_graph(case.graph, device)
    asked = _question(case, held)
    job = JOBS[case.job]
    options: Record = {"device": device, "prepare": True} | job.options(asked)
    if not case.weighted:
        options["hops"] = True
    begun = time.perf_counter()
    with groute_py.open(held.graph, **options) as solver:
        opened_s = time.perf_counter() - begun
        run = lambda: job.run(solver, asked)  # noqa: E731
        first_s, result = seconds_of(run)
        ours = job.answer(result, asked)
        del result
        before_s = [first_s, *(seconds_of(run)[0] for _ in range(CALLS_BEFORE - 1))]
        walls, spent = timed(channel, run, repeat)
        record: Record = {
            "vertices": held.graph.vertex_count,
            "arcs": held.graph.arc_count,
            "count": case.count,
            "open_s": opened_s,
            "before_s": before_s,
            "seconds": walls,
            "processor_seconds": spent,
            "median_s": statistics.median(walls),
            "phases": {name: part[0] for name, part in phases(SoloChannel(), run).items()},
        }
        _verify(solver, case, asked, ours)
    if case.job == "tree" and device == "cuda":
        record |= _left_on_gpu(held.graph, asked, repeat)
    record["peers"] = {
        name: peer_record(case.name, name, partial(make, asked), ours, repeat, CORES.get(name, 1))
        for name, make in JOB_PEERS.get(case.job, {}).items()
    }
    return record


def _question(case: Case, held: Held) -> Question:
    drawn, n = np.random.default_rng(SEED), held.graph.vertex_count
    one_source = case.job == "isochrone"
    count = min(1 if one_source else case.count, n)
    sources, targets = (drawn.choice(n, count, replace=False) for _ in range(2))
    most = int(np.diff(held.graph.offsets)[sources].argmax())
    sources[[0, most]] = sources[[most, 0]]  # the first is verified: some reach no other vertex
    limits: tuple[int, ...] = ()
    if case.job in ("within", "near", "isochrones", "isochrone"):
        row = right_distances(held.graph, int(sources[0]))
        parts = np.linspace(0, WIDE, case.count + 1)[1:] if one_source else WITHIN
        amounts = np.quantile(row[row < UNREACHED], parts, method="lower")
        limits = tuple(np.unique(np.maximum(amounts.astype(np.int64), 1)).tolist())
    return Question(held, sources, targets, case.k, limits, case.weighted)


def _verify(solver: Solver, case: Case, asked: Question, ours: NDArray[Any]) -> None:
    """Raise `VerificationError` if the answer is wrong for one source, or for one vertex."""
    graph, job = asked.graph, JOBS[case.job]
    if case.job == "nearest":
        vertex = int(asked.targets[0])
        row = comparable(right_distances(graph.reversed(), vertex))
        check_same(case.name, "Dijkstra", ours[vertex], np.sort(row[asked.sources])[: asked.k])
    elif case.job == "betweenness":
        others = asked._replace(sources=asked.sources[1:])
        right = right_dependencies(graph, int(asked.sources[0]))
        if len(others.sources):
            right += job.answer(job.run(solver, others), others)
        check_same(case.name, "Brandes", ours, right)
    elif job.right is not None:
        right = job.right(comparable(right_distances(graph, int(asked.sources[0]))), asked)
        check_same(case.name, "Dijkstra", ours[: len(right)], right)


def _left_on_gpu(graph: Graph, asked: Question, repeat: int) -> Record:
    """Seconds of a tree that stays on the GPU, and of its solve."""
    walls, solves = [], []
    with groute_py.open(graph, prepare=True, device="cuda", download=False) as solver:
        for _ in range(repeat + 1):
            wall, result = seconds_of(lambda: solver.sssp(int(asked.sources[0])))
            walls.append(wall)
            spent = result.statistics["seconds"]
            solves.append(spent["solve"] + spent.get("predecessors", 0.0))
    return {
        "held_s": statistics.median(walls[1:]),
        "held_solve_s": statistics.median(solves[1:]),
    }


def _shown(record: Record) -> str:
    parts = [f"{1e3 * record['median_s']:.2f} ms"]
    if "held_s" in record:
        parts.append(f"left on the GPU {1e3 * record['held_s']:.2f} ms")
    return ", ".join([*parts, *shown_peers(record, record["count"])])


PROGRAM: Program[Case] = Program("beside", Case.parse, SETS, _measure, _shown)
