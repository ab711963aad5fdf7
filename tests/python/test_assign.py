"""Traffic assignment: held against Dijkstra's algorithm, known equilibria, and published flows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.assignment import BRAESS, TIMES, gap_of, loaded, missing, shortest
from support.graphs import random_graph
from support.skips import EMULATED, require_metis

import groute_py
from groute_py import (
    BPR,
    Assignment,
    Conical,
    Graph,
    GraphError,
    InputError,
    UserClass,
    assign,
    generate,
)
from groute_py.assignment.demand import trips_of
from groute_py.device.cpu.loading import CpuLoading
from groute_py.graph.hierarchy.separators.customizable import customizable

require_metis()


@pytest.mark.parametrize("seed", range(20))
def test_a_loading_takes_shortest_paths(seed: int, device: str) -> None:
    generator = np.random.default_rng(seed)
    graph = random_graph(int(generator.integers(2, 120)), int(generator.integers(1, 400)), seed, 9)
    costs = generator.choice([1.0, 2.0, 0.5, generator.random() + 0.1], graph.arc_count)
    if seed % 3 == 0:
        costs = generator.random(graph.arc_count) + 0.01
    pairs = generator.integers(0, graph.vertex_count, (2, 300))
    amounts = generator.integers(0, 5, 300).astype(float)
    trips = trips_of((*pairs, amounts), graph)
    load = loaded(device, graph, costs, trips.origins)
    assert (load.flows >= 0).all()
    is_loaded = pairs[0] != pairs[1]
    distances = np.array([shortest(graph, costs, v) for v in range(graph.vertex_count)])
    own = distances[pairs[0], pairs[1]]
    is_lost = is_loaded & ~np.isfinite(own)
    served = is_loaded & np.isfinite(own)
    assert load.lost == pytest.approx(amounts[is_lost].sum())
    assert load.cost == pytest.approx(own[served] @ amounts[served])
    # flows that cost as much as the distances, and balance, are on shortest paths
    assert costs @ load.flows == pytest.approx(load.cost)
    some = (*pairs[:, served], amounts[served])
    assert missing(graph, load.flows, some) < 1e-9 * max(amounts.sum(), 1)


def test_costs_of_zero(device: str) -> None:
    graph = random_graph(80, 300, 3, 9)
    costs = np.zeros(graph.arc_count)
    pairs = np.random.default_rng(1).integers(0, 80, (2, 200))
    load = loaded(device, graph, costs, trips_of((*pairs, np.ones(200)), graph).origins)
    assert load.cost == 0
    distances = np.array([shortest(graph, costs + 1, v) for v in range(80)])
    served = (pairs[0] != pairs[1]) & np.isfinite(distances[pairs[0], pairs[1]])
    assert missing(graph, load.flows, (*pairs[:, served], np.ones(served.sum()))) < 1e-9


def test_a_free_way_is_no_maze() -> None:
    """A way along arcs that cost nothing passes a vertex twice at most, not again and again."""
    graph = generate("road:40x40")
    hierarchy, costs = customizable(graph), np.zeros(graph.arc_count)
    for seed in range(10):
        ends = np.random.default_rng(seed).integers(0, graph.vertex_count, (2, 1))
        trips = trips_of((*ends, np.ones(1)), graph)
        assert CpuLoading(hierarchy).load(costs, trips.origins).flows.max() <= 8


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(200, 900, 5, 50)
    trips = trips_of(np.random.default_rng(2).random((200, 200)), graph)
    costs = graph.weights.astype(float) + 0.5
    answers = []
    for threads in (1, 2, 3):
        monkeypatch.setattr("groute_py.system.threads.thread_count", lambda t=threads: t)
        answers.append(CpuLoading(customizable(graph)).load(costs, trips.origins))
    assert all((answers[0].flows == other.flows).all() for other in answers)
    assert len({answer.cost for answer in answers}) == 1


def test_room_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.system.memory_limits.LITTLE", 0)
    monkeypatch.setattr("groute_py.system.memory_limits.available_bytes", lambda: 5_000)
    with pytest.raises(GraphError, match=r"trips on .* arcs of the hierarchy would take .* bytes"):
        CpuLoading(customizable(generate("road:5x5")))


def braess(device: str, *, with_bridge: bool) -> Assignment:
    """Six travellers; times 10 v, 50 + v and, on the bridge, 10 + v (Braess, 1968)."""
    free = np.array([1e-9, 50, 10 if with_bridge else 1e6, 50, 1e-9])
    times = BPR(free, free / [10, 1, 1, 1, 10], 1, 1)
    return assign(
        BRAESS, ([0], [3], [6.0]), times=times, gap=1e-10, iterations=10_000, device=device
    )


def test_braess(device: str) -> None:
    without, beside = braess(device, with_bridge=False), braess(device, with_bridge=True)
    assert without.volumes.round(4).tolist() == [3, 3, 0, 3, 3]
    assert without.summary()["total_time"] / 6 == pytest.approx(83)
    assert beside.volumes.round(4).tolist() == [4, 2, 2, 2, 4]
    assert beside.summary()["total_time"] / 6 == pytest.approx(92)


def test_an_open_graph() -> None:
    """It is assigned as by the function, and goes on to answer."""
    states, trips = [], ([0], [3], [6.0])
    expected = assign(BRAESS, trips, times=TIMES, gap=1e-6, iterations=3, method="msa")
    with groute_py.open(BRAESS, device="cpu", time_limit_s=60) as solver:
        choices: dict[str, Any] = {"times": TIMES, "gap": 1e-6, "method": "msa"}
        answer = solver.assign(trips, progress=states.append, iterations=3, **choices)
        assert answer.volumes.tolist() == expected.volumes.tolist()
        assert states == answer.history
        assert len(solver.assign(trips, time_limit_s=0, **choices).history) == 1
        assert solver.sssp(0).distances.tolist() == [0, 1, 1, 2]
        with pytest.raises(InputError, match="trips from 0 to 3 are -1"):
            solver.assign(([0], [3], [-1.0]), times=TIMES)
    backward = groute_py.open(BRAESS, device="cpu", reverse=True)
    with backward, pytest.raises(InputError, match="assign: open without reverse"):
        backward.assign(trips, times=TIMES)


@pytest.mark.parametrize("method", ["tfw", "bfw", "cfw", "fw", "msa"])
def test_methods_reach_the_same_flows(method: str) -> None:
    graph = random_graph(30, 160, 7, 20)
    times = BPR(graph.weights + 1.0, np.full(160, 40.0))
    pairs = np.random.default_rng(4).integers(0, 30, (2, 60))
    trips = (*pairs, np.full(60, 6.0))
    answer = assign(graph, trips, times=times, method=method, gap=1e-4, iterations=5000)
    assert answer.is_converged
    assert answer.gap <= 1e-4
    is_loaded = pairs[0] != pairs[1]
    some = (*pairs[:, is_loaded], np.full(is_loaded.sum(), 6.0))
    assert gap_of(graph, answer, some, answer.times) == pytest.approx(answer.gap, abs=1e-9)
    assert missing(graph, answer.volumes, some) < 1e-8


def test_increments(device: str) -> None:
    """All or nothing is one, and the next halves go where it is cheap by then."""
    two_roads = ([0, 2, 2], [1, 1], [1, 1])
    times = BPR([10.0, 20.0], [2, 4], power=1, b=1)
    for count, expected in ((1, [8, 0]), (2, [4, 4]), (4, [6, 2])):
        choices: dict[str, Any] = {"increments": count, "iterations": 1, "device": device}
        answer = assign(two_roads, ([0], [1], [8.0]), times=times, gap=0, **choices)
        assert answer.volumes.tolist() == expected


def test_derivatives_and_integrals() -> None:
    volumes = np.linspace(0.5, 30, 40)
    for times in (
        BPR(np.full(40, 3.0), np.full(40, 8.0), 0.4, 5),
        Conical(np.full(40, 3.0), np.full(40, 8.0), 6),
    ):
        step = 1e-5
        rise = (times.times(volumes + step) - times.times(volumes - step)) / (2 * step)
        assert np.allclose(rise, times.slopes(volumes), rtol=1e-6)
        area = (times.integrals(volumes + step) - times.integrals(volumes - step)) / (2 * step)
        assert np.allclose(area, times.times(volumes), rtol=1e-6)
        assert (times.integrals(np.zeros(40)) == 0).all()


class Steps:
    """Times of a user, who computes with NumPy: one more for each volume of 1."""

    def times(self, volumes: NDArray[np.float64]) -> NDArray[np.float64]:
        assert type(volumes) is np.ndarray
        return 5 + np.floor(volumes)

    def slopes(self, volumes: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones_like(volumes)

    def integrals(self, volumes: NDArray[np.float64]) -> NDArray[np.float64]:
        return 5 * volumes + np.floor(volumes) * (volumes - (np.floor(volumes) + 1) / 2)


def test_times_of_a_user(device: str) -> None:
    two_roads = ([0, 2, 2], [1, 1], [1, 1])
    trips = ([0], [1], [8.0])
    answer = assign(
        two_roads, trips, times=Steps(), method="msa", gap=0, iterations=2, device=device
    )
    assert sorted(answer.volumes.tolist()) == [4, 4]
    assert (answer.times == 9).all()
    assert answer.objective == 2 * (5 * 4 + 0 + 1 + 2 + 3)


def test_zones_are_not_driven_through(device: str) -> None:
    # the way over zone 1 is short; 0 and 1 are zones
    graph = Graph.from_arrays([0, 2, 3, 3, 4], [1, 3, 2, 2], [1, 5, 1, 5])
    times = BPR([1.0, 5, 1, 5], 100)
    over = assign(graph, ([0], [2], [4.0]), times=times, device=device)
    around = assign(graph, ([0], [2], [4.0]), times=times, first_through=2, device=device)
    assert over.volumes.round(6).tolist() == [4, 0, 4, 0]
    assert around.volumes.tolist() == [0, 4, 0, 4]
    trips = ([0, 1], [1, 2], [4.0, 2.0])
    ends_there = assign(graph, trips, times=times, first_through=2, device=device)
    assert ends_there.volumes.round(6).tolist() == [4, 0, 2, 0]


def test_classes_with_tolls(device: str) -> None:
    # the fast road has a toll, which one class feels and the other hardly does
    graph = Graph.from_arrays([0, 2, 2], [1, 1], [1, 1])
    columns = {"toll": np.array([10.0, 0.0]), "length": np.array([2.0, 7.0])}
    graph = Graph(graph.offsets, graph.heads, graph.weights, columns=columns)
    times = BPR([10.0, 15.0], [1e6, 1e6])
    trips = ([0], [1], [3.0])
    demand = {"poor": UserClass(trips, {"toll": 1.0}), "rich": UserClass(trips, {"toll": 0.1}, 2.0)}
    answer = assign(graph, demand, times=times, gap=1e-9, device=device)
    assert answer.class_flows.round(6).tolist() == [[0, 3], [3, 0]]
    assert answer.volumes.round(6).tolist() == [6, 3]
    assert answer.names == ["poor", "rich"]
    rows = answer.summary()
    assert (rows["poor_time"], rows["rich_time"]) == pytest.approx((3 * 15, 3 * 10))
    assert (rows["poor_length"], rows["rich_length"]) == pytest.approx((3 * 7, 3 * 2))


def test_a_warm_start(device: str) -> None:
    graph = random_graph(30, 160, 7, 20)
    times = BPR(graph.weights + 1.0, np.full(160, 40.0))
    trips = (*np.random.default_rng(4).integers(0, 30, (2, 60)), np.full(60, 6.0))
    first = assign(graph, trips, times=times, gap=1e-3, device=device)
    again = assign(graph, trips, times=times, gap=1e-3, start=first, device=device)
    assert len(again.history) == 1
    assert (again.volumes == first.volumes).all()
    with pytest.raises(InputError, match=r"start: flows at vertex .* miss the trips"):
        assign(graph, trips, times=times, start=first.volumes + 1)
    with pytest.raises(InputError, match="start: flows have shape"):
        assign(graph, trips, times=times, start=[1.0])


ON_RANKS = """
import sys
import numpy as np
from mpi4py import MPI
from groute_py import BPR, InputError, RunError, assign, generate
from groute_py.assignment.ranks import MAKERS

