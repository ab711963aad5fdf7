"""What ``auto`` takes, and the automatic Δ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from groute_py import Graph, generate
from groute_py.device.base import alike
from groute_py.engine.algorithms.delta_stepping import (
    GROWTH,
    PARALLELISM,
    automatic_buckets,
    automatic_delta,
)
from groute_py.engine.algorithms.methods import automatic
from groute_py.graph.facts import facts_of


@pytest.mark.parametrize(
    ("spec", "ranks", "chosen"),
    [
        ("random:5000,1242105", 1, "csr-bellman-ford"),
        ("random:5000,1242105", 2, "delta-stepping"),
        ("random:100,9000", 1, "bellman-ford"),
        ("random:10000,489476", 1, "delta-stepping"),
        ("road:60x60", 1, "delta-stepping"),
        ("random:5,0", 1, "bfs"),
    ],
)
def test_on_a_gpu(spec: str, ranks: int, chosen: str) -> None:
    choice = automatic(facts_of(generate(spec)), "cuda", ranks)
    assert choice.method.name == chosen
    assert choice.reason


def test_a_hub_keeps_the_worklist() -> None:
    even = generate("random:2000,400000")
    heads = np.where(np.arange(400000) % 5 == 0, 7, even.heads).astype(np.int32)
    uneven = Graph(even.offsets, heads, even.weights)
    assert automatic(facts_of(even), "cuda", 1).method.name == "csr-bellman-ford"
    assert automatic(facts_of(uneven), "cuda", 1).method.name == "delta-stepping"
    assert automatic(facts_of(even), "cpu", 1).method.name == "delta-stepping"


@pytest.mark.parametrize(
    ("scale", "degree", "ranks", "times"),
    [
        (24, 2, 1, 1.0),
        (24, 2, 4, 2.0),
        (21, 2, 1, 2.0),
        (10, 2, 1, 4.0),
        (24, 32, 1, 0.5),
        (24, 32, 4, 0.5),
        (20, 32, 1, 1.0),
        (20, 32, 4, 0.5),
    ],
)
def test_delta_grows_with_room(scale: int, degree: int, ranks: int, times: float) -> None:
    """In units of c · mean weight / mean degree."""
    size = {"vertex_count": 1 << scale, "arc_count": degree << scale}
    facts = replace(facts_of(generate("rmat:6")), mean=1000.0, **size)
    unit = PARALLELISM["cuda"] * 1000 / degree
    assert automatic_delta(facts, "cuda", ranks) == round(times * unit)


@pytest.mark.parametrize(
    ("scale", "degree", "device", "times"),
    [(24, 32, "cuda", 1), (20, 32, "cuda", 4), (24, 8, "cuda", GROWTH), (24, 32, "cpu", GROWTH)],
)
def test_buckets_grow_where_arcs_are_many(
    scale: int, degree: int, device: str, times: float
) -> None:
    """The first is Δ / 256 where the graph fills a GPU."""
    size = {"vertex_count": 1 << scale, "arc_count": degree << scale}
    facts = replace(facts_of(generate("rmat:6")), mean=1e6, **size)
    buckets = automatic_buckets(facts, device, 1)
    assert buckets.widest == automatic_delta(facts, device, 1)
    assert buckets.first == round(buckets.widest * times / GROWTH)
    assert (buckets == alike(buckets.widest)) == (times == GROWTH)


@pytest.mark.parametrize(("mean", "grow"), [(1e36, True), (1e46, False)])
def test_buckets_wider_than_a_float32_do_not_grow(mean: float, grow: bool) -> None:
    size = {"vertex_count": 1 << 24, "arc_count": 1 << 29}
    facts = replace(facts_of(generate("rmat:6")), mean=mean, **size)
    buckets = automatic_buckets(facts, "cuda", 1)
    assert (buckets.first < buckets.widest) == grow
