"""Skims and selected links of an assignment: held against SciPy's trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from support.assignment import BRAESS, TIMES, shortest
from support.graphs import random_graph
from support.skips import require_metis

from groute_py import (
    BPR,
    FormatError,
    Graph,
    InputError,
    UserClass,
    assign,
)

require_metis()


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
