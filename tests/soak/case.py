"""One case: a graph and a way to solve it, drawn from a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from groute_py import Graph
from groute_py.engine.algorithms.methods import algorithms
from soak.reference import Arc
from soak.shapes import SHAPES
from soak.weights import KINDS, Weights

TYPES = ("int32", "uint32", "int64", "float32", "float64")
SIZES_FOR_NEGATIVE = 400
"""With more vertices the reference takes long where weights are negative."""

FEW_SOURCES = 60
"""Up to so many vertices all may be sources."""


@dataclass
class Case:
    """What to solve, and how.

    Attributes:
        number: what all is drawn from.
        shape, kind, dtype: of the graph.
        count, arcs, weights: the graph, arcs by their tails.
        entry: ``sssp``, ``bfs``, ``apsp``, or ``csgraph`` for the functions in SciPy's form.
        method: a method's name, or ``auto``.
        device: ``cpu`` or ``cuda``.
        ranks, patience: how many ranks, and for how long messages are held back.
        sources: solved for one after another, or together by ``apsp``.
        targets: of each source.
        predecessors: whether they are asked for.
        options: more of `groute_py.engine.options.Options`.
    """

    number: int
    shape: str
    kind: str
    dtype: str
    count: int
    arcs: list[Arc]
    weights: Weights
    device: str
    entry: str = "sssp"
    method: str = "auto"
    ranks: int = 1
    patience: int = 0
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    predecessors: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def has_negative(self) -> bool:
        """Whether an arc that counts weighs less than 0."""
        return self.entry != "bfs" and any(arc.weight < 0 for arc in self.arcs)

    def graph(self) -> Graph:
        """For groute-py."""
        tails = [arc.tail for arc in self.arcs]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=self.count))])
        heads = np.array([arc.head for arc in self.arcs], np.int32)
        return Graph(offsets.astype(np.int64), heads, self.weights.array, name="soak")

    def __str__(self) -> str:
        choices = {"targets": self.targets, "predecessors": self.predecessors, **self.options}
        how = " ".join(f"{name}={value}" for name, value in choices.items())
        return (
            f"{self.entry} {self.method} on {self.device}, {self.ranks} ranks, {self.shape} of "
            f"{self.count} vertices, {len(self.arcs)} arcs, {self.kind} {self.dtype}, sources "
            f"{self.sources}, {how}"
        )


def drawn(number: int, device: str, kinds: Sequence[str] = tuple(KINDS)) -> Case:
    """The case of a number; the same for the same number, device and kinds of weights."""
    random = Random(f"soak {number}")
    case = _graph(number, random, device, kinds)
    case.entry = random.choice(("sssp", "sssp", "sssp", "bfs", "apsp", "csgraph"))
    case.ranks = random.choice((1, 1, 2, 3, 4))
    case.patience = random.choice((0, 0, 1, 3))
    case.predecessors = random.random() < 0.7
    if case.entry == "csgraph" and not _is_for_scipy(case):
        case.entry = "apsp"
    if case.entry == "apsp":
        _choose_apsp(case, random)
    elif case.entry == "csgraph":
        _choose_function(case, random)
    else:
        _choose_one_source(case, random)
    return case


def _graph(number: int, random: Random, device: str, kinds: Sequence[str]) -> Case:
    """A shape, and weights that its type has."""
    while True:
        shape, kind = random.choice(list(SHAPES)), random.choice(kinds)
        dtype = random.choice(TYPES)
        count, ends = SHAPES[shape](random)
        ends.sort()
        weights = KINDS[kind](random, dtype, count, ends)
        if weights is None or (min(weights.exact, default=0) < 0 and count > SIZES_FOR_NEGATIVE):
            continue
        arcs = [Arc(u, v, w) for (u, v), w in zip(ends, weights.exact, strict=True)]
        return Case(number, shape, kind, dtype, count, arcs, weights, device)


def _choose_one_source(case: Case, random: Random) -> None:
    case.sources = [random.randrange(case.count) for _ in range(random.choice((1, 1, 2)))]
    case.method = "bfs" if case.entry == "bfs" else random.choice(_methods(case))
    if random.random() < 0.25:
        case.targets = [random.randrange(case.count) for _ in range(random.randint(1, 3))]
    case.options = {
        "mode": random.choice(("auto", "rounds")),
        "order": random.choice(("auto", "none", "bfs", "rcm")),
        "partition": random.choice(("arcs", "vertices", "first")),
    }
    if random.random() < 0.3:
        case.options["delta"] = random.choice((0.5, 1.0, 3.0, 50.0, 1e6))
    exact = not case.weights.rounded and case.kind != "overflowing"
    if exact and not case.has_negative and random.random() < 0.25:
        case.options["cutoff"] = _cutoff(case, random.choice((0, 1, 2, 5)))


def _cutoff(case: Case, arcs: int) -> float:
    """The length of some of the heaviest arcs, exact in the type of the weights."""
    if case.entry == "bfs":
        return arcs
    most = arcs * max(case.weights.exact, default=1)
    return most if case.weights.scale == 1 else most / case.weights.scale


def _choose_apsp(case: Case, random: Random) -> None:
    """Floyd–Warshall is for one rank here, and has no trees of floats."""
    case.method = random.choice(("auto", "heap", "batch", "floyd"))
    if case.method == "floyd":
        case.ranks = 1
        case.predecessors = case.predecessors and not case.dtype.startswith("float")
    whole = case.count <= FEW_SOURCES and random.random() < 0.5
    some = [random.randrange(case.count) for _ in range(random.randint(1, 5))]
    case.sources = list(range(case.count)) if whole else some


def _choose_function(case: Case, random: Random) -> None:
    """Floyd–Warshall takes all sources, and Dijkstra no negative weights."""
    case.ranks = 1
    names = ["bellman_ford", "johnson"]
    names += ["floyd_warshall"] * 2 if case.count <= FEW_SOURCES else []
    case.method = random.choice(names if case.has_negative else [*names, "dijkstra"])
    some = [random.randrange(case.count) for _ in range(random.randint(1, 5))]
    case.sources = list(range(case.count)) if case.method == "floyd_warshall" else some


def _is_for_scipy(case: Case) -> bool:
    """SciPy's answers are float64: no integers are beyond it, and float32 weights are exact."""
    return case.kind != "overflowing" and not (case.weights.meant and case.dtype == "float32")


def _methods(case: Case) -> list[str]:
    """Those that take the graph on the device."""
    unit = all(weight == case.weights.scale for weight in case.weights.exact)
    floats = case.dtype.startswith("float")
    names = [
        name
        for name, method in algorithms().items()
        if case.device in method.makers(case.ranks)
        and (method.negative_weights or not case.has_negative)
        and (unit or not method.unit_weights)
        and (method.float_weights or not floats)
    ]
    return ["auto", "delta-stepping" if "delta-stepping" in names else "bellman-ford", *names]
