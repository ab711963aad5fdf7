"""Traffic assignment on a GPU: the same trees as on the CPU, exact sums of flows, and memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.graphs import random_graph
from support.skips import EMULATED, needs_gpu, require_metis

from groute_py import BPR, Conical, Graph, GraphError, UserClass, assign, customize, generate
from groute_py.assignment.demand import trips_of
from groute_py.assignment.links import CpuLinks, links_of
from groute_py.assignment.network import network_of
from groute_py.device.cpu.loading import CpuLoading
from groute_py.device.loading import LANES, PARTS, Origins
from groute_py.graph.arrays import host_array
from groute_py.graph.hierarchy.separators.customizable import CustomizableHierarchy, customizable

require_metis()

pytestmark = needs_gpu


def on_gpu(hierarchy: CustomizableHierarchy) -> Any:
    from groute_py.device.cuda.assignment.loading import CudaLoading

    return CudaLoading(hierarchy, 0)


def everywhere(graph: Graph, seed: int) -> Origins:
    """Trips of amounts that are no binary fractions, from every vertex."""
    generator = np.random.default_rng(seed)
    pairs = generator.integers(0, graph.vertex_count, (2, 6 * graph.vertex_count))
    return trips_of((*pairs, generator.random(pairs.shape[1])), graph).origins


def costs_of(graph: Graph, seed: int) -> NDArray[np.float64]:
    """Costs with ties, which sum up exactly, and zeros; or with neither."""
    generator = np.random.default_rng(seed)
    if seed % 2:
        return generator.random(graph.arc_count)
    return generator.choice([0.0, 0.5, 1.0, 2.0], graph.arc_count)


STAR = [0, *range(99, 198), 197]
"""Offsets of arcs from 0 to all others, and back from all but the last."""

GRAPHS = {
    "road": lambda: generate("road:14x14"),
    "random": lambda: random_graph(90, 300, 3, 9),
    "star": lambda: Graph.from_arrays(STAR, [*range(1, 100), *[0] * 98], [1] * 197),
    "complete": lambda: random_graph(40, 1500, 4, 9),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("is_narrow", [True, False])
def test_flows_are_those_of_the_cpu(
    name: str, seed: int, is_narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where each level is a launch, and where there is room for one pack of origins only."""
    from groute_py.device.cuda.assignment import loading
    from groute_py.device.cuda.hierarchy import customizer

    if not is_narrow:
        for module, limit in (
            (loading, "NARROW_VERTICES"),
            (loading, "NARROW_ARCS"),
            (customizer, "NARROW_TRIANGLES"),
        ):
            monkeypatch.setattr(module, limit, 0)
        monkeypatch.setattr(loading, "SHARE_OF_ROOM", 1e-9)
    graph = GRAPHS[name]()
    hierarchy, trips = customizable(graph), everywhere(graph, seed)
    there, here = CpuLoading(hierarchy), on_gpu(hierarchy)
    for round_seed in (seed, seed + 2):
        costs = costs_of(graph, round_seed)
        expected = there.load(costs, trips)
        here.customize(costs)
        result = here.unpack(trips, [here.parts(trips, range(PARTS))])
        most = trips.trips.sum()
        assert np.abs(host_array(result.flows) - expected.flows).max() < 1e-12 * most
        assert result.cost == pytest.approx(expected.cost, rel=1e-12)
        assert result.lost == pytest.approx(expected.lost, rel=1e-12)


