"""Paths by labels of an opened graph; labels after a shortage; weights that are given exactly."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.skips import require_metis

import groute_py
from groute_py import Graph, GraphError, InputError, Positions, PreparedGraph, generate
from groute_py.io.formats import order as order_format
from groute_py.jobs.questions import Questions
from groute_py.many import labels as own
from groute_py.many.new_weights import with_other_weights

require_metis()


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let labels answer whatever they may."""
    monkeypatch.setattr(own, "pays", lambda order_s, *_: order_s < np.inf)


def check(solver: Any, graph: Graph, pairs: Any) -> None:
    routes = solver.route(Positions(pairs), paths=True)
    if routes is None:
        return
    assert routes.statistics["algorithm"] == "labels"
    for (source, target), distance, path in zip(
        pairs.tolist(), routes.distances.tolist(), routes.paths, strict=True
    ):
        assert distance == scipy_distances(graph, source)[target]
        if distance == groute_py.UNREACHED:
            assert len(path) == 0
            continue
        assert (path[0], path[-1]) == (source, target)
        steps = [graph.arc(*step) for step in pairwise(path.tolist())]
        assert sum(int(graph.weights[arc]) for arc in steps) == distance


GRAPHS = {
    "one vertex": lambda: graph_of(1, [(0, 0, 3)]),
    "no arcs": lambda: graph_of(7, []),
    "parallel arcs": lambda: graph_of(3, [(0, 1, 9), (0, 1, 4), (1, 0, 3), (1, 2, 8), (1, 2, 2)]),
    "zero weights": lambda: random_graph(50, 150, 2, 0),
    "components": lambda: random_graph(60, 45, 3, 40),
    "64 bits": lambda: random_graph(40, 120, 4, 2**45, "int64"),
    "road": lambda: generate("road:9x9"),
}


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("reverse", [False, True])
def test_routes(name: str, reverse: bool, device: str) -> None:
    graph, random = GRAPHS[name](), np.random.default_rng(1)
    with groute_py.open(graph, prepare=True, reverse=reverse, device=device) as solver:
        for pairs in (random.integers(0, graph.vertex_count, (30, 2)), np.zeros((9, 2), np.int64)):
            if reverse:
                routes = solver.route(Positions(pairs), paths=True)
                forward = groute_py.route(
                    graph, Positions(pairs[:, ::-1]), paths=True, device="cpu"
                )
                assert routes.distances.tolist() == forward.distances.tolist()
                assert [len(path) > 0 for path in routes.paths] == routes.reached.tolist()
            else:
                check(solver, graph, pairs)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks(ranks: int) -> None:
    graphs = [make() for make in GRAPHS.values()]

    def answer(channel: Any) -> None:
        for whole in graphs:
            graph = whole if channel.rank == 0 else None
            pairs = np.random.default_rng(2).integers(0, whole.vertex_count, (20, 2))
            with solver_on(channel, graph, prepare=True, device="cpu") as solver:
                check(solver, whole, pairs)
                heavier = whole.with_weights(whole.weights[::-1].copy())
                solver.update(heavier.weights if channel.rank == 0 else None)
                check(solver, heavier, pairs)

    on_ranks(ranks, answer)


