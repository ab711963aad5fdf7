"""The methods: what each can do, and the classes that relax by it; `ALGORITHMS` has them all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from groute_py.device.base import Buckets, alike
from groute_py.device.registry import NEAR_FAR, Makers, on_cpu, on_gpu
from groute_py.engine.algorithms import delta_stepping
from groute_py.errors import InputError, check_choice
from groute_py.graph.facts import FULL_ROWS, Facts
from groute_py.kernels.choices import FIFO, SLF, SLF_LLL


def no_buckets(facts: Facts, device: str, ranks: int) -> Buckets:
    """Return the buckets of a method that has no Δ."""
    return alike(math.inf)


@dataclass(frozen=True)
class Algorithm:
    """A single-source method."""

    name: str
    summary: str
    complexity: str  # arcs relaxed, or steps, in the worst case; n vertices, m arcs
    negative_weights: bool = False
    unit_weights: bool = False
    float_weights: bool = True
    pads: bool = False  # the greatest int64 stands for no arc, so that no arc may weigh it
    extends: bool = False  # adds by `extend` alone, which may be another operation than a sum
    contracts: bool = False  # needs a hierarchy of the graph, made before it is loaded
    # by near–far relaxation; else one rank has the whole graph and the others wait
    distributed: bool = False
    # the relaxing class where one rank has the whole graph, by ``cpu`` and ``cuda``
    devices: Makers = field(default_factory=lambda: NEAR_FAR)
    buckets: Callable[[Facts, str, int], Buckets] = no_buckets

    def makers(self, ranks: int) -> Makers:
        """The devices that the method uses on this number of ranks."""
        return NEAR_FAR if self.distributed and ranks > 1 else self.devices

    @property
    def weights(self) -> str:
        """The weights that it takes, in words."""
        if self.unit_weights:
            return "1"
        least = "any" if self.negative_weights else "0 or more"
        return least if self.float_weights else f"{least}, integers"


def _on_both(module: str, method: str, **choices: str) -> Makers:
    """The class of a method on each device, from the modules of one name."""
    cpu, cuda = (f"groute_py.device.{device}.methods.{module}" for device in ("cpu", "cuda"))
    return {"cpu": on_cpu(cpu, method, **choices), "cuda": on_gpu(cuda, method, **choices)}


def _on_core(method: str, **choices: int) -> Makers:
    return {"cpu": on_cpu("groute_py.device.cpu.methods.serial", method, **choices)}


DELTA_STEPPING = Algorithm(
    name="delta-stepping",
    summary="near–far Δ-stepping",
    complexity="n·m; m and a little more where Δ fits",
    extends=True,
    distributed=True,
    buckets=delta_stepping.automatic_buckets,
)

BELLMAN_FORD = Algorithm(
    name="bellman-ford",
    summary="Bellman-Ford with a worklist; negative cycles reported",
    complexity="n·m",
    negative_weights=True,
    extends=True,
    distributed=True,
)
"""Moore (1959): only vertices whose distance has improved relax their arcs. This is near–far
relaxation with one bucket of infinite width. A reachable negative cycle would make the work
endless, so `groute_py.engine.negative_cycle` watches its progress."""

BREADTH_FIRST = Algorithm(
    name="bfs",
    summary="breadth-first search, in both directions on a GPU",
    complexity="m",
    unit_weights=True,
    distributed=True,
    devices=_on_both("bfs", "BreadthFirst"),
    buckets=delta_stepping.buckets_of_levels,
)
"""Level by level. On a GPU it changes direction (Beamer, Asanovic and Patterson, 2012): while the
frontier holds a large part of the graph, unreached vertices search their in-arcs for a tail in the
frontier, and most find one at the first arcs. Near–far relaxation serves several ranks, several
threads of a CPU, and deep graphs, whose levels have too little work for a GPU."""

CONTRACTION = Algorithm(
    name="contraction",
    summary="contraction hierarchy, then a sweep for each tree (PHAST)",
    complexity="n + m + shortcuts",
    float_weights=False,
    pads=True,
    contracts=True,
    devices=_on_both("contraction", "Contraction"),
)
"""The hierarchy is made while the graph is loaded. Contraction (Geisberger et al., 2012) ends the
long chain of dependent steps that a road graph is to every other method: a tree is a short search
upward, then one sweep down some fifty levels (PHAST: Delling et al., 2013). It pays where a graph
is solved more than a few times."""


def _frontier(name: str, summary: str, criterion: str) -> Algorithm:
    """Dijkstra's algorithm for many vertices at once, and ExtractMin by reduction.

    A round closes every open vertex for which a cheap criterion proves that no path through another
    open vertex is shorter, and relaxes their arcs in parallel. `groute_py.kernels.choices` has the
    four criteria; OUT compares with the value D. Rows are sorted by weight once, so the first arc
    of a row to a vertex that is not closed is the lightest.

    Invariant: the distance of a closed vertex never falls. So no arc is relaxed twice, and the
    number of relaxations is the number of arcs that leave reached vertices. On USA-road-d.NY a
    round of OUT settles 65 vertices on average.

    Crauser, Mehlhorn, Meyer and Sanders, "A parallelization of Dijkstra's shortest path algorithm"
    (1998).
    """
    devices = _on_both("frontier_dijkstra", "FrontierDijkstra", criterion=criterion)
    return Algorithm(name, summary, "m relaxations, up to n rounds", devices=devices)


def _pull(storage: str, summary: str, complexity: str) -> Algorithm:
    """Bellman-Ford by min-plus products: distance = min(distance, Aᵀ ⊗ distance).

    In the semiring (min, +) a product with the transposed matrix relaxes every arc: each vertex
    takes the best of its in-arcs. Rounds are repeated until one changes nothing, at most n times
    without a reachable negative cycle. There is no worklist and no atomic, so the method pays if
    most distances change in most rounds. Storages: ``csr``, rows of in-arcs; ``ell``, equally many
    slots a vertex, refused for very uneven degrees; ``dense``, the matrix, kept in shared memory if
    it fits.
    """
    name, devices = f"{storage}-bellman-ford", _on_both("min_plus", "MinPlus", storage=storage)
    return Algorithm(name, summary, complexity, negative_weights=True, pads=True, devices=devices)


def _queue(name: str, summary: str, order: int) -> Algorithm:
    """Bellman-Ford with a queue on one core.

    Two of the three orders can take exponential time, so after 64 passes over the arcs the queue
    becomes first in, first out, and the bound of n·m holds for all.
    """
    devices = _on_core("QueueBellmanFord", order=order)
    return Algorithm(name, summary, "n·m", negative_weights=True, extends=True, devices=devices)


CSR_BELLMAN_FORD = _pull("csr", "Bellman-Ford by min-plus products, matrix in CSR", "n·m")
"""The method of a GPU for few vertices with many arcs each."""

SLF_LLL_BELLMAN_FORD = _queue(
    "queue-bellman-ford-slf-lll", "the same, and large label last", SLF_LLL
)
"""The method of one core for negative weights; measured, see docs/what-we-learned.md#methods."""

