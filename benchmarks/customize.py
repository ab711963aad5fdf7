"""``python -m benchmarks --customize``: new weights, pairs and matrices in an order by separators.

    python -m benchmarks --customize --device cpu
    python -m benchmarks --customize --device cuda --case NY/100000000 --case tiles:4x5x30:NW

A case is ``GRAPH[/N]`` with N random pairs. Weights are those of the graph times a random factor
from 0.5 to 2, another one for each arc. The pairs from some sources are verified first, and after
all else once more, with the weights that are left then.

``order_s`` are the seconds of `groute_py.customize`; those below are medians of repeated calls.
``update_s``: `Customized.update` with weights that lie on the device; ``upload_s``: with NumPy's.
``first_pair_s``, ``labels_s``: one pair, and `MANY` on the device, after new weights; many fill
labels. ``some_s``: an update of `SOME` arcs. ``pairs_s``: N pairs, from and to the device;
``host_pairs_s``, ``few_s``, ``many_s``: those, 10,000 and 1,000,000 of NumPy's arrays to NumPy's
array. ``matrix_s``: K × K distances in host memory. ``row_s``, ``rows_s``: from one source, and
from `ROWS`, to all vertices, on the device; as many as give `MOST_DISTANCES`, at most.
``paths_s``: the paths of `SOME` pairs.

``routingkit``: seconds of RoutingKit (``routingkit-cch``) on one core with the same order: its
customization, and its 10,000 pairs, a call each.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attempts import Record
from benchmarks.cases import KINDS
from benchmarks.program import Program
from benchmarks.reference import SERIAL_UP_TO, right_distances
from benchmarks.tiles import Tiles
from groute_py import Customized, Graph, InputError, VerificationError, customize
from groute_py.comm.base import Channel, SoloChannel
from groute_py.device.customization import MAKERS
from groute_py.device.registry import kind_of
from groute_py.graph.hierarchy.separators.customizable import customizable
from groute_py.graph.hierarchy.separators.order import OneOrder

SETS = {"cuda": ["NY/100000000", "FLA/100000000", "NW/100000000"], "cpu": ["NY/100000"]}
"""The cases without ``--case``, by device."""

FEW, MANY, SOME, CHECKED, SEED = 10_000, 1_000_000, 1_000, 8, 7
"""Pairs of NumPy's arrays; arcs with new weights, and paths; sources that are verified, one if a
solve takes long; of what is drawn."""

ROWS = {"cuda": 256, "cpu": 16}
"""Sources of rows, by device."""

MOST_DISTANCES = 1 << 30
"""Distances in rows from several sources, at most."""

SIDE = {"cuda": 10_000, "cpu": 1_000}
"""Rows and columns of the matrix, by device; at most the vertices."""


@dataclass(frozen=True)
class Case:
    """One case to measure.

    Attributes:
        name: its text.
        graph: a kind of `KINDS`, or the spec of a generated graph.
        count: pairs on the device.
    """

    name: str
    graph: str
    count: int

    @classmethod
    def parse(cls, text: str) -> Case:
        """Parse the text of a case.

        Raises:
            InputError: there is no such case.
        """
        found = re.fullmatch(r"(([A-Za-z]+)[^/]*)(?:/(\d+))?", text)
        if not found or found[2] not in KINDS:
            raise InputError(f"case {text!r} is unknown; a case is GRAPH[/N]")
        return cls(text, found[1], int(found[3] or MANY))


def _measure(channel: Channel, case: Case, device: str, repeat: int) -> Record:
    file = KINDS[case.graph.partition(":")[0]].load(case.graph)
    graph = Graph(file.offsets, file.heads, file.weights, name=file.name)  # vertices from 0
    random = np.random.default_rng(SEED)
    weights = [_weights(graph, random) for _ in range(2)]
    customize("road:9x9", device=device).matrix([0], [1])  # compiles
    begun = time.perf_counter()
    town = _customized(graph.with_weights(weights[0]), device)
    order_s = time.perf_counter() - begun
    _verify(town, graph.with_weights(weights[0]), random)
    place = _placed if device == "cuda" else np.asarray
    clock = Clock(device, repeat)
    there = [place(some) for some in weights]
    ends = random.integers(0, graph.vertex_count, (2, MANY))
    on_host = [_drawn(random, graph, case.count) for _ in range(2)]
    few, ends_there = ends[:, :FEW], [place(some) for some in ends]
    on_device = [place(some) for some in on_host]
    rows = min(ROWS[device], MOST_DISTANCES // graph.vertex_count + 1)
    begins = place(_drawn(random, graph, rows))
    side = min(SIDE[device], graph.vertex_count)
    arcs = random.choice(graph.arc_count, min(SOME, graph.arc_count), replace=False)
    changes = [some[arcs] for some in weights]
    turns = iter(range(10**9))
    record: Record = {
        "vertices": graph.vertex_count,
        "arcs_of_graph": graph.arc_count,
        **town.statistics,
        "order_s": order_s,
        "update_s": clock(lambda: town.update(there[next(turns) % 2])),
        "upload_s": clock(lambda: town.update(weights[next(turns) % 2])),
        "first_pair_s": clock(lambda: town.pairs(*ends[:, :1]), lambda: town.update(there[0])),
        "labels_s": clock(lambda: town.pairs(*ends_there), lambda: town.update(there[0])),
        "pairs": case.count,
        "pairs_s": clock(lambda: town.pairs(*on_device)),
        "host_pairs_s": clock(lambda: town.pairs(*on_host)),
        "few_s": clock(lambda: town.pairs(*few)),
        "many_s": clock(lambda: town.pairs(*ends)),
        "matrix_side": side,
        "matrix_s": clock(lambda: town.matrix(ends[0, :side], ends[1, :side])),
        "rows": rows,
        "row_s": clock(lambda: town.rows(begins[:1])),
        "rows_s": clock(lambda: town.rows(begins)),
        "paths_s": clock(lambda: town.paths(*ends[:, :SOME])),
        "some_s": clock(lambda: town.update(changes[next(turns) % 2], arcs=arcs)),
    }
    town.update(weights[1])
    town.update(changes[0], arcs=arcs)
    weights[1][arcs] = changes[0]
    _verify(town, graph.with_weights(weights[1]), random)
    if (beside := _routingkit(graph, town, weights[1], few, repeat)) is not None:
        record["routingkit"] = beside
    return record


def _customized(graph: Graph, device: str) -> Customized:
    """`customize`; copies of a topology are in its order, since METIS does not find it again."""
    if not graph.name.startswith("tiles"):
        return customize(graph, device=device)
    begun, orders = time.monotonic(), OneOrder(Tiles.of(graph.name).order())
    hierarchy, kind = customizable(graph, orders), kind_of(device, MAKERS)
    return Customized(SoloChannel(), graph, hierarchy, kind, time.monotonic() - begun)


class Clock:
    """Medians of the seconds of calls, on the device too.

    Args:
        device: ``cpu`` or ``cuda``.
        repeat: calls; one more warms up.
    """

    def __init__(self, device: str, repeat: int) -> None:
        self._repeat, self._finish = repeat, _synchronize if device == "cuda" else _nothing

    def __call__(self, run: Callable[[], Any], before: Callable[[], Any] | None = None) -> float:
        """The seconds of a call; ``before`` is called each time before it."""
        seconds = []
        for _ in range(self._repeat + 1):
            if before is not None:
                before()
            self._finish()
            begun = time.perf_counter()
            run()
            self._finish()
            seconds.append(time.perf_counter() - begun)
        return statistics.median(seconds[1:])


def _nothing() -> None:
    """A core has done its work when it returns."""


def _synchronize() -> None:
    from cupy.cuda import runtime

    runtime.deviceSynchronize()


def _placed(values: NDArray[Any]) -> Any:
    import cupy

    return cupy.asarray(values)


def _weights(graph: Graph, random: np.random.Generator) -> NDArray[np.int32]:
    factors = random.uniform(0.5, 2, graph.arc_count)
    return np.maximum(graph.weights * factors, 1).astype(np.int32)


def _drawn(random: np.random.Generator, graph: Graph, count: int) -> NDArray[np.int32]:
    return random.integers(0, graph.vertex_count, count, np.int32)


def _verify(town: Customized, graph: Graph, random: np.random.Generator) -> None:
    """Raise `VerificationError` if a distance from one of some sources is wrong."""
    every = np.arange(graph.vertex_count)
    checked = CHECKED if graph.arc_count <= SERIAL_UP_TO else 1
    for source in random.integers(0, graph.vertex_count, checked).tolist():
        right = right_distances(graph, source)
        pairs = town.pairs(np.full_like(every, source), every)
        rows = town.matrix([source], every)[0], town.rows([source])[0]
        if not all((some == right).all() for some in (pairs, *rows)):
            raise VerificationError(f"distances from {source} differ from Dijkstra's")


def _routingkit(
    graph: Graph, town: Customized, weights: NDArray[Any], ends: NDArray[Any], repeat: int
) -> Record | None:
    """RoutingKit's seconds on one core, and that its answers are ours; None if not installed."""
    begun = time.perf_counter()
    try:
        routingkit, cch = routingkit_cch(graph, town)
    except ImportError:
        return None
    order_s = time.perf_counter() - begun
    given = weights.tolist()
    metric = routingkit.CCHMetric(cch, given)
    clock = Clock("cpu", repeat)
    customize_s = clock(lambda: metric.reset(given))
    query, pairs = routingkit.CCHQuery(metric), list(zip(*ends.tolist(), strict=True))
    theirs = [query.run(*pair).distance for pair in pairs]
    if theirs != [None if d == 2**63 - 1 else d for d in town.pairs(*ends).tolist()]:
        raise VerificationError("distances of pairs differ from RoutingKit's")
    few_s = clock(lambda: [query.run(*pair).distance for pair in pairs])
    return {"order_s": order_s, "customize_s": customize_s, "few_s": few_s}


def routingkit_cch(graph: Graph, town: Customized) -> tuple[Any, Any]:
    """The module, and its hierarchy without weights in the order of another one.

    Raises:
        ImportError: it is not installed.
    """
    import routingkit_cch as routingkit

    order = np.argsort(-town.hierarchy.numbers).tolist()
    return routingkit, routingkit.CCH(order, graph.tails().tolist(), graph.heads.tolist(), False)


def _shown(record: Record) -> str:
    beside = record.get("routingkit")
    other = (
        f"; RoutingKit {1e3 * beside['customize_s']:.1f} and {1e3 * beside['few_s']:.1f} ms"
        if beside
        else ""
    )
    return (
        f"order {record['order_s']:.1f} s, weights {1e3 * record['update_s']:.2f} ms, first pair "
        f"{1e3 * record['first_pair_s']:.2f} ms, {record['pairs'] / record['pairs_s'] / 1e6:,.2f} "
        f"M pairs/s, {FEW:,} pairs {1e3 * record['few_s']:.2f} ms{other}"
    )


PROGRAM: Program[Case] = Program("customize", Case.parse, SETS, _measure, _shown)
