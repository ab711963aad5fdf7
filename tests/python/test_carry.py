"""Sums of columns along shortest paths on every device, by NetworkX and along the tree's paths."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from support.graphs import all_lengths, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on

import groute_py
from groute_py import UNREACHED, Graph, InputError, Matrix, NearestFacilities, RunError
from groute_py.jobs.matrix import MatrixJob
from groute_py.jobs.nearest import NearestJob
from groute_py.jobs.route import RouteJob
from groute_py.jobs.tree import TreeJob

COLUMNS = ("length", "toll")


def with_columns(graph: Graph, seed: int = 5) -> Graph:
    """The graph with a column of integers, of which some are 0, and one of floats."""
    random = np.random.default_rng(seed)
    length = random.integers(0, 50, graph.arc_count)
    return graph.changed(columns={"length": length, "toll": random.random(graph.arc_count)})


def with_one_path(count: int, arcs: int) -> Graph:
    """A graph in which no two paths between two vertices are equally short."""
    graph = random_graph(count, arcs, 7, 1)
    weights = np.random.default_rng(8).integers(1, 2**50, graph.arc_count)
    return with_columns(graph.with_weights(weights))


GRAPH = with_one_path(300, 1500)
SOURCES, TARGETS = np.arange(0, 60, 2), np.arange(100, 200)

TIES = with_columns(random_graph(60, 400, 3, 2))
"""A graph with arcs of weight 0, loops, and parallel arcs of equal and of other weights."""


def sum_along(graph: Graph, path: Any, name: str) -> Any:
    """The sum of a column over the lightest arcs between the vertices of a path, else none."""
    if not len(path):
        return UNREACHED if graph.columns[name].dtype.kind == "i" else np.inf
    arcs = [graph.arc(tail, head) for tail, head in pairwise(path)]
    return sum(graph.columns[name][arc].item() for arc in arcs)


def check_sums(graph: Graph, sums: Any, paths: Any) -> None:
    """Compare sums, in the order of some paths, with those along these."""
    for name in COLUMNS:
        expected = [sum_along(graph, path, name) for path in paths]
        np.testing.assert_allclose(np.ravel(sums[name]), expected, rtol=1e-12)
        kind = np.float64 if name == "toll" else np.int64
        assert sums[name].dtype == kind


def paths_of(near: NearestFacilities, vertex: int) -> list[int]:
    """The path from a vertex to its facility, empty if there is none."""
    path = [vertex] if near.reached[vertex] else []
    while path and near.next[path[-1]] >= 0:
        path.append(int(near.next[path[-1]]))
    return path


@cache
def by_networkx() -> NDArray[Any]:
    """Distances and lengths between `SOURCES` and `TARGETS`, shape (2, 30, 100)."""
    network: Any = nx.DiGraph()
    for tail, head in zip(GRAPH.tails().tolist(), GRAPH.heads.tolist(), strict=True):
        arc = GRAPH.arc(tail, head)
        time, length = GRAPH.weights[arc].item(), GRAPH.columns["length"][arc].item()
        network.add_edge(tail, head, time=time, length=length)
    answer = np.full((2, len(SOURCES), len(TARGETS)), UNREACHED)
    for row, source in enumerate(SOURCES.tolist()):
        paths = nx.single_source_dijkstra_path(network, source, weight="time")
        for column, target in enumerate(TARGETS.tolist()):
            if target in paths:
                for number, name in enumerate(("time", "length")):
                    answer[number, row, column] = nx.path_weight(network, paths[target], name)
    return answer


def attained_sums(graph: Graph, source: int, name: str) -> list[set[int]]:
    """For each vertex the sums of a column over shortest walks to it of less than n × 50."""
    distances = all_lengths(graph)[source]
    arcs = {graph.arc(*ends) for ends in zip(graph.tails(), graph.heads, strict=True)}
    onward: list[list[tuple[int, int]]] = [[] for _ in range(graph.vertex_count)]
    for arc in arcs:
        tail, head = int(graph.tails()[arc]), int(graph.heads[arc])
        if distances[tail] + graph.weights[arc] == distances[head] < np.inf:
            onward[tail].append((head, int(graph.columns[name][arc])))
    sums: list[set[int]] = [set() for _ in range(graph.vertex_count)]
    left = [(source, 0)]
    while left:
        vertex, total = left.pop()
        if total not in sums[vertex] and total < 50 * graph.vertex_count:
            sums[vertex].add(total)
            left += [(head, total + more) for head, more in onward[vertex]]
    return [some or {UNREACHED} for some in sums]


class TestByNetworkX:
    """Times and lengths of 3,000 pairs; each has one shortest path."""

    @pytest.mark.parametrize("prepared", [False, True])
    def test_matrix_and_route(self, device: str, prepared: bool) -> None:
        expected = by_networkx()
        graph = groute_py.prepare(GRAPH, device="cpu") if prepared else GRAPH
        assert graph is not None
        how: Any = {"carry": COLUMNS, "device": device}
        matrix = groute_py.matrix(graph, SOURCES, TARGETS, **how)
        assert matrix is not None
        assert matrix.predecessors is None
        np.testing.assert_array_equal([matrix.distances, matrix.carried["length"]], expected)
        pairs = [(source, target) for source in SOURCES for target in TARGETS]
        routes = groute_py.route(graph, pairs, **how)
        assert routes is not None
        assert routes.paths is None
        np.testing.assert_array_equal(routes.carried["length"], expected[1].reshape(-1))

    def test_one_source_and_nearest(self, device: str) -> None:
        expected = by_networkx()
        how: Any = {"carry": "length", "device": device}
        for row, source in enumerate(SOURCES[:3].tolist()):
            result = groute_py.sssp(GRAPH, source, **how)
            assert result is not None
            np.testing.assert_array_equal(result.carried["length"][TARGETS], expected[1, row])
        near = groute_py.nearest(GRAPH, SOURCES, vertices=TARGETS, **how)
        assert near is not None
        best = expected[0].argmin(axis=0)
        lengths = expected[1][best, np.arange(len(TARGETS))]
        np.testing.assert_array_equal(near.carried["length"], lengths)


@pytest.mark.parametrize("reverse", [False, True])
class TestTies:
    """Sums are those of the answer's own path where several are shortest."""

    def test_one_source(self, device: str, reverse: bool) -> None:
        result = groute_py.sssp(TIES, 4, carry=COLUMNS, device=device, reverse=reverse)
        assert result is not None
        check_sums(TIES, result.carried, [result.path_to(v) for v in range(TIES.vertex_count)])

    def test_hops(self, device: str, reverse: bool) -> None:
        result = groute_py.bfs(TIES, 4, carry=COLUMNS, device=device, reverse=reverse)
        assert result is not None
        ones = TIES.with_unit_weights()
        check_sums(ones, result.carried, [result.path_to(v) for v in range(TIES.vertex_count)])

    def test_routes(self, device: str, reverse: bool) -> None:
        pairs = np.random.default_rng(2).integers(0, TIES.vertex_count, (80, 2))
        how: Any = {"device": device, "reverse": reverse}
        routes = groute_py.route(TIES, pairs, carry=COLUMNS, paths=True, **how)
        assert routes is not None
        check_sums(TIES, routes.carried, routes.paths)

    @pytest.mark.parametrize("least", [0, 1])
    def test_matrix(self, device: str, method: str, reverse: bool, least: int) -> None:
        sources, targets = [3, 3, 50], [7, 3, 7, 12]
        lengths = TIES.columns["length"]
        graph = TIES.with_weights(TIES.weights + least)
        graph = graph.changed(columns={"length": lengths, "toll": lengths / 2})
        how: Any = {"algorithm": method, "device": device, "reverse": reverse}
        matrix = groute_py.matrix(graph, sources, targets, carry=COLUMNS, **how)
        assert matrix is not None
        for row, source in enumerate(sources):
            sums = attained_sums(graph.reversed() if reverse else graph, source, "length")
            for column, target in enumerate(targets):
                assert matrix.carried["length"][row, column] in sums[target]
        np.testing.assert_array_equal(matrix.carried["toll"], matrix.carried["length"] / 2)

    def test_nearest(self, device: str, reverse: bool) -> None:
        how: Any = {"device": device, "to_facility": reverse}
        near = groute_py.nearest(TIES, [3, 9], carry=COLUMNS, **how)
        assert near is not None
        paths = [paths_of(near, vertex) for vertex in range(TIES.vertex_count)]
        check_sums(TIES, near.carried, [path if reverse else path[::-1] for path in paths])


