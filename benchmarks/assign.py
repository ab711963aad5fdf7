"""``python -m benchmarks --assign``: the gap of a traffic assignment over the seconds, by method.

    python -m benchmarks --assign --device cpu
    python -m benchmarks --assign --device cuda --case data/tntp/ChicagoSketch

A case is ``PATH/NAME`` of two files, ``NAME_net.tntp`` and ``NAME_trips.tntp`` (or ``.tntp.xz``),
or ``GRAPH/ZONES``: the first vertices of a generated graph are zones with random trips. Each method
runs until the gap is `GAP` or `LIMIT_S` are over. ``curves`` have seconds and gap of each
iteration; the last gap is verified by Dijkstra's algorithm for the final times.
"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from benchmarks.attempts import Record
from benchmarks.cases import KINDS
from benchmarks.program import Program
from groute_py import BPR, Assignment, Graph, InputError, VerificationError, assign, read_graph
from groute_py.comm.base import Channel

SETS = {"cuda": ["road:100x100/400"], "cpu": ["road:30x30/100"]}
"""The cases without ``--case``, by device."""

METHODS, GAP, LIMIT_S, SEED = ("bfw", "tfw"), 1e-6, 300, 7


@dataclass(frozen=True)
class Case:
    """A network, and its trips.

    Attributes:
        name: its text.
        graph: the spec of a generated graph, or the beginning of two paths.
        zones: of a generated graph.
    """

    name: str
    graph: str
    zones: int = 0

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.
        """
        words = re.fullmatch(r"(([a-z]+):[\dx,]+)/(\d+)", text)
        if words and words[2] in KINDS:
            return cls(text, words[1], int(words[3]))
        if not _files(text, "net"):
            raise InputError(f"case {text!r} is unknown; a case is GRAPH/ZONES or PATH/NAME")
        return cls(text, text)


def _files(name: str, part: str) -> list[Path]:
    path = Path(name)
    return sorted(path.parent.glob(f"{path.name}_{part}.tntp*"))


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    graph, demand, times = _task(case)
    record: Record = {"vertices": graph.vertex_count, "links": graph.arc_count, "curves": {}}
    for method in METHODS:
        choices: dict[str, Any] = {"times": times, "time_limit_s": LIMIT_S, "device": device}
        choices |= {"method": method, "gap": GAP, "iterations": 10**6}
        answers = [_assigned(graph, demand, **choices) for _ in range(repeat)]
        history = answers[-1].history
        if case.zones:
            _verify(graph, demand, answers[-1])
        steps = [after.seconds - before.seconds for before, after in pairwise(history)]
        record[f"{method}_s"] = statistics.median(some.history[-1].seconds for some in answers)
        record[f"{method}_iterations"] = len(history)
        record[f"{method}_iteration_s"] = statistics.median(steps) if steps else 0.0
        record["curves"][method] = [[state.seconds, state.gap] for state in history]
    return record


def _assigned(graph: Graph, demand: Any, **choices: Any) -> Assignment:
    answer = assign(graph, demand, **choices)
    assert answer is not None  # there is one rank
    return answer


def _task(case: Case) -> tuple[Graph, Any, BPR | None]:
    if not case.zones:
        return read_graph(_files(case.graph, "net")[0]), _files(case.graph, "trips")[0], None
    graph = KINDS[case.graph.partition(":")[0]].load(case.graph)
    free = graph.weights + 1.0
    trips = np.random.default_rng(SEED).random((case.zones, case.zones))
    return graph, trips, BPR(free, np.full(graph.arc_count, trips.sum() / 20))


def _verify(graph: Graph, trips: Any, answer: Assignment) -> None:
    matrix = np.full((graph.vertex_count,) * 2, np.inf)
    np.minimum.at(matrix, (graph.tails(), graph.heads), answer.times)
    zones = len(trips)
    distances = dijkstra(np.where(np.isfinite(matrix), matrix, 0), indices=range(zones))
    pairs = np.isfinite(distances[:, :zones])
    least = float((trips * np.where(pairs, distances[:, :zones], 0)).sum())
    cost = float(answer.volumes @ answer.times)
    if abs((cost - least) / cost - answer.gap) > 1e-9:
        raise VerificationError("the gap differs from that of Dijkstra's distances")


def _shown(record: Record) -> str:
    return "; ".join(
        f"{method} {record[f'{method}_iterations']:,} iterations of "
        f"{1e3 * record[f'{method}_iteration_s']:.2f} ms, {record[f'{method}_s']:.2f} s"
        for method in METHODS
    )


PROGRAM: Program[Case] = Program("assign", Case.parse, SETS, _measure, _shown)
