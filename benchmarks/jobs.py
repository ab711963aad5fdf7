"""``python -m benchmarks --jobs``: matrices, nearest facilities, routes and questions.

    python -m benchmarks --jobs --device cpu
    python -m benchmarks --jobs --device cuda --case matrix:NY/1000/prepared
    mpirun -n 4 python -m benchmarks --jobs --device cuda --case matrix:road:4900x4900/10000

A case is ``JOB:GRAPH/N[/kK][/prepared]``: a matrix of N random sources and N random targets, to a
file; the nearest of N random facilities, or the K nearest; N random pairs; or N questions to
``groute-py query``, one after the other's answer, with a near target each. The time is that of a
call on an open `Solver` to the complete answer, or file; the first call is a warm-up. ``prepared``
contracts the graph before. Some distances of each answer are verified as
`benchmarks.reference` says.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.attempts import Record
from benchmarks.cases import KINDS
from benchmarks.program import Program, timed
from benchmarks.reference import right_distances
from groute_py import UNREACHED, Graph, InputError, Solver, VerificationError, prepare, write_graph
from groute_py.comm.base import Channel
from groute_py.engine.agree import collective, on_root
from groute_py.engine.options import Options
from groute_py.engine.supply.whole import Whole

SETS = {
    "cuda": [
        "matrix:NY/1000/prepared",
        "nearest:road:4900x4900/1000/prepared",
        "route:NY/10000/prepared",
        "matrix:road:4900x4900/10000/prepared",
    ],
    "cpu": [
        "matrix:road:200x200/100",
        "nearest:road:200x200/100",
        "nearest:road:200x200/100/k3",
        "route:road:200x200/1000",
        "route:road:200x200/1000/prepared",
        "query:NY/1000",
    ],
}
"""The cases without ``--case``, by device."""

SOME, STEPS, SEED = 4, 20, 11
"""Sources or vertices that are verified; arcs to a near target at most; of what is drawn."""


@dataclass(frozen=True)
class Case:
    """One case to measure.

    Attributes:
        name: its text.
        job: one of `JOBS`.
        graph: ``NY`` or the spec of a generated graph.
        count: N.
        k: facilities of each vertex.
        prepared: whether the graph is contracted before.
    """

    name: str
    job: str
    graph: str
    count: int
    k: int
    prepared: bool

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.
        """
        found = re.fullmatch(r"(\w+):(([A-Za-z]+)[^/]*)/(\d+)(?:/k(\d+))?(/prepared)?", text)
        if not found or found[1] not in JOBS or found[3] not in KINDS:
            raise InputError(f"case {text!r} is unknown; a case is JOB:GRAPH/N[/kK][/prepared]")
        k = int(found[5] or 1)
        return cls(text, found[1], found[2], int(found[4]), k, found[6] is not None)

    def load(self, device: str) -> Graph:
        """The graph."""
        graph = KINDS[self.graph.partition(":")[0]].load(self.graph)
        return prepare(graph, device=device) if self.prepared else graph


class Asked(NamedTuple):
    """What a job is made of.

    Attributes:
        case: which.
        solver: of the graph.
        graph: on rank 0, None elsewhere.
        ends: drawn vertices, shape (2, N).
        folder: for files.
        ending: ends what the job has begun.
    """

    case: Case
    solver: Solver
    graph: Graph | None
    ends: NDArray[np.int64]
    folder: Path
    ending: ExitStack


Measured = tuple[Callable[[], Any], Callable[[Any], None]]
"""The job itself, and what raises `VerificationError` for a wrong answer of it, on rank 0."""


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    supply = on_root(channel, lambda: Whole(case.load(device)))
    drawn = np.random.default_rng(SEED)
    with (
        ExitStack() as ending,
        Solver(supply, channel, Options(device=device, predecessors=False)) as solver,
    ):
        folder = on_root(channel, lambda: Path(ending.enter_context(TemporaryDirectory())))
        graph = supply.graph() if channel.rank == 0 else None
        ends = drawn.integers(0, solver.facts.vertex_count, (2, case.count))
        run, verify = JOBS[case.job](Asked(case, solver, graph, ends, folder, ending))
        found = run()
        with collective(channel):
            if channel.rank == 0:
                verify(found)
        walls, spent = timed(channel, run, repeat)
        return {
            "vertices": solver.facts.vertex_count,
            "arcs": solver.facts.arc_count,
            "count": case.count,
            "seconds": walls,
            "processor_seconds": spent,
            "median_s": statistics.median(walls),
            "each_s": statistics.median(walls) / case.count,
        }


