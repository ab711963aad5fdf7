"""The cases: a graph, a weight type, a source, a number of ranks.

A case is written ``GRAPH[/float32][@RANKS]``, such as ``NY``, ``rmat:22/float32`` or
``road:1000x1000@2``. ``KINDS`` says for each kind of graph how to get it and where to start.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groute_py import UNREACHED, Graph, Result, VerificationError, generate, read_graph
from groute_py.errors import GrouteError, InputError

READING = "reading"
"""The case that reads files instead of solving."""

SETS = {
    "quick": ["NY", "road:1000x1000", "rmat:16"],
    "cpu": ["NY", "road:1000x1000", "road:1000x1000@2", "rmat:16", "rmat:20", READING],
    "cuda": ["NY", "road:4900x4900", "rmat:22", "rmat:24"],
}
"""What runs when no case is named: ``--quick``, or by device."""

NY_FILE = "dimacs9/USA-road-d.NY.gr.gz"
NY_SOURCE_ID = 190295
NY_DIGEST = "1058541edf2cb88c863d667185821ebc9dac20c00c2429ce29c7574cc001d0f5"
"""sha256 of the distances as little-endian int64 in vertex order, -1 where unreached."""


class SkippedError(GrouteError):
    """A case or a peer that cannot run here, and why."""


class Kind(NamedTuple):
    """How to get a graph of a kind by its name, and the source to solve from."""

    load: Callable[[str], Graph]
    source: Callable[[Graph], int]
    digest: str | None = None


@dataclass(frozen=True)
class Case:
    """Attributes:
    graph: ``NY`` or the spec of a generated graph; or ``reading``, or with a spec.
    weights: ``int32`` as drawn, or ``float32``.
    ranks: how many; None for as many as the command says.
    """

    graph: str
    weights: str = "int32"
    ranks: int | None = None

    @classmethod
    def parse(cls, text: str) -> Case:
        """Read a case as it is written.

        Raises:
            InputError: no such case.

        >>> Case.parse("rmat:20/float32@2")
        Case(graph='rmat:20', weights='float32', ranks=2)
        """
        found = re.fullmatch(r"(([A-Za-z]+)[^/@]*)(?:/(int32|float32))?(?:@([1-9]\d*))?", text)
        if not found or found[2] not in {*KINDS, READING}:
            raise InputError(
                f"case {text!r} is unknown; a case is GRAPH[/float32][@RANKS], and a graph "
                f"{', '.join(KINDS)} with its numbers (road:1000x1000), or {READING}[:SPEC]"
            )
        return cls(found[1], found[3] or "int32", int(found[4]) if found[4] else None)

    @property
    def name(self) -> str:
        """As it is written, but for the ranks."""
        return self.graph if self.weights == "int32" else f"{self.graph}/{self.weights}"

    @property
    def kind(self) -> Kind:
        """How to get the graph, and where to start."""
        return KINDS[self.graph.partition(":")[0]]

    def on(self, ranks: int) -> Case:
        """The case with a number of ranks, its own if it has one."""
        return replace(self, ranks=self.ranks or ranks)

    def record(self) -> dict[str, Any]:
        """How its records begin."""
        return {"case": self.name, "ranks": self.ranks}

    def check_digest(self, result: Result) -> bool:
        """Compare with the known digest; False where there is none.

        Raises:
            VerificationError: it differs.
        """
        if self.kind.digest is None or self.weights != "int32":
            return False
        distances = np.where(result.distances == UNREACHED, -1, result.distances)
        if hashlib.sha256(distances.astype("<i8").tobytes()).hexdigest() != self.kind.digest:
            raise VerificationError("the distances do not have the known digest")
        return True


class Shelf:
    """Keeps the last graph, for the next case if that has the same with other weights."""

    def __init__(self) -> None:
        self._name = ""
        self._graph: Graph | None = None

    def take(self, case: Case) -> Graph:
        """A case's graph; offsets and heads are shared with the one that is kept.

        Raises:
            SkippedError: its file is not here.
        """
        if self._graph is None or self._name != case.graph:
            self._graph = None  # make room first
            self._graph, self._name = case.kind.load(case.graph), case.graph
        graph = self._graph
        if case.weights == graph.weights.dtype:
            return graph
        weights = graph.weights.astype(case.weights)
        return Graph(graph.offsets, graph.heads, weights, graph.first_id, graph.name)


def new_york_file() -> Path:
    """The road network of New York, from the 9th DIMACS Implementation Challenge.

    Raises:
        SkippedError: it is not here.
    """
    beside = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("GROUTE_PY_TEST_DATA", beside)) / NY_FILE
    if not path.is_file():
        raise SkippedError(f"no {NY_FILE} in the folder that GROUTE_PY_TEST_DATA names")
    return path


def middle_of_grid(graph: Graph) -> int:
    """The vertex in the middle of ``road:WxH``."""
    width = int(graph.name.partition(":")[2].partition("x")[0])
    return graph.vertex_count // 2 + width // 2


def some_with_arcs(graph: Graph) -> int:
    """Always the same vertex of degree > 0: the 12,346th, counted around."""
    (found,) = np.nonzero(np.diff(graph.offsets))
    return int(found[12345 % len(found)])


KINDS = {
    "NY": Kind(
        lambda _: read_graph(new_york_file(), cache=False), lambda _: NY_SOURCE_ID - 1, NY_DIGEST
    ),
    "road": Kind(generate, middle_of_grid),
    "rmat": Kind(generate, some_with_arcs),
    "random": Kind(generate, some_with_arcs),
}