@pytest.mark.parametrize("to_facility", [False, True])
@pytest.mark.parametrize("vertices", [None, [9, 4, 4]])
def test_the_k_nearest(device: str, to_facility: bool, vertices: Any) -> None:
    """Sums are those of each facility's row; no two paths are equally short."""
    facilities = [3, 77, 150, 4]
    how: Any = {"device": device, "carry": COLUMNS}
    near = groute_py.nearest(
        GRAPH, facilities, k=3, to_facility=to_facility, vertices=vertices, **how
    )
    assert near is not None
    trees: Any = [groute_py.sssp(GRAPH, f, reverse=to_facility, **how) for f in facilities]
    rows = np.arange(GRAPH.vertex_count) if vertices is None else vertices
    for name in COLUMNS:
        assert near.carried[name].shape == near.distances.shape == (len(rows), 3)
        for row, vertex in enumerate(rows):
            for rank, facility in enumerate(near.facilities[row].tolist()):
                expected = UNREACHED if name == "length" else np.inf
                if facility >= 0:
                    expected = trees[facilities.index(facility)].carried[name][vertex]
                assert near.carried[name][row, rank] == pytest.approx(expected)


def test_the_k_nearest_with_ties(device: str) -> None:
    near = groute_py.nearest(TIES, [3, 9, 20], k=3, carry="length", device=device)
    assert near is not None
    sums = {f: attained_sums(TIES, f, "length") for f in (3, 9, 20)}
    for vertex in range(TIES.vertex_count):
        for rank, facility in enumerate(near.facilities[vertex].tolist()):
            if facility >= 0:
                assert near.carried["length"][vertex, rank] in sums[facility][vertex]


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_agree(ranks: int) -> None:
    jobs: list[Any] = [
        TreeJob(4),
        MatrixJob([3, 50, 8, 9], [7, 12]),
        RouteJob([(3, 7), (50, 12)]),
        NearestJob([3, 9]),
    ]
    for job in jobs:

        def work(channel: Any, job: Any = job) -> Any:
            return opened_on(channel, TIES, device="cpu", carry=COLUMNS).answer(job)

        alone = opened_on(on_one(), TIES, device="cpu", carry=COLUMNS).answer(job)
        answers = on_ranks(ranks, work)
        assert answers[1:] == [None] * (ranks - 1)
        np.testing.assert_array_equal(answers[0].distances, alone.distances)
        assert answers[0].carried.keys() == set(COLUMNS)
        if isinstance(job, MatrixJob):  # whose rows are solved alike on each rank
            np.testing.assert_array_equal(answers[0].carried["length"], alone.carried["length"])