ALGORITHMS = (
    *(DELTA_STEPPING, BELLMAN_FORD, BREADTH_FIRST, CONTRACTION),
    _frontier("frontier-dijkstra", "Dijkstra in rounds, settled by D (OUT)", "out"),
    _frontier("frontier-dijkstra-in", "the same, by the lightest incoming arc (IN)", "in"),
    _frontier("frontier-dijkstra-in-out", "the same, by either", "in-out"),
    _frontier("reduction-dijkstra", "Dijkstra with ExtractMin by reduction", "min"),
    CSR_BELLMAN_FORD,
    _pull("ell", "the same, matrix in ELL", "n·m"),
    _pull("dense", "the same, dense matrix in shared memory", "n³"),
    # on one core, for comparison
    Algorithm(
        name="heap-dijkstra",
        summary="serial Dijkstra with a binary heap",
        complexity="m·log n",
        extends=True,
        devices=_on_core("HeapDijkstra"),
    ),
    Algorithm(
        name="open-set-dijkstra",
        summary="serial Dijkstra that looks through all open vertices",
        complexity="n²",
        extends=True,
        devices=_on_core("OpenSetDijkstra"),
    ),
    Algorithm(
        name="plain-bellman-ford",
        summary="serial Bellman-Ford, every arc in every round",
        complexity="n·m",
        negative_weights=True,
        extends=True,
        devices=_on_core("PlainBellmanFord", all_rounds=False),
    ),
    Algorithm(
        name="textbook-bellman-ford",
        summary="the same in n − 1 rounds, whatever they change",
        complexity="n·m, also where few rounds would do",
        negative_weights=True,
        extends=True,
        devices=_on_core("PlainBellmanFord", all_rounds=True),
    ),
    _queue("queue-bellman-ford", "serial Bellman-Ford with a queue", FIFO),
    _queue("queue-bellman-ford-slf", "the same, small label first", SLF),
    SLF_LLL_BELLMAN_FORD,
)

