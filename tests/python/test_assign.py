"""Traffic assignment: held against Dijkstra's algorithm, known equilibria, and published flows."""

from __future__ import annotations

import csv
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from support.graphs import random_graph
from support.skips import EMULATED

from groute_py import (
    BPR,
    Assignment,
    Conical,
    FormatError,
    Graph,
    GraphError,
    InputError,
    UserClass,
    assign,
    generate,
    read_graph,
)
from groute_py.assignment.demand import trips_of
from groute_py.assignment.ranks import MAKERS
from groute_py.device.cpu.loading import CpuLoading
from groute_py.device.loading import PARTS, Load, Origins
from groute_py.graph.arrays import host_array
from groute_py.graph.hierarchy.separators.customizable import customizable

pytest.importorskip("pymetis")

BRAESS = ([0, 2, 4, 5, 5], [1, 2, 2, 3, 3], [1, 1, 1, 1, 1])
"""From 0 to 3 by 1 or by 2, and a bridge from 1 to 2."""

TIMES = BPR(np.ones(5), 1)


def loaded(device: str, graph: Graph, costs: NDArray[np.float64], trips: Origins) -> Load:
    """The outcome of one loading, with flows on the host."""
    loading: Any = MAKERS[device](0, False)
    own = loading(customizable(graph), 0)
    own.customize(costs)
    load: Load = own.unpack(trips, [own.parts(trips, range(PARTS))])
    return load._replace(flows=host_array(load.flows))


def shortest(graph: Graph, costs: NDArray[np.float64], origin: int) -> NDArray[np.float64]:
    """Distances by SciPy; no cost may be 0, and of parallel arcs the cheapest counts."""
    matrix = np.full((graph.vertex_count,) * 2, np.inf)
    np.minimum.at(matrix, (graph.tails(), graph.heads), costs)
    rows, columns = np.nonzero(np.isfinite(matrix))
    sparse = csr_array((matrix[rows, columns], (rows, columns)), shape=matrix.shape)
    return np.asarray(dijkstra(sparse, indices=origin))


def gap_of(graph: Graph, answer: Assignment, trips: Any, costs: NDArray[np.float64]) -> float:
    """The relative gap from first principles."""
    origins, destinations, amounts = trips
    least = 0.0
    for origin in np.unique(origins):
        some = origins == origin
        least += float(amounts[some] @ shortest(graph, costs, origin)[destinations[some]])
    cost = float(costs @ answer.class_flows[0])
    return (cost - least) / cost


def missing(graph: Graph, flows: NDArray[np.float64], trips: Any) -> float:
    """By how much flows miss the trips at the worst vertex."""
    origins, destinations, amounts = trips
    count = graph.vertex_count
    balance = np.bincount(graph.tails(), flows, count) - np.bincount(graph.heads, flows, count)
    balance -= np.bincount(origins, amounts, count) - np.bincount(destinations, amounts, count)
    return float(np.abs(balance).max())


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


@pytest.mark.parametrize("method", ["bfw", "cfw", "fw", "msa"])
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
    graph = Graph(
        graph.offsets, graph.heads, graph.weights, columns={"toll": np.array([10.0, 0.0])}
    )
    times = BPR([10.0, 15.0], [1e6, 1e6])
    trips = ([0], [1], [3.0])
    demand = {"poor": UserClass(trips, {"toll": 1.0}), "rich": UserClass(trips, {"toll": 0.1}, 2.0)}
    answer = assign(graph, demand, times=times, gap=1e-9, device=device)
    assert answer.class_flows.round(6).tolist() == [[0, 3], [3, 0]]
    assert answer.volumes.round(6).tolist() == [6, 3]
    assert answer.names == ["poor", "rich"]


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