def test_flows_are_the_same_at_any_number_of_ranks() -> None:
    """To the last bit, in each run, and where ranks load some of the trips of their own origins."""
    graph = random_graph(150, 500, 8, 9)
    hierarchy, trips, costs = customizable(graph), everywhere(graph, 1), costs_of(graph, 1)
    part_of = np.repeat(np.arange(len(trips.origins)) // LANES % PARTS, np.diff(trips.starts))
    results = []
    for count in (1, 1, 2, 3):
        loadings, shares = [on_gpu(hierarchy) for _ in range(count)], list[list[Any]]()
        for rank, loading in enumerate(loadings):
            loading.customize(costs)
            is_own = (part_of % count == rank) & (trips.trips < 0.3)
            some = trips._replace(trips=np.where(is_own, trips.trips, 0.0))
            numbers = range(rank, PARTS, count)
            shares.append([loading.parts(own, numbers).copy() for own in (trips, some)])
        for own in zip(*shares, strict=True):
            load = loadings[0].unpack(trips, [*map(host_array, own)] if count > 1 else own)
            results.append((host_array(load.flows).tobytes(), load.cost, load.lost))
    assert len({*results[::2]}) == len({*results[1::2]}) == 1
    assert results[0] != results[1]


def test_no_unit_of_trips_is_lost() -> None:
    """Flows of a cycle balance exactly, in units."""
    graph = Graph.from_arrays([0, 1, 2, 3], [1, 2, 0], [1, 1, 1])
    trips = trips_of(([0, 1, 2, 2], [2, 0, 0, 1], [0.1, 1 / 3, 7.7, 1e-9]), graph).origins
    loading = on_gpu(customizable(graph))
    loading.customize(np.zeros(3))
    share = loading.parts(trips, range(PARTS))
    units = 2.0**53  # 8.1… trips take 4 bits before the point
    far, back, home, around = (round(some * units) for some in trips.trips.tolist())
    expected = [far + around, far + back, back + home + around]
    assert host_array(share)[:3].tolist() == expected
    flows = host_array(loading.unpack(trips, [share]).flows)
    assert flows.tolist() == [some / units for some in expected]


TIMES = {
    "bpr": lambda free: BPR(free, free + 3, 0.3, 1 + free % 5),
    "conical": lambda free: Conical(free, free + 3, 2 + free % 3),
}


@pytest.mark.parametrize("kind", TIMES)
def test_sums_over_links(kind: str) -> None:
    graph = random_graph(40, 700, 1, 20)
    generator = np.random.default_rng(2)
    graph = graph.changed(columns={"toll": generator.integers(0, 9, 700).astype(float)})
    trips = ([0], [1], [3.0])
    demand = {"cars": UserClass(trips, {"toll": 0.3}), "trucks": UserClass(trips, pce=2.5)}
    network = network_of(graph, demand, TIMES[kind](generator.random(700) * 9), None)
    here, there = links_of(network, "cuda"), links_of(network, "cpu")
    assert not isinstance(here, CpuLinks)
    flows, target, other, *more = generator.random((5, 2, 700)) * 20
    points = [target, other, *more]
    own = [here.own(some) for some in (flows, *points)]
    assert np.allclose(host_array(here.costs(own[0])), there.costs(flows), rtol=1e-13)
    assert np.allclose(here.sums(), there.sums(), rtol=1e-13)
    for count in (1, 2, 3, 4):
        products = here.products(own[0], own[1 : count + 1])
        assert np.allclose(products, there.products(flows, points[:count]), rtol=1e-11)
        shares = np.arange(1, count + 1) / sum(range(count + 1))
        whole = host_array(here.mix(shares, own[1 : count + 1]))
        assert np.allclose(whole, np.tensordot(shares, points[:count], 1), rtol=1e-14)
        assert np.allclose(whole, there.mix(shares, points[:count]), rtol=1e-14)
    for end in (target, other, 0 * flows, flows):
        step = here.least(own[0], here.own(end))
        assert step == pytest.approx(there.least(flows, end), abs=1e-10)
        assert 0 <= step <= 1


@pytest.mark.parametrize("method", ["tfw", "bfw", "cfw", "fw", "msa"])
def test_an_assignment_is_that_of_the_cpu(method: str) -> None:
    graph = random_graph(30, 160, 7, 20)
    times = BPR(graph.weights + 1.0, np.full(160, 40.0))
    trips = (*np.random.default_rng(4).integers(0, 30, (2, 60)), np.full(60, 6.3))
    here, there = (
        assign(graph, trips, times=times, method=method, gap=0, iterations=9, device=device)
        for device in ("cuda", "cpu")
    )
    assert np.allclose(here.volumes, there.volumes, rtol=1e-7, atol=1e-7)
    assert np.allclose([s.gap for s in here.history], [s.gap for s in there.history], rtol=1e-6)
    assert here.objective == pytest.approx(there.objective, rel=1e-12)


def test_too_many_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.device.cuda.hierarchy.customizer.ANCESTOR_BYTES", 1 << 16)
    with pytest.raises(GraphError, match=r"levels, and .* takes at most .; use device='cpu'"):
        customize("road:9x9", device="cuda")
    with pytest.raises(GraphError, match=r"levels, and .* takes at most .; use device='cpu'"):
        on_gpu(customizable(generate("road:9x9")))


@pytest.mark.skipif(not EMULATED, reason="memory is counted in emulation")
def test_memory_is_asked_for() -> None:
    import cupy as cp

    graph = generate("road:20x20")
    hierarchy, trips = customizable(graph), everywhere(graph, 0)
    memory = cp.memory  # type: ignore[attr-defined, unused-ignore]
    whole = memory.size
    try:
        memory.size = memory.taken + 5_000
        with pytest.raises(GraphError, match=r"a customizable hierarchy would take .* bytes"):
            on_gpu(hierarchy)
        memory.size = whole
        loading = on_gpu(hierarchy)
        loading.customize(np.ones(graph.arc_count))
        memory.size = memory.taken + 50_000
        with pytest.raises(GraphError, match=r"trees of 32 origins, and the trips would take"):
            loading.parts(trips, range(PARTS))
    finally:
        memory.size = whole