DENSE_SHARE = 0.25
"""Share of pairs with an arc from which a GPU relaxes everything at once."""

FEW_VERTICES, EVEN = 1 << 14, 4.0
"""With so few vertices, and `FULL_ROWS`, min-plus products win on a GPU if no vertex has more than
so many times the mean degree: its row is one warp's work."""


class MethodChoice(NamedTuple):
    """A method, and why that one."""

    method: Algorithm
    reason: str


def algorithms() -> dict[str, Algorithm]:
    """Every method by name."""
    return {method.name: method for method in ALGORITHMS}


def check_name(name: str) -> None:
    """Raise `InputError` for a name that is neither a method's nor ``auto``."""
    check_choice("algorithm", name, ("auto", *algorithms()))


def devices_of(name: str) -> Makers:
    """The devices that a method, or ``auto``, can use."""
    return NEAR_FAR if name == "auto" else algorithms()[name].devices


def algorithm(name: str, facts: Facts, device: str, ranks: int) -> MethodChoice:
    """Return the method called ``name``, checked against the graph; ``auto`` chooses."""
    check_name(name)
    if name == "auto":
        return automatic(facts, device, ranks)
    method = algorithms()[name]
    if not (facts.adds or method.extends):
        raise InputError(
            f"{name} adds weights, and the objective does not; use --algorithm delta-stepping"
        )
    if facts.has_negative and not method.negative_weights:
        raise InputError(
            f"{facts.name} has a negative weight ({facts.least}), which {name} cannot take; "
            "use --algorithm bellman-ford"
        )
    if facts.weight_type.kind == "f" and not method.float_weights:
        raise InputError(
            f"{facts.name} has {facts.weight_type} weights, whose sums {name} would round in "
            "another order; use --algorithm delta-stepping"
        )
    if method.unit_weights and not _is_unit(facts):
        raise InputError(
            f"{facts.name} has weights from {facts.least} to {facts.greatest}, but {name} takes "
            "every arc to weigh 1; use groute-py bfs to count arcs, or --algorithm delta-stepping"
        )
    if method.pads and _has_greatest_weight(facts):
        raise InputError(
            f"{facts.name} has a weight of {facts.greatest}, which to {name} is no arc; use "
            "--algorithm bellman-ford"
        )
    return MethodChoice(method, "asked for")


def automatic(facts: Facts, device: str, ranks: int) -> MethodChoice:
    """The method that is likely to be the fastest; see docs/what-we-learned.md#methods."""
    if not facts.adds:
        worst = "a path is as bad as its worst arc"
        why = worst if facts.operator is None else f"an arc extends a path by {facts.operator.text}"
        return MethodChoice(DELTA_STEPPING, why)
    if facts.has_negative and device == "cpu" and ranks == 1:
        return MethodChoice(SLF_LLL_BELLMAN_FORD, "a weight is negative, and one core solves")
    if facts.has_negative:
        return MethodChoice(BELLMAN_FORD, "a weight is negative")
    if _is_unit(facts) and facts.weight_type.kind != "f":
        return MethodChoice(BREADTH_FIRST, "every arc weighs 1")
    if device == "cuda" and ranks == 1 and facts.mean_degree >= DENSE_SHARE * facts.vertex_count:
        return MethodChoice(BELLMAN_FORD, "most pairs have an arc, so that few turns do")
    if device == "cuda" and ranks == 1 and _has_full_even_rows(facts):
        return MethodChoice(CSR_BELLMAN_FORD, "few vertices, each with many arcs")
    others = "all are floats" if _is_unit(facts) else "not all are 1"
    return MethodChoice(DELTA_STEPPING, f"no weight is negative, and {others}")


def _has_full_even_rows(facts: Facts) -> bool:
    small = facts.vertex_count <= FEW_VERTICES and facts.mean_degree >= FULL_ROWS
    even = 0 < facts.most_incoming <= EVEN * facts.mean_degree
    return small and even and not _has_greatest_weight(facts)


def _has_greatest_weight(facts: Facts) -> bool:
    return facts.greatest == np.iinfo(np.int64).max


def _is_unit(facts: Facts) -> bool:
    return facts.arc_count == 0 or (facts.least == 1 and facts.greatest == 1)