def on_one() -> Any:
    from groute_py.comm.base import SoloChannel

    return SoloChannel()


def test_the_least_graphs(device: str) -> None:
    graph = with_columns(Graph.from_arrays([0, 0], [], []))
    result = groute_py.sssp(graph, 0, carry="length", device=device)
    assert result is not None
    assert result.carried["length"].tolist() == [0]


def test_sums_of_64_bits() -> None:
    graph = Graph.from_arrays([0, 1, 2, 2], [1, 2], [1, 1])
    wide = graph.changed(columns={"x": np.array([2**62, 2**62 - 2])})
    result = groute_py.sssp(wide, 0, carry="x", device="cpu")
    assert result is not None
    assert result.carried["x"].tolist() == [0, 2**62, 2**63 - 2]
    wider = graph.changed(columns={"x": np.array([2**62, 2**62])})
    for solve in (
        lambda **how: groute_py.sssp(wider, 0, **how),
        lambda **how: groute_py.matrix(wider, [0], [2], **how),
        lambda **how: groute_py.route(wider, [(0, 2)], **how),
    ):
        with pytest.raises(RunError, match="the sum of 'x' on the path to 2 does not fit"):
            solve(carry="x", device="cpu")


def test_tables_have_the_sums() -> None:
    graph = Graph.from_arrays([0, 1, 1, 1], [1], [5]).changed(
        columns={"toll": np.array([7]), "distance": np.array([3])}
    )
    matrix = groute_py.matrix(graph, [0], [1, 2], carry=["toll", "distance"], device="cpu")
    assert isinstance(matrix, Matrix)
    rows = matrix.to_frame(library="pyarrow").to_pylist()
    assert rows == [
        {"source": 0, "target": 1, "distance": 5, "toll": 7, "carried_distance": 3},
        {"source": 0, "target": 2, "distance": None, "toll": None, "carried_distance": None},
    ]