def walked(
    graph: Graph,
    costs: NDArray[np.float64],
    trips: Any,
    chosen_links: set[int],
    zones: NDArray[np.int64],
) -> tuple[NDArray[np.float64], ...]:
    """Flows, flows and trips through some links, and sums of weights, by SciPy's trees."""
    place = np.full((graph.vertex_count,) * 2, -1)
    order = np.argsort(-costs)  # of parallel links the cheapest is written last
    place[graph.tails()[order], graph.heads[order]] = order
    matrix = csr_array((costs[place[place >= 0]], np.nonzero(place >= 0)), shape=place.shape)
    _, before = dijkstra(matrix, return_predecessors=True)
    flows, through = np.zeros((2, graph.arc_count))
    chosen, sums = np.zeros((2, len(zones), len(zones)))
    amounts = np.zeros_like(sums)
    at = [np.searchsorted(zones, ends) for ends in trips[:2]]
    np.add.at(amounts, (at[0], at[1]), trips[2])
    for row, origin in enumerate(zones.tolist()):
        for column, end in enumerate(zones.tolist()):
            links, vertex = [], end
            while before[origin, vertex] >= 0:
                links.append(place[before[origin, vertex], vertex])
                vertex = before[origin, vertex]
            sums[row, column] = graph.weights[links].sum()
            if row != column:
                flows[links] += amounts[row, column]
            if chosen_links.intersection(links):
                chosen[row, column] = amounts[row, column]
                through[links] += amounts[row, column]
    return flows, through, chosen, sums


@pytest.mark.parametrize("seed", range(4))
def test_figures_of_paths(seed: int, device: str) -> None:
    """The average of three loadings: of the empty network, and by the averages before."""
    graph = random_graph(40, 260, seed, 20)
    graph = graph.changed(columns={"weight": graph.weights})
    generator = np.random.default_rng(seed)
    times = BPR(generator.random(graph.arc_count) + 1, np.full(graph.arc_count, 9.0))
    trips = (*generator.integers(0, 40, (2, 150)), generator.integers(0, 5, 150).astype(float))
    zones = np.unique(np.stack(trips[:2])[:, (trips[0] != trips[1]) & (trips[2] > 0)])
    busy = assign(graph, trips, times=times, method="msa", iterations=3, gap=0, device=device)
    link = int(busy.volumes.argmax())
    ends = int(graph.tails()[link]), int(graph.heads[link])
    parallel = np.flatnonzero((graph.tails() == ends[0]) & (graph.heads == ends[1]))
    answer = assign(
        graph,
        trips,
        times=times,
        method="msa",
        iterations=3,
        gap=0,
        skims=["cost", "weight"],
        select={"busy": [ends]},
        device=device,
    )
    assert np.allclose(answer.volumes, busy.volumes, rtol=1e-12)
    assert (answer.zones == zones).all()
    averages = [np.zeros(graph.arc_count)]
    for number in range(3):
        new = walked(graph, times.times(averages[0]), trips, {*parallel.tolist()}, zones)
        averages = [
            (number * old + more) / (number + 1)
            for old, more in zip(averages if number else new, new, strict=True)
        ]
    ours = (
        answer.volumes,
        answer.selected["busy"],
        answer.matrices["trips_busy"],
        answer.matrices["weight"],
    )
    reached = np.isfinite(answer.matrices["cost"])
    for mine, wanted in zip(ours, averages, strict=True):
        some = reached if mine.shape == reached.shape else np.ones(mine.shape, np.bool_)
        assert np.allclose(mine[some], wanted[some], rtol=1e-9, atol=1e-9)
    assert np.allclose(answer.selected["busy"][parallel], answer.volumes[parallel])
    distances = np.stack([shortest(graph, answer.times, zone)[zones] for zone in zones])
    assert np.allclose(answer.matrices["cost"], distances)


