"""The cases: a graph, a weight type, a source, a number of ranks.

A case is written ``GRAPH[/float32|/unit][=METHOD][@RANKS]``, such as ``NY``, ``rmat:22/float32``,
``NY=heap-dijkstra``, ``rmat:24/unit=bfs`` or ``road:1000x1000@2``. ``KINDS`` says for each kind of
graph how to load it and which source to use.
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
from numpy.typing import NDArray

from groute_py import UNREACHED, Graph, Result, VerificationError, generate, read_graph
from groute_py.errors import GrouteError, InputError
from groute_py.kernels.cpu.order import renumbered

READING = "reading"
"""The case that reads files instead of solving."""

SETS = {
    "quick": ["NY", "road:1000x1000", "rmat:16"],
    "cpu": ["NY", "road:1000x1000", "road:1000x1000@2", "rmat:16", "rmat:20", READING],
    "cuda": ["NY", "road:4900x4900", "rmat:22", "rmat:24"],
}
"""The cases without ``--case``: with ``--quick``, or by device."""

ROADS = ("NY", "FLA")
SIMPLE = (
    *("random:1000,18555", "random:5000,122984", "random:10000,489476", "random:5000,1242105"),
    "random:65536,393216",
)
"""Random graphs called Simple 01 to 04 and Graph65536 in docs/what-we-learned.md#methods."""

PARALLEL = (
    *("auto", "delta-stepping", "bellman-ford"),
    *("frontier-dijkstra", "frontier-dijkstra-in", "frontier-dijkstra-in-out"),
)
SERIAL = ("heap-dijkstra", "queue-bellman-ford-slf-lll")


def methods(device: str) -> list[str]:
    """A case for each method and graph where the method applies and ends within seconds."""
    cases = {graph: [*PARALLEL, *SERIAL] for graph in (*ROADS, *SIMPLE, "dense:1500", "rmat:20")}
    for names in cases.values():
        names += ["plain-bellman-ford", "queue-bellman-ford", "queue-bellman-ford-slf"]
    for graph in ROADS:
        cases[graph] += ["contraction"]
    for graph in (*ROADS, *SIMPLE, "dense:1500"):  # not rmat:20: most vertices would be open
        cases[graph] += ["open-set-dijkstra"]
    for graph in SIMPLE:
        cases[graph] += ["csr-bellman-ford", "ell-bellman-ford", "reduction-dijkstra"]
    for graph in (SIMPLE[0], SIMPLE[2]):  # others take a minute or more
        cases[graph] += ["textbook-bellman-ford"]
    for graph in (SIMPLE[0], "dense:1500"):
        cases[graph] += ["dense-bellman-ford"]
    cases["dense:1500"] += ["csr-bellman-ford", "ell-bellman-ford", "reduction-dijkstra"]
    if device == "cuda":  # one CPU core would take minutes
        for graph in ROADS:
            cases[graph] += ["csr-bellman-ford", "ell-bellman-ford", "reduction-dijkstra"]
        cases["rmat:20"] += ["csr-bellman-ford"]
    listed = [f"{graph}={method}" for graph, names in cases.items() for method in names]
    unit = [f"{graph}/unit=bfs" for graph in ("NY", "rmat:20")]
    return [case.removesuffix("=auto") for case in listed] + unit


NY_FILE = "dimacs9/USA-road-d.NY.gr.gz"
NY_SOURCE_ID = 190295
NY_DIGEST = "1058541edf2cb88c863d667185821ebc9dac20c00c2429ce29c7574cc001d0f5"
"""sha256 of the distances as little-endian int64 in vertex order, -1 where unreached."""

FLA_DIGEST = "179123d18adbf204afe3fed42ad5a2d019e6defbf1852011d7c56366400d08c2"


class SkippedError(GrouteError):
    """A case or another program cannot run here; the message says why."""


def refuse_larger(count: int, most: int, what: str) -> None:
    """Skip a program that would take minutes for so many."""
    if count > most:
        raise SkippedError(f"more than {most:,} {what}")


class Kind(NamedTuple):
    """How to load a graph of a kind by its name, and the source to solve from."""

    load: Callable[[str], Graph]
    source: Callable[[Graph], int]
    digest: str | None = None


