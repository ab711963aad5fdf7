"""``python -m benchmarks --jobs``: matrices, facilities, routes, questions, trees within a cutoff.

    python -m benchmarks --jobs --device cpu
    python -m benchmarks --jobs --device cuda --case matrix:NY/1000/prepared
    mpirun -n 4 python -m benchmarks --jobs --device cuda --case matrix:road:4900x4900/10000

A case is ``JOB:GRAPH/N[/kK][/prepared]``: a matrix of N random sources and N random targets, to a
file that is not there before; the nearest of N random facilities, or the K nearest; N random pairs;
N questions to ``groute-py query``, one after the other's answer, with a near target each; or trees
from N random sources, one after the other, within a cutoff that `WITHIN` of the first tree is
within. The time is that of a call, or of N calls, on an open `Solver` to the complete answer, or
file; the first is a warm-up. ``prepared`` contracts the graph before. Some distances of each answer
are verified as `benchmarks.reference` says.

``phases`` of a matrix are the seconds of each rank in one more call, by what it did: choose the
``method``; ``lay out`` and ``open`` the file; solve ``rows``, and within that ``select`` the part
of a hierarchy; ``wait`` for other ranks; ``write`` and ``mark`` rows; ``finish`` the file.

The answer of the nearest facility of each vertex stays on the GPU, where one rank has one; then
``to_host_s`` are the seconds of a call until it is in host memory too. ``sssp_s`` are those of
`Solver.sssp` with its tree on the same graph without a hierarchy, whose answer lies where that of
the facilities does. Of trees ``solve_s`` are the seconds on the device, and ``whole_s`` those of
trees without a cutoff, medians of N.
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
from benchmarks.program import Program, nothing, phases, timed
from benchmarks.reference import right_distances
from groute_py import UNREACHED, Graph, InputError, Solver, VerificationError, write_graph
from groute_py.comm.agree import at_root, collective, on_root
from groute_py.comm.base import Channel, SoloChannel
from groute_py.engine.options import Options
from groute_py.engine.preparing import prepare_whole
from groute_py.graph.hierarchy.prepared import without_hierarchy
from groute_py.many.opened import Opened, source_of

SETS = {
    "cuda": [
        "matrix:NY/1000/prepared",
        "nearest:road:4900x4900/1000/prepared",
        "route:NY/10000/prepared",
        "matrix:road:4900x4900/10000/prepared",
        "within:road:4900x4900/20/prepared",
    ],
    "cpu": [
        "matrix:road:200x200/100",
        "nearest:road:200x200/100",
        "nearest:road:200x200/100/k3",
        "route:road:200x200/1000",
        "route:road:200x200/1000/prepared",
        "query:NY/1000",
        "within:NY/40/prepared",
    ],
}
"""The cases without ``--case``, by device."""

BESIDE = ("sssp_s", "to_host_s", "solve_s", "whole_s")
"""Seconds of something else, by their names in records."""

SOME, STEPS, SEED = 4, 20, 11
"""Sources or vertices that are verified; arcs to a near target at most; of what is drawn."""

WITHIN = 0.01
"""Share of the vertices of a tree that is within the cutoff."""


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
        return prepare_whole(graph, device) if self.prepared else graph


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


def _nothing_more(channel: Channel, repeat: int) -> Record:
    return {}


class Measured(NamedTuple):
    """A job, ready to be measured.

    Attributes:
        run: the job itself.
        verify: raises `VerificationError` for a wrong answer of it, on rank 0.
        more: numbers beside its times, from the channel and the number of repetitions; collective.
        before: is called on every rank before each run whose time counts.
    """

    run: Callable[[], Any]
    verify: Callable[[Any], None]
    more: Callable[[Channel, int], Record] = _nothing_more
    before: Callable[[], None] = nothing


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    graph = at_root(channel, lambda: case.load(device))
    drawn = np.random.default_rng(SEED)
    stays = case.job in ("nearest", "within") and device == "cuda" and channel.size == 1
    options = Options(device=device, predecessors=False, download=not stays)
    with ExitStack() as ending, _opened(channel, graph, options) as solver:
        folder = on_root(channel, lambda: Path(ending.enter_context(TemporaryDirectory())))
        ends = drawn.integers(0, solver.facts.vertex_count, (2, case.count))
        job = JOBS[case.job](Asked(case, solver, graph, ends, folder, ending))
        _verify(channel, job)
        walls, spent = timed(channel, job.run, repeat, job.before)
        return {
            "vertices": solver.facts.vertex_count,
            "arcs": solver.facts.arc_count,
            "count": case.count,
            "seconds": walls,
            "processor_seconds": spent,
            "median_s": statistics.median(walls),
            "each_s": statistics.median(walls) / case.count,
            **job.more(channel, repeat),
        }


def _opened(channel: Channel, graph: Graph | None, options: Options) -> Solver:
    return Solver(Opened(source_of(graph, options), channel, options))


def _verify(channel: Channel, job: Measured) -> None:
    found = job.run()
    with collective(channel):
        if channel.rank == 0:
            job.verify(found)


def _matrix(asked: Asked) -> Measured:
    case, solver, graph, ends, folder, _ = asked
    path = folder / "matrix.npy"

    def verify(found: Any) -> None:
        assert graph is not None
        kept = np.load(path, mmap_mode="r")
        for row in np.linspace(0, case.count - 1, SOME, dtype=int).tolist():  # of several ranks
            _same(case, kept[row], right_distances(graph, int(ends[0, row]))[ends[1]])

    def run() -> Any:
        return solver.matrix(*ends, output=path)

    def before() -> None:
        if graph is not None:
            path.unlink()

    def more(channel: Channel, repeat: int) -> Record:
        before()
        return {"phases": phases(channel, run)}

    return Measured(run, verify, more, before)


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

    def run() -> Any:
        return solver.nearest(ends[0], k=case.k)

    def more(channel: Channel, repeat: int) -> Record:
        if case.k > 1 or channel.size > 1:
            return {}
        assert graph is not None
        found = {"sssp_s": _sssp_seconds(channel, graph, int(ends[0, 0]), solver, repeat)}
        if solver.gpu is not None:
            walls, _ = timed(channel, lambda: _in_host_memory(run()), repeat)
            found["to_host_s"] = statistics.median(walls)
        return found

    return Measured(run, verify, more)


def _in_host_memory(found: Any) -> tuple[Any, ...]:
    return found.facilities, found.distances, found.next


def _sssp_seconds(
    channel: Channel, graph: Graph, source: int, measured: Solver, repeat: int
) -> float:
    """Of one tree without a hierarchy, on the kind of device that a measured solver has."""
    on_gpu = measured.gpu is not None
    options = Options(device="cuda" if on_gpu else "cpu", download=not on_gpu)
    with _opened(channel, without_hierarchy(graph), options) as solver:
        solver.sssp(source)
        walls, _ = timed(channel, lambda: solver.sssp(source), repeat)
    return statistics.median(walls)


def _route(asked: Asked) -> Measured:
    case, solver, graph, ends, *_ = asked

    def verify(found: Any) -> None:
        assert graph is not None
        for source, target, length in zip(*ends[:, :SOME], found.distances[:SOME], strict=True):
            _same(case, length, right_distances(graph, source)[target])

    return Measured(lambda: solver.route(ends.T), verify)


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

    return Measured(run, verify)


def _within(asked: Asked) -> Measured:
    case, solver, graph, ends, _, ending = asked
    if graph is None:
        raise InputError(f"{case.name}: trees within a cutoff are solved on one rank")
    sources = ends[0].tolist()
    row = right_distances(graph, sources[0])
    cutoff = float(np.quantile(row[row < UNREACHED], WITHIN, method="lower"))
    on_gpu = solver.gpu is not None
    device = "cuda" if on_gpu else "cpu"
    options = Options(device=device, predecessors=False, download=not on_gpu, cutoff=cutoff)
    near_ones = ending.enter_context(_opened(SoloChannel(), graph, options))

    def run() -> Any:
        found = None
        for source in sources:
            found = near_ones.sssp(source)  # of which a GPU has room for some
        return found

    def verify(found: Any) -> None:
        row = right_distances(graph, found.source)
        _same(case, found.distances, np.where(row <= cutoff, row, UNREACHED))

    def more(channel: Channel, repeat: int) -> Record:
        times = {"solve_s": near_ones, "whole_s": solver}
        return {name: _solve_seconds(one, sources) for name, one in times.items()}

    return Measured(run, verify, more)


def _solve_seconds(solver: Solver, sources: list[int]) -> float:
    """On the device, the median of trees."""
    seconds = []
    for source in sources:
        result = solver.sssp(source)
        assert result is not None
        seconds.append(float(result.statistics["seconds"]["solve"]))
    return statistics.median(seconds)


JOBS: dict[str, Callable[..., Measured]] = {
    "matrix": _matrix,
    "nearest": _nearest,
    "route": _route,
    "query": _query,
    "within": _within,
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
    times = f"{record['median_s']:.4f} s, {1e3 * record['each_s']:.3f} ms each"
    beside = [f"{name} {record[name]:.4f}" for name in BESIDE if name in record]
    longest = [f"{name} {max(seconds):.4f}" for name, seconds in record.get("phases", {}).items()]
    return ", ".join([times, *beside, *longest])


PROGRAM = Program("jobs", Case.parse, SETS, _measure, _shown)