def test_skims_of_an_equilibrium(tmp_path: Path) -> None:
    """Sums over trips are those over links; a class that pays a toll takes longer and pays less."""
    graph = random_graph(60, 400, 2, 20)
    generator = np.random.default_rng(5)
    columns = {"toll": generator.integers(0, 9, 400).astype(float), "length": graph.weights}
    graph = graph.changed(columns=columns)
    matrix = generator.random((30, 30))
    demand = {"poor": UserClass(matrix, {"toll": 3.0}), "rich": UserClass(matrix)}
    answer = assign(
        graph,
        demand,
        times=BPR(graph.weights + 1.0, np.full(400, 40.0)),
        gap=1e-6,
        first_through=30,
        skims=["time", "cost", "length", "toll"],
    )
    assert answer.is_converged
    skims = answer.matrices
    apart = ~np.eye(30, dtype=np.bool_) & np.isfinite(skims["cost_poor"])
    for number, name in enumerate(demand):
        own = answer.class_flows[number]
        for column, values in columns.items():
            total = (matrix * skims[f"{column}_{name}"])[apart].sum()
            assert total == pytest.approx(own @ values, rel=1e-9)
        spent = (matrix * skims[f"time_{name}"])[apart].sum()
        assert spent == pytest.approx(own @ answer.times, rel=1e-5)
    assert skims["toll_poor"][apart].sum() < skims["toll_rich"][apart].sum()
    assert (skims["time_poor"].diagonal() == 0).all()
    answer.save_matrices(tmp_path / "skims.npz")
    with np.load(tmp_path / "skims.npz") as saved:
        assert set(saved) == {"zones", *skims}
        assert (saved["toll_rich"] == skims["toll_rich"]).all()


def test_omx(tmp_path: Path) -> None:
    """Demand and matrices go through files that openmatrix reads and writes."""
    omx = pytest.importorskip("openmatrix")
    with omx.open_file(str(tmp_path / "trips.omx"), "w") as file:
        file["am"], file["pm"] = np.array([[0.0, 2], [4, 0]]), np.zeros((2, 2))
        file.create_mapping("zones", [3, 0])
    demand = tmp_path / "trips.omx:am"
    answer = assign(BRAESS, str(demand), times=TIMES, skims=["time"], select={"late": [(2, 3)]})
    assert (answer.trips, answer.unassigned) == (6, 2)
    answer.save_matrices(tmp_path / "out.omx")
    with omx.open_file(str(tmp_path / "out.omx")) as file:
        assert file.mapping("zones") == {0: 0, 3: 1}
        assert np.array(file["trips_late"]).sum() == pytest.approx(answer.volumes[4])
    with pytest.raises(FormatError, match=r"name one of its matrices, as trips\.omx:NAME: am, pm"):
        assign(BRAESS, str(tmp_path / "trips.omx"), times=TIMES)
    with omx.open_file(str(tmp_path / "short.omx"), "w") as file:
        file["am"] = np.ones((3, 3))
        file.create_array("/lookup", "zones", [1, 2])
    with pytest.raises(FormatError, match="names 2 zones of 3 in 'zones'"):
        assign(BRAESS, tmp_path / "short.omx", times=TIMES)
    nothing = assign(BRAESS, ([], [], []), times=TIMES, skims=["time"])
    with pytest.raises(InputError, match=r"matrices of no zone; write \.npz"):
        nothing.save_matrices(tmp_path / "nothing.omx")
    (tmp_path / "wrong.omx").write_text("no matrices")
    with pytest.raises(FormatError, match="is no OMX file"):
        assign(BRAESS, tmp_path / "wrong.omx", times=TIMES)


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


@pytest.mark.parametrize(
    ("graph", "demand", "trips", "zones"),
    [
        (([0, 0, 0], [], []), ([0], [1], [2.0]), [[0, 0], [0, 0]], [0, 1]),
        (BRAESS, ([], [], []), np.empty((0, 0)), []),
        (BRAESS, ([1], [1], [3.0]), np.empty((0, 0)), []),
    ],
)
def test_figures_of_nothing(
    graph: Any, demand: Any, trips: Any, zones: list[int], device: str
) -> None:
    """Skims and selections without a link, or without a trip to another zone."""
    times, links = BPR(np.ones(len(graph[1])), 1), [(0, 1)][: len(graph[1])]
    chosen = {"x": links}
    answer = assign(graph, demand, times=times, skims=["time"], select=chosen, device=device)
    assert answer.zones.tolist() == zones
    assert answer.selected["x"].tolist() == [0] * len(graph[1])
    assert np.array_equal(answer.matrices["trips_x"], trips)
    assert answer.matrices["time"].shape == (len(zones),) * 2