@pytest.mark.usefixtures("eager")
def test_orders_of_other_graphs_and_versions(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any order of as many vertices gives right answers; others are left, and made anew."""
    road, pairs = generate("road:9x9"), np.random.default_rng(3).integers(0, 81, (20, 2))
    town = groute_py.prepare(road, separators=True, device="cpu")
    assert town is not None
    other = np.random.default_rng(4).permutation(81).astype(np.int32)
    groute_py.write_graph(
        PreparedGraph(town, town.hierarchy, order=other), tmp_path / "other.prepared"
    )
    with groute_py.open(tmp_path / "other.prepared", device="cpu") as solver:
        check(solver, road, pairs)
    monkeypatch.setattr("groute_py.io.cache.LARGE_PREPARED", 1)
    groute_py.write_graph(road, tmp_path / "town.gr")
    ids = pairs + 1
    expected = groute_py.customize(tmp_path / "town.gr", device="cpu").pairs(*ids.T).tolist()
    (place,) = (empty_cache / "graphs").glob("*.order")
    good = place.read_bytes()
    with place.open("wb") as file:
        order_format.write_to(file, "fewer", np.arange(80, dtype=np.int32))
    fewer = place.read_bytes()
    for content in (fewer, good.replace(b"order 1\n", b"order 2\n", 1), good[:100], b""):
        place.write_bytes(content)
        town = groute_py.customize(tmp_path / "town.gr", device="cpu")
        assert town.pairs(*ids.T).tolist() == expected
        assert place.read_bytes() == good


@pytest.mark.usefixtures("eager")
def test_sums_along_their_paths() -> None:
    """Sums belong to the paths that are shown, also where others are as long."""
    road = generate("road:9x9")
    road = road.changed(columns={"toll": np.arange(road.arc_count)})
    pairs = np.random.default_rng(2).integers(0, 81, (20, 2))
    with groute_py.open(road, prepare=True, carry=["toll"], device="cpu") as solver:
        routes = solver.route(Positions(pairs), paths=True)
    assert routes.statistics["algorithm"] == "labels"
    for path, toll in zip(routes.paths, routes.carried["toll"].tolist(), strict=True):
        if len(path):
            assert toll == sum(road.arc(*step) for step in pairwise(path.tolist()))


@pytest.mark.usefixtures("eager")
def test_labels_are_tried_again_after_a_shortage(monkeypatch: pytest.MonkeyPatch) -> None:
    road, now = generate("road:9x9"), time.monotonic()
    pairs = [(3, 7), (1, 80)]
    expected = [scipy_distances(road, source)[target] for source, target in pairs]
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        with monkeypatch.context() as short:

            def refuse(*_: Any) -> None:
                raise GraphError("labels would take 9 bytes, and 8 are free")

            short.setattr(own, "Customized", refuse)
            short.setattr(own, "PATIENCE", 1e7)
            routes = solver.route(pairs)
            assert "no labels: labels would take 9 bytes" in routes.statistics["reason"]
            assert routes.distances.tolist() == expected
        routes = solver.route(pairs)  # in the time of patience
        assert "no labels: labels would take 9 bytes" in routes.statistics["reason"]
        monkeypatch.setattr(own.time, "monotonic", lambda: now + 1e12)
        routes = solver.route(pairs)
        assert routes.statistics["algorithm"] == "labels"
        assert routes.distances.tolist() == expected


def test_some_weights_are_taken_exactly() -> None:
    whole = graph_of(3, [(0, 1, 2**53 + 1), (1, 2, 5)], "int64")
    small = graph_of(3, [(0, 1, 4), (1, 2, 5)])
    floats = graph_of(3, [(0, 1, 0.5), (1, 2, 0.25)], "float32")
    assert with_other_weights(whole, [7], [1]).weights.tolist() == [2**53 + 1, 7]
    assert with_other_weights(small, [2**40], [1]).weights.tolist() == [4, 2**40]
    assert with_other_weights(small, [0.1], [1]).weights.tolist() == [4, 0.1]
    assert with_other_weights(floats, [0.1], [0]).weights.tolist() == [0.1, 0.25]
    assert with_other_weights(floats, [0.75], [0]).weights.dtype == np.float32
    with pytest.raises(GraphError, match="9007199254740993 stands beside decimals"):
        with_other_weights(whole, [0.5], [1])
    with pytest.raises(GraphError, match="9007199254740993 stands beside decimals"):
        with_other_weights(floats, [2**53 + 1], [1])
    with groute_py.open(whole, device="cpu") as solver:
        with pytest.raises(InputError, match="stands beside decimals"):
            solver.update([0.5], arcs=[1])
        assert solver.sssp(0).distances.tolist() == [0, 2**53 + 1, 2**53 + 6]


def test_a_line_changes_all_parallel_arcs() -> None:
    graph = graph_of(3, [(0, 1, 9), (0, 1, 4), (1, 0, 3), (1, 2, 8)])
    with groute_py.open(graph, device="cpu") as solver:
        questions = Questions(solver)
        lines = [b'{"arcs": [[0, 1], [1, 2]], "weights": [20, 1]}', b'{"source": 0, "target": 2}']
        assert [questions.answer(line) for line in lines] == [{"changed": 3}, {"distance": 21}]
        twice = questions.answer(b'{"arcs": [[0, 1], [0, 1]], "weights": [2, 1]}')
        assert "is there twice" in twice["error"]
        assert questions.answer(lines[1]) == {"distance": 21}


def test_ways_around_circles_of_length_zero() -> None:
    """Ways of equal length over lower vertices may be endless; those of the fewest arcs are not."""
    graph = random_graph(182, 637, 5025, 0)
    town, ends = groute_py.customize(graph, device="cpu"), np.arange(182)
    targets = np.random.default_rng(1).permutation(182)
    distances = town.pairs(ends, targets)
    for source, target, distance, path in zip(
        ends, targets, distances, town.paths(ends, targets), strict=True
    ):
        if distance == groute_py.UNREACHED:
            assert len(path) == 0
            continue
        assert (path[0], path[-1]) == (source, target)
        assert len(set(path.tolist())) == len(path)
        assert sum(int(graph.weights[graph.arc(*step)]) for step in pairwise(path)) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_many_paths_are_shared_by_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.many.paths.thread_count", lambda: threads)
    graph = generate("road:20x20")
    town, ends = groute_py.customize(graph, device="cpu"), np.arange(400)
    for targets in (ends[::-1], np.roll(ends, 7)):
        paths = town.paths(ends, targets)
        sums = [
            sum(int(graph.weights[graph.arc(*step)]) for step in pairwise(path.tolist()))
            for path in paths
        ]
        reached = town.pairs(ends, targets) != groute_py.UNREACHED
        assert [len(path) > 0 for path in paths] == reached.tolist()
        assert np.array(sums)[reached].tolist() == town.pairs(ends, targets)[reached].tolist()
        assert [path[-1] for path in paths if len(path)] == targets[reached].tolist()
    assert town.paths(ends[:1], ends[-1:])[0].tolist() == town.paths(ends, ends[::-1])[0].tolist()