path, device = sys.argv[1:]
graph = generate("road:25x25")
trips = np.random.default_rng(3).random((250, 250))
times = BPR(graph.weights + 1.0, np.full(graph.arc_count, 400.0))
demand = {"cars": trips, "trucks": trips.T.copy()}
answer = assign(
    graph,
    demand,
    times=times,
    gap=0,
    iterations=4,
    skims=["cost", "time"],
    select={"a": np.array([[5, 6]])},
    device=device,
)
late = assign(graph, trips, times=times, gap=0, time_limit_s=0, device=device)
trips[3, 4] = -1
try:
    assign(graph, trips, times=times)
except InputError as error:
    assert error.on_all_ranks and "trips from 3 to 4 are -1.0" in str(error)
else:
    raise AssertionError
world = MPI.COMM_WORLD
if world.rank == world.size - 1:
    MAKERS[device](0, False).customize = lambda *_: 1 / 0
try:
    assign(graph, trips.T.clip(0), times=times, device=device)
except (RunError, ZeroDivisionError) as error:
    assert world.rank == world.size - 1 or f"rank {world.size - 1} failed" in str(error)
else:
    raise AssertionError
if answer is not None:
    assert len(late.history) == 1 and late.volumes.sum() > 0
    some = [answer.class_flows, *answer.selected.values(), *answer.matrices.values()]
    some.append(late.class_flows)
    np.save(path, np.concatenate([part.ravel() for part in some]))