def test_a_saved_answer_has_the_sums(tmp_path: Path) -> None:
    result = groute_py.sssp(TIES, 4, carry=COLUMNS, device="cpu")
    assert result is not None
    result.save(tmp_path / "r.npz")
    same = groute_py.read_result(tmp_path / "r.npz")
    assert same.carried.keys() == set(COLUMNS)
    for name in COLUMNS:
        np.testing.assert_array_equal(same.carried[name], result.carried[name])
    arrays = dict(np.load(tmp_path / "r.npz"))
    np.savez(tmp_path / "short.npz", **arrays | {"carried_toll": np.zeros(3)})
    with pytest.raises(InputError, match="other shapes or types"):
        groute_py.read_result(tmp_path / "short.npz")


def test_prepared_roads(device: str) -> None:
    """Also those of facilities, for which a GPU sweeps the hierarchy."""
    roads = with_columns(groute_py.generate("road:12x12"))
    prepared = groute_py.prepare(roads, device=device)
    how: Any = {"carry": COLUMNS, "device": device}
    result = groute_py.sssp(prepared, 3, **how)
    near = groute_py.nearest(prepared, [3], **how)
    assert result is not None
    assert near is not None
    check_sums(roads, result.carried, [result.path_to(v) for v in range(roads.vertex_count)])
    paths = [paths_of(near, vertex)[::-1] for vertex in range(roads.vertex_count)]
    check_sums(roads, near.carried, paths)


def test_a_solver_carries() -> None:
    with groute_py.open(TIES, carry=COLUMNS, device="cpu") as solver:
        result = solver.sssp(4)
        near = solver.nearest([4])
        assert result is not None
        assert near is not None
        np.testing.assert_array_equal(near.reached, result.reached)
        check_sums(TIES, result.carried, [result.path_to(v) for v in range(TIES.vertex_count)])
        rows = solver.apsp([4])
        assert rows is not None
        np.testing.assert_array_equal(rows.distances[0], result.distances)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: groute_py.sssp(TIES, 0, carry="fuel"), "no column 'fuel'; .* length, toll"),
        (lambda: groute_py.sssp("road:5x5", 0, carry="toll"), "no columns by name; leave out"),
        (lambda: groute_py.sssp(TIES, 0, carry="toll", predecessors=False), "needs the tree"),
        (lambda: groute_py.matrix(TIES, [0], [1], carry="toll", output="m.npy"), "leave out out"),
        (lambda: groute_py.route(TIES, [(0, 1)], carry="toll", turns=[]), "with turns no column"),
    ],
)
def test_wrong_requests(ask: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()