def test_a_start_without_trips() -> None:
    answer = assign(BRAESS, ([0], [0], [8.0]), times=TIMES, start=np.zeros(5))
    assert (answer.volumes.tolist(), answer.within_zones) == ([0] * 5, 8)


@pytest.mark.parametrize(
    ("demand", "options", "message"),
    [
        (([0], [9], [1.0]), {}, "destination 9 is not a vertex"),
        (([0], [1], [-1.0]), {}, "trips from 0 to 1 are -1.0"),
        (([0], [1], [float("nan")]), {}, "trips from 0 to 1 are nan"),
        (([0], [1, 2], [1.0]), {}, "three lists of one length"),
        (np.ones((9, 9)), {}, "9 zones, but"),
        ("trips.csv", {}, "no such file"),
        (7, {}, "trips are a file, three lists"),
        ({}, {}, "no class of travellers"),
        ({"all": UserClass(([0], [1], [1.0]), pce=0)}, {}, "pce must be positive"),
        (([0], [1], [1.0]), {"method": "best"}, "choose one of bfw, cfw, fw, msa"),
        (([0], [1], [1.0]), {"device": "gpu"}, "choose one of auto, cpu, cuda"),
        (([0, 0], [1, 2], [1e308, 1e308]), {}, "trips add up to more than a number can be"),
        (([0], [1], [1.0]), {"gap": -1.0}, "gap must not be negative"),
        (([0], [1], [1.0]), {"gap": float("nan")}, "gap must not be negative"),
        (([0], [1], [1.0]), {"first_through": 9}, "first_through: 9"),
        (([0], [1], [1.0]), {"skims": ["time"], "start": np.zeros(5)}, "start: the paths of these"),
        (([0], [1], [1.0]), {"select": {"x": [(1, 0)]}}, "select 'x': no link leads from 1 to 0"),
        (([0], [1], [1.0]), {"select": {"x": [(1, 9)]}}, "select x: end 9 is not a vertex"),
        (([0], [1], [1.0]), {"select": {"x": [3]}}, "links are pairs"),
        (([0], [1], [1.0]), {"select": ["x"]}, "select must be a mapping of names"),
        (([0], [1], [1.0]), {"skims": "cost"}, "skims must be a list of names, not 'cost'"),
        (([0], [1], [1.0]), {"gap": None}, "gap must be a number"),
        (([0], [1], [1.0]), {"first_through": "x"}, "first_through must be the id of a vertex"),
        (([0], [1], [1.0]), {"iterations": 2.5}, "iterations must be an integer"),
        (([0], [1], [1.0]), {"iterations": 0}, "iterations must be 1 to 10,000,000, not 0"),
        (([0], [1], [1.0]), {"iterations": 10**14}, "iterations must be 1 to 10,000,000"),
        (([0], [1], [1.0]), {"time_limit_s": "1"}, "time limit must be a number"),
        (([0], [1], [1.0]), {"time_limit_s": -1}, "time limit must not be negative"),
        (([0], [1], [1.0]), {"time_limit_s": float("nan")}, "time limit must not be negative"),
        (([0], [3], [1e80]), {}, "costs of these trips are greater than a number can be"),
        (([0], [3], [1e63]), {}, "costs of these trips are greater than a number can be"),
    ],
)
def test_wrong_requests(demand: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        assign(BRAESS, demand, times=TIMES, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BPR([1.0, -1.0], 1), "free-flow time of link 1 is -1"),
        (lambda: BPR([1.0, np.nan], 1), "free-flow time of link 1 is nan"),
        (lambda: BPR([1.0, 1.0], [1, 0]), "capacity of link 1 is 0"),
        (lambda: BPR([1.0], 1, 1, 0.5), "power of link 0 is 0.5"),
        (lambda: BPR([1.0], [1, 2]), "need 1 values of capacity"),
        (lambda: Conical([1.0], 0), "capacity of link 0"),
        (lambda: Conical([1.0], 1, 1), "alpha of link 0"),
    ],
)
def test_wrong_links(make: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        make()


@pytest.mark.parametrize("times", [BPR([10.0], 2), BPR(np.ones(6), 2), Conical([10.0], 2)])
def test_times_of_other_links(times: Any) -> None:
    with pytest.raises(GraphError, match=r"times are of [16] links, and .* has 5 links"):
        assign(BRAESS, ([0], [3], [6.0]), times=times)


def test_a_power_of_zero_is_a_constant() -> None:
    assert BPR([2.0], 0, 0.5, 0).times(np.array([7.0])).tolist() == [3.0]


def test_a_graph_without_columns() -> None:
    with pytest.raises(GraphError, match="has no column free_flow_time"):
        assign(BRAESS, ([0], [3], [1.0]))
    with pytest.raises(GraphError, match="has no column 'toll'; skims are cost, time"):
        assign(BRAESS, ([0], [3], [1.0]), times=TIMES, skims=["toll"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("origin,destination\n0,3\n", 1),
        ("origin,destination,trips\n0,3\n", 2),
        ("origin,destination,trips\n0,3,5\n\n0,3,many\n", 4),
    ],
)
def test_wrong_tables_of_trips(text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text(text)
    with pytest.raises(FormatError, match=rf"trips.csv:{line}: "):
        assign(BRAESS, tmp_path / "trips.csv", times=TIMES)


def test_a_time_limit_keeps_the_flows_of_then() -> None:
    answer = assign(BRAESS, ([0], [3], [6.0]), times=TIMES, gap=0, time_limit_s=0)
    assert len(answer.history) == 1
    assert not answer.is_converged
    assert answer.volumes.sum() > 0


@pytest.mark.parametrize(
    ("name", "factors", "objective"),
    [
        ("SiouxFalls", {}, 4231335.287107440),
        ("Anaheim", {}, None),
        ("Barcelona", {}, 1265654.92203176),
        ("Winnipeg", {}, 827911.494629963),
        ("ChicagoSketch", {"toll": 0.02, "length": 0.04}, 17313018.7387477),
    ],
)
@pytest.mark.slow
def test_published_equilibria(
    name: str, factors: dict[str, float], objective: float | None, data_folder: Path
) -> None:
    folder = data_folder / "tntp"
    net, trips, flow = (
        next(folder.glob(f"{name}_{part}.tntp*")) for part in ("net", "trips", "flow")
    )
    network, demand = read_graph(net), UserClass(trips, factors)
    with lzma.open(flow) as file:
        published = np.loadtxt(file, skiprows=1, usecols=(0, 1, 2))
    order = np.lexsort((network.heads, network.tails()))
    flows = np.empty(network.arc_count)
    flows[order] = published[np.lexsort((published[:, 1], published[:, 0])), 2]
    at_best = assign(network, {"all": demand}, start=flows, iterations=1)
    assert at_best.gap < 1e-12
    answer = assign(network, {"all": demand}, gap=3e-7, iterations=5000)
    assert answer.is_converged
    best = objective or at_best.objective
    assert at_best.objective == pytest.approx(best, rel=1e-9)
    assert answer.objective == pytest.approx(best, rel=1e-6)
    is_unique = (network.columns["b"] > 0) & (network.columns["free_flow_time"] > 0)
    error = np.abs(answer.volumes - at_best.volumes)[is_unique]
    assert error.sum() < 1e-3 * at_best.volumes[is_unique].sum()