def _matrix(asked: Asked) -> Measured:
    case, solver, graph, ends, folder, _ = asked
    path = folder / "matrix.npy"

    def verify(found: Any) -> None:
        assert graph is not None
        kept = np.load(path, mmap_mode="r")
        for row, source in enumerate(ends[0, :SOME].tolist()):
            _same(case, kept[row], right_distances(graph, source)[ends[1]])

    return lambda: solver.matrix(*ends, output=path), verify


def _nearest(asked: Asked) -> Measured:
    case, solver, graph, ends, *_ = asked

    def verify(found: Any) -> None:
        assert graph is not None
        turned, facilities = graph.reversed(), np.unique(ends[0])
        for vertex in ends[1, :SOME].tolist():
            distances = right_distances(turned, vertex)[facilities]
            order = np.argsort(distances, kind="stable")[: case.k]
            owners = np.where(distances[order] == UNREACHED, -1, facilities[order])
            _same(case, np.ravel(found.distances[vertex]), distances[order])
            _same(case, np.ravel(found.facilities[vertex]), owners)

    return lambda: solver.nearest(ends[0], k=case.k), verify


def _route(asked: Asked) -> Measured:
    case, solver, graph, ends, *_ = asked

    def verify(found: Any) -> None:
        assert graph is not None
        for source, target, length in zip(*ends[:, :SOME], found.distances[:SOME], strict=True):
            _same(case, length, right_distances(graph, source)[target])

    return lambda: solver.route(ends.T), verify


def _query(asked: Asked) -> Measured:
    """In a process of its own, which ends with its input."""
    case, solver, graph, ends, folder, ending = asked
    if graph is None or solver.facts.weight_type.kind == "f":
        raise InputError(f"{case.name}: questions are asked on one rank, of integers")
    write_graph(graph, folder / ("it.prepared" if case.prepared else "it.csr"))
    (file,) = folder.iterdir()
    pairs = [(source, near(graph, source)) for source in ends[0].tolist()]
    first = graph.first_id
    lines = [json.dumps({"source": s + first, "target": t + first}) + "\n" for s, t in pairs]
    words = [sys.executable, "-m", "groute_py", "query", str(file), "--device", "cpu"]
    pipe = subprocess.PIPE
    started = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    process = ending.enter_context(started)
    assert process.stdin is not None
    assert process.stdout is not None
    asking, answering = process.stdin, process.stdout

    def run() -> list[Any]:
        found = []
        for line in lines:
            asking.write(line)
            asking.flush()
            found.append(json.loads(answering.readline())["distance"])
        return found

    def verify(found: list[Any]) -> None:
        for (source, target), length in zip(pairs[:SOME], found[:SOME], strict=True):
            _same(case, length, right_distances(graph, source)[target])

    return run, verify


JOBS: dict[str, Callable[..., Measured]] = {
    "matrix": _matrix,
    "nearest": _nearest,
    "route": _route,
    "query": _query,
}
"""The jobs by name."""


def near(graph: Graph, source: int) -> int:
    """A vertex to which a path of at most `STEPS` arcs leads, always the same."""
    drawn, vertex = np.random.default_rng(source), source
    for _ in range(STEPS):
        heads = graph.heads[graph.offsets[vertex] : graph.offsets[vertex + 1]]
        if not len(heads):
            break
        vertex = int(drawn.choice(heads))
    return vertex


def _same(case: Case, found: Any, wanted: Any) -> None:
    if not np.array_equal(found, wanted):
        raise VerificationError(f"{case.name}: a distance or a facility is wrong")


def _shown(record: Record) -> str:
    return f"{record['median_s']:.4f} s, {1e3 * record['each_s']:.3f} ms each"


PROGRAM = Program("jobs", Case.parse, SETS, _measure, _shown)