else:
    assert late is None
"""


@pytest.mark.mpi
def test_the_same_flows_at_any_number_of_ranks(script: Any, tmp_path: Path, device: str) -> None:
    """To the last bit; and ranks agree about a time limit, wrong trips, and a rank that fails."""
    if device == "cuda" and EMULATED:
        pytest.skip("a script has no emulated GPU")
    flows = []
    for ranks in (1, 2, 3, 4):
        path = tmp_path / f"{ranks}.npy"
        done = script(ON_RANKS, ranks, path, device)
        assert done.returncode == 0, done.stderr
        flows.append(np.load(path))
    assert len(flows[0]) > 6 * 250**2
    assert all((flows[0] == other).all() for other in flows[1:])


def test_trips_without_a_way_and_within_zones(tmp_path: Path, device: str) -> None:
    graph = Graph.from_arrays([0, 1, 1, 1], [1], [1])
    trips = ([0, 0, 1, 1], [1, 2, 1, 0], [3.0, 4, 5, 0])
    answer = assign(graph, trips, times=BPR([2.0], 10), device=device)
    assert (answer.trips, answer.unassigned, answer.within_zones) == (12, 4, 5)
    assert answer.volumes.tolist() == [3]
    answer.save(tmp_path / "flows.csv")
    with (tmp_path / "flows.csv").open() as file:
        [row] = csv.DictReader(file)
    assert [row[title] for title in ("tail", "head", "volume")] == ["0", "1", "3.0"]
    assert float(row["saturation"]) == pytest.approx(0.3)


def test_no_arcs_and_no_trips(device: str) -> None:
    graph = Graph.from_arrays([0, 0, 0], [], np.empty(0, np.int64))
    answer = assign(graph, ([0], [1], [2.0]), times=BPR(np.empty(0), 1), device=device)
    assert (answer.unassigned, answer.gap) == (2, 0)
    assert assign(BRAESS, ([], [], []), times=TIMES, device=device).volumes.tolist() == [0] * 5
    alone = Graph.from_arrays([0, 0], [], np.empty(0, np.int64))
    answer = assign(alone, ([0], [0], [2.0]), times=BPR(np.empty(0), 1), device=device)
    assert (answer.trips, answer.within_zones, answer.gap) == (2, 2, 0)


def test_a_start_beside_unassigned_trips() -> None:
    roads, trips = ([0, 2, 3, 4, 4, 4], [1, 2, 3, 3], np.ones(4)), ([0, 0], [3, 4], [6.0, 2.0])
    times = BPR(np.array([1.0, 2, 2, 1]), 2.0)
    first = assign(roads, trips, times=times)
    again = assign(roads, trips, times=times, start=first)
    assert (again.unassigned, again.volumes.tolist()) == (2, first.volumes.tolist())


def test_a_start_of_other_trips_between_the_same_ends() -> None:
    roads = [0, 2, 4, 4, 4], [2, 3, 2, 3], np.ones(4)
    times = BPR(np.array([1.0, 10, 10, 1]), 100.0)
    cheap = assign(roads, ([0, 1], [2, 3], [5.0, 5.0]), times=times)
    with pytest.raises(InputError, match="start: these flows cost less than the trips"):
        assign(roads, ([0, 1], [3, 2], [5.0, 5.0]), times=times, start=cheap)


def test_a_start_without_trips() -> None:
    answer = assign(BRAESS, ([0], [0], [8.0]), times=TIMES, start=np.zeros(5))
    assert (answer.volumes.tolist(), answer.within_zones) == ([0] * 5, 8)


def test_a_power_of_zero_is_a_constant() -> None:
    assert BPR([2.0], 0, 0.5, 0).times(np.array([7.0])).tolist() == [3.0]


def test_a_time_limit_keeps_the_flows_of_then() -> None:
    answer = assign(BRAESS, ([0], [3], [6.0]), times=TIMES, gap=0, time_limit_s=0)
    assert len(answer.history) == 1
    assert not answer.is_converged
    assert answer.volumes.sum() > 0