@dataclass(frozen=True)
class Case:
    """One case to measure.

    Attributes:
        graph: ``NY``, the spec of a generated graph, ``reading`` or ``reading:SPEC``.
        weights: ``int32`` as generated, ``float32``, or ``unit`` (each arc weighs 1).
        method: the algorithm, or ``auto``.
        ranks: their number; None for the command's.
    """

    graph: str
    weights: str = "int32"
    method: str = "auto"
    ranks: int | None = None

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.

        >>> Case.parse("rmat:20/float32@2")
        Case(graph='rmat:20', weights='float32', method='auto', ranks=2)
        """
        pattern = r"(([A-Za-z]+)[^/@=]*)(?:/(int32|float32|unit))?(?:=([a-z-]+))?(?:@([1-9]\d*))?"
        found = re.fullmatch(pattern, text)
        if not found or found[2] not in {*KINDS, READING}:
            raise InputError(
                f"case {text!r} is unknown; a case is GRAPH[/float32|/unit][=METHOD][@RANKS], and "
                f"a graph {', '.join(KINDS)} with its numbers (road:1000x1000), or {READING}[:SPEC]"
            )
        ranks = int(found[5]) if found[5] else None
        return cls(found[1], found[3] or "int32", found[4] or "auto", ranks)

    @property
    def name(self) -> str:
        """The text of the case without its ranks."""
        weights = "" if self.weights == "int32" else f"/{self.weights}"
        return self.graph + weights + ("" if self.method == "auto" else f"={self.method}")

    @property
    def kind(self) -> Kind:
        """How to load the graph, and the source."""
        return KINDS[self.graph.partition(":")[0]]

    def on(self, ranks: int) -> Case:
        """The case with its own number of ranks, or else with `ranks`."""
        return replace(self, ranks=self.ranks or ranks)

    def record(self) -> dict[str, Any]:
        """The first fields of its records."""
        return {"case": self.name, "ranks": self.ranks}

    def check_digest(self, result: Result) -> bool:
        """Compare the distances with the known digest; False if there is none.

        Raises:
            VerificationError: they differ.
        """
        if self.kind.digest is None or self.weights != "int32":
            return False
        distances = np.where(result.distances == UNREACHED, -1, result.distances)
        if hashlib.sha256(distances.astype("<i8").tobytes()).hexdigest() != self.kind.digest:
            raise VerificationError("the distances do not have the known digest")
        return True


class Shelf:
    """Keeps the last graph for a next case with the same graph and other weights."""

    def __init__(self) -> None:
        self._name = ""
        self._graph: Graph | None = None

    def take(self, case: Case) -> Graph:
        """The graph of a case; it shares offsets and heads with the kept graph.

        Raises:
            SkippedError: its file is missing.
        """
        if self._graph is None or self._name != case.graph:
            self._graph = None  # make room first
            self._graph, self._name = case.kind.load(case.graph), case.graph
        graph = self._graph
        if case.weights == "unit":
            return graph.with_unit_weights()
        if case.weights == graph.weights.dtype:
            return graph
        weights = graph.weights.astype(case.weights)
        return Graph(graph.offsets, graph.heads, weights, graph.first_id, graph.name)


def data_file(name: str) -> Path:
    """The path of a file in the data folder.

    Raises:
        SkippedError: the file is missing.
    """
    folder = os.environ.get("GROUTE_PY_TEST_DATA")
    path = Path(folder or "") / name
    if not folder or not path.is_file():
        raise SkippedError(f"no {name} in the folder that GROUTE_PY_TEST_DATA names")
    return path


def topology(name: str) -> Graph:
    """The topology of a region's roads, with a weight hashed from the two ends of each edge.

    Raises:
        SkippedError: the file is missing.
    """
    graph = read_graph(data_file(f"roads-topology/{name}.gr.xz"), cache=False)
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)) + 1
    ends = np.stack([tails, graph.heads.astype(np.int64) + 1])
    low, high = ends.min(axis=0), ends.max(axis=0)
    drawn = (low * 2654435761 + high * 40503) % 2**32 % 10000 + 1
    return Graph(graph.offsets, graph.heads, drawn.astype(np.int32), 1, name)


def dense(name: str) -> Graph:
    """``dense:N``: an arc between each ordered pair of vertices, weights 1 to 999."""
    count = int(name.partition(":")[2])
    weights = np.random.default_rng(count).integers(1, 1000, count * count).astype(np.int32)
    heads = np.tile(np.arange(count, dtype=np.int32), count)
    return Graph(np.arange(count + 1) * count, heads, weights, name=name)


def middle_of_grid(graph: Graph) -> int:
    """The vertex in the middle of ``road:WxH``."""
    width = int(graph.name.partition(":")[2].partition("x")[0])
    return graph.vertex_count // 2 + width // 2


def shuffled(name: str) -> Graph:
    """``shuffled:WxH``: ``road:WxH`` with randomly numbered vertices."""
    road = generate(name.replace("shuffled", "road"))
    order = _random_order(road.vertex_count)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    offsets, heads, weights = renumbered(road.offsets, road.heads, road.weights, order, place)
    return Graph(offsets, heads, weights, name=name)


def middle_of_shuffled(graph: Graph) -> int:
    """The number of the vertex in the middle of ``shuffled:WxH``."""
    middle = middle_of_grid(graph)
    return int(np.flatnonzero(_random_order(graph.vertex_count) == middle)[0])


def _random_order(count: int) -> NDArray[np.int64]:
    return np.random.default_rng(count).permutation(count)


def some_with_arcs(graph: Graph) -> int:
    """The 12,346th vertex with out-arcs; the count wraps around in small graphs."""
    (found,) = np.nonzero(np.diff(graph.offsets))
    return int(found[12345 % len(found)])


def _tiles(name: str) -> Graph:
    from benchmarks.tiles import Tiles

    return Tiles.of(name).graph()


KINDS = {
    "NY": Kind(
        lambda _: read_graph(data_file(NY_FILE), cache=False),
        lambda _: NY_SOURCE_ID - 1,
        NY_DIGEST,
    ),
    "FLA": Kind(topology, lambda _: 0, FLA_DIGEST),
    "NW": Kind(topology, lambda _: 0),
    "tiles": Kind(_tiles, lambda _: 0),
    "dense": Kind(dense, lambda _: 0),
    "road": Kind(generate, middle_of_grid),
    "shuffled": Kind(shuffled, middle_of_shuffled),
    "rmat": Kind(generate, some_with_arcs),
    "random": Kind(generate, some_with_arcs),
}
