"""Widest, minimax, most reliable and fewest-arcs paths, by brute force on small graphs."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run_command
from support.graphs import random_graph as usual_graph
from support.local_ranks import on_ranks
from support.objectives import RULES, best, check_values, random_graph, value_of
from support.opening import solver_on

import groute_py
from groute_py import UNREACHED, Graph, GraphError, InputError
from groute_py.device.cpu import team
from groute_py.engine.algorithms.methods import ALGORITHMS
from groute_py.engine.option_values import OBJECTIVES
from groute_py.graph import objectives

CROSSING = Graph.from_arrays([0, 2, 3, 4, 5, 5], [1, 2, 3, 3, 4], [5, 2, 4, 9, 7])
"""Two ways from 0 to 3, of weights (5, 4) and (2, 9), and on to 4."""

each_objective = pytest.mark.parametrize("objective", RULES)


def is_as_good(objective: str, value: Any, right: Any) -> bool:
    """Compare values, the products of probabilities but for rounding."""
    return math.isclose(value, right, rel_tol=1e-12) if objective == "reliable" else value == right


def check_paths(graph: Graph, objective: str, source: int, paths: dict[int, list[int]]) -> None:
    """Check that paths have the best values, and that there are none where none can be."""
    right = best(graph, objective, source)
    for vertex, path in paths.items():
        assert bool(path) == (vertex in right)
        if path:
            assert (path[0], path[-1]) == (source, vertex)
            assert is_as_good(objective, value_of(graph, objective, path), right[vertex])


def test_the_names_are_those_of_the_options() -> None:
    assert ("shortest", *objectives._CHANGES) == OBJECTIVES


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("minimax", [0, 5, 2, 5, 7]),
        ("widest", [9, 5, 2, 4, 4]),
        ("fewest-arcs", [0, 1, 1, 2, 3]),
    ],
)
def test_small_graph_by_hand(device: str, objective: str, expected: list[int]) -> None:
    result = groute_py.sssp(CROSSING, 0, objective=objective, device=device)
    assert result is not None
    assert result.distances.tolist() == expected
    if objective == "fewest-arcs":
        assert result.carried["length"].tolist() == [0, 5, 2, 9, 16]


def test_reliable_by_hand(device: str) -> None:
    graph = CROSSING.with_weights([0.5, 0.9, 1.0, 0.5, 0.0])
    result = groute_py.sssp(graph, 0, objective="reliable", device=device)
    assert result is not None
    np.testing.assert_allclose(result.distances[:4], [1, 0.5, 0.9, 0.5], rtol=1e-15)
    assert result.distances[4] == np.inf  # an arc of probability 0 is none


def check_one_source(device: str, objective: str, seed: int) -> None:
    """Compare values, paths and certificates of a random graph with brute force, both ways."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, objective)
    source, how = int(rng.integers(graph.vertex_count)), {"objective": objective}
    for reverse in (False, True):
        result = groute_py.sssp(graph, source, reverse=reverse, device=device, **how)
        assert result is not None
        solved = graph.reversed() if reverse else graph
        check_values(solved, objective, source, result.distances, result.carried.get("length"))
        groute_py.verify(graph, result, **how)
        paths = {v: list(map(int, result.path_to(v))) for v in range(graph.vertex_count)}
        if reverse:
            paths = {v: path[::-1] for v, path in paths.items()}
        check_paths(solved, objective, source, paths)


@each_objective
@pytest.mark.parametrize("seed", range(10))
def test_one_source(device: str, objective: str, seed: int) -> None:
    check_one_source(device, objective, seed)


@pytest.mark.slow
@each_objective
def test_1000_random_graphs(objective: str) -> None:
    for seed in range(1000, 1250):
        check_one_source("cpu", objective, seed)


@each_objective
@pytest.mark.parametrize("seed", range(4))
def test_rows_and_pairs(device: str, objective: str, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    graph = random_graph(rng, objective)
    sources, targets = rng.integers(0, graph.vertex_count, (2, 4))
    how: dict[str, Any] = {"objective": objective, "device": device}
    for algorithm in ("heap", "batch", *(["single"] if device == "cuda" else [])):
        rows = groute_py.apsp(graph, sources=sources, predecessors=True, algorithm=algorithm, **how)
        assert rows is not None
        for row, source in enumerate(sources.tolist()):
            lengths = rows.carried["length"][row] if "length" in rows.carried else None
            check_values(graph, objective, source, rows.distances[row], lengths)
            paths = {v: rows.path(source, v) for v in range(graph.vertex_count)}
            paths = {v: list(map(int, path)) for v, path in paths.items()}
            check_paths(graph, objective, source, paths)
    matrix = groute_py.matrix(graph, sources, targets, **how)
    pairs = np.stack([sources, targets], 1)
    routes = groute_py.route(graph, pairs, paths=True, **how)
    assert matrix is not None
    assert routes is not None
    for row, (source, target) in enumerate(pairs.tolist()):
        check_values(graph, objective, source, matrix.distances[row], targets=targets.tolist())
        check_values(graph, objective, source, routes.distances[row:], targets=[target])
        path = list(map(int, routes.path(row)))
        check_paths(graph, objective, source, {target: path})


@each_objective
@pytest.mark.parametrize("to_facility", [False, True])
def test_nearest(device: str, objective: str, to_facility: bool) -> None:
    rng = np.random.default_rng(7)
    for _ in range(4):
        graph = random_graph(rng, objective)
        facilities = np.unique(rng.integers(0, graph.vertex_count, 3))
        how: dict[str, Any] = {"objective": objective, "device": device}
        near = groute_py.nearest(graph, facilities, to_facility=to_facility, **how)
        assert near is not None
        solved = graph.reversed() if to_facility else graph
        each = {facility: best(solved, objective, facility) for facility in facilities.tolist()}
        key = RULES[objective].key
        for vertex in range(graph.vertex_count):
            values = [key(right[vertex]) for right in each.values() if vertex in right]
            owner = int(near.facilities[vertex])
            assert (owner >= 0) == bool(values)
            if values:
                assert is_as_good(objective, key(each[owner][vertex]), min(values))
                check_values(solved, objective, owner, near.distances[vertex:], targets=[vertex])


@each_objective
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_several_ranks(device: str, objective: str, ranks: int) -> None:
    rng = np.random.default_rng(ranks)
    for seed in range(3):
        graph = random_graph(rng, objective)
        source = int(rng.integers(graph.vertex_count))

        def work(channel: Any, graph: Any = graph, source: int = source) -> Any:
            own = graph if channel.rank == 0 else None
            with solver_on(channel, own, objective=objective, device=device) as solver:
                matrix = solver.matrix([source, 0, source], [0, source])
                return solver.sssp(source), matrix, solver.route([(source, 0)])

        result, matrix, routes = on_ranks(ranks, work, patience=3, seed=seed)[0]
        check_values(graph, objective, source, result.distances, result.carried.get("length"))
        groute_py.verify(graph, result, objective=objective)
        check_values(graph, objective, source, matrix.distances[2], targets=[0, source])
        check_values(graph, objective, source, routes.distances, targets=[0])


@pytest.mark.parametrize("objective", ["minimax", "max(distance, weight)"])
@pytest.mark.parametrize("name", [a.name for a in ALGORITHMS])
def test_each_method_answers_or_is_refused(name: str, objective: str) -> None:
    method = next(a for a in ALGORITHMS if a.name == name)
    graph = groute_py.generate("road:12x12")
    how: dict[str, Any] = {"objective": objective, "algorithm": name, "device": "cpu"}
    if not method.extends:
        with pytest.raises(InputError, match="adds weights, and the objective does not"):
            groute_py.sssp(graph, 5, **how)
        return
    result = groute_py.sssp(graph, 5, **how)
    assert result is not None
    check_values(graph, "minimax", 5, result.distances)


@pytest.mark.parametrize("objective", ["minimax", "widest"])
def test_a_team_of_threads(monkeypatch: pytest.MonkeyPatch, objective: str) -> None:
    for name, value in (("ARCS_A_THREAD", 1), ("LEAST_ARCS", 1), ("FIRST_ROOM", 16)):
        monkeypatch.setattr(team, name, value)
    monkeypatch.setattr(team, "SPINS", 100)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    graph = usual_graph(400, 2400, 50, 1)
    result = groute_py.sssp(graph, 0, objective=objective, device="cpu")
    assert result is not None
    assert result.reached.sum() > 300
    check_values(graph, objective, 0, result.distances)
    groute_py.verify(graph, result, objective=objective)


def test_equal_weights_are_no_hops(device: str) -> None:
    graph = groute_py.generate("road:12x12")
    ones = graph.with_weights(np.ones(graph.arc_count, np.int32))
    for objective in ("minimax", "widest"):
        how: dict[str, Any] = {"objective": objective, "device": device}
        result = groute_py.sssp(ones, 5, **how)
        assert result is not None
        assert set(result.distances[result.reached].tolist()) <= {0, 1}


@each_objective
def test_cutoff(device: str, objective: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(6):
        graph = random_graph(rng, objective)
        right = best(graph, objective, 0)
        values = {v: r[0] if objective == "fewest-arcs" else r for v, r in right.items()}
        cutoff = abs(values[int(rng.choice(list(values)))])
        result = groute_py.sssp(graph, 0, cutoff=cutoff, objective=objective, device=device)
        assert result is not None
        groute_py.verify(graph, result, objective=objective, cutoff=cutoff)
        key = RULES[objective].key if objective != "fewest-arcs" else lambda value: value
        for vertex, value in values.items():
            if vertex and not math.isclose(value, cutoff):
                assert bool(result.reached[vertex]) == (key(value) <= key(cutoff))
            if value == cutoff and objective != "reliable":
                assert result.reached[vertex]


@pytest.mark.parametrize("objective", ["minimax", "widest"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_negative_cutoffs(device: str, objective: str, ranks: int) -> None:
    rng, key = np.random.default_rng(ranks), RULES[objective].key
    for seed in range(10):
        graph = random_graph(rng, objective)
        graph = graph.with_weights(graph.weights - graph.weights.max(initial=0) - 1)
        cutoff = rng.choice([*graph.weights, -0.5]).item() + rng.choice([0, -0.25])
        how: dict[str, Any] = {"objective": objective, "cutoff": cutoff, "device": device}

        def work(channel: Any, graph: Any = graph, how: Any = how) -> Any:
            with solver_on(channel, graph if channel.rank == 0 else None, **how) as solver:
                every = range(graph.vertex_count)
                rows = solver.matrix([0], every), solver.route([(0, v) for v in every])
                return solver.sssp(0), *rows, solver.nearest([0], to_facility=False)

        result, matrix, routes, nearest = on_ranks(ranks, work, seed=seed)[0]
        groute_py.verify(graph, result, objective=objective, cutoff=cutoff)
        right = best(graph, objective, 0)
        within = {v: value for v, value in right.items() if not v or key(value) <= key(cutoff)}
        nothing = math.inf if graph.weights.dtype.kind == "f" else UNREACHED
        expected = [within.get(v, nothing) for v in range(graph.vertex_count)]
        assert result.distances.tolist() == nearest.distances.tolist() == expected
        assert matrix.distances[0].tolist() == routes.distances.tolist() == expected


@pytest.mark.parametrize("objective", ["shortest", "reliable", "fewest-arcs", "distance + weight"])
def test_no_value_is_below_a_negative_cutoff(objective: str) -> None:
    with pytest.raises(InputError, match="cutoff must not be negative, as -4 is"):
        groute_py.sssp(CROSSING, 0, objective=objective, cutoff=-4)


def test_targets_end_a_solve_early(device: str) -> None:
    graph = groute_py.generate("road:40x40")
    for objective in ("minimax", "widest", "fewest-arcs"):
        how: dict[str, Any] = {"objective": objective}
        result = groute_py.sssp(graph, 820, targets=[861], device=device, **how)
        assert result is not None
        assert result.reached[861]
        assert not result.reached.all()
        check_values(graph, objective, 820, result.distances[861:], targets=[861])
        groute_py.verify(graph, result, **how)


def test_wrong_answers_are_refused() -> None:
    result = groute_py.sssp(CROSSING, 0, objective="widest", device="cpu")
    assert result is not None
    with pytest.raises(groute_py.VerificationError, match="the best one is 0"):
        groute_py.verify(CROSSING, result, objective="minimax")


@pytest.mark.parametrize(
    ("objective", "weights", "reason"),
    [
        ("reliable", [0.5, 2, 0.1, 0.1, 0.1], "weight of 2.0 from 0 to 2; .* from 0 to 1"),
        ("reliable", [0.5, -1, 0.1, 0.1, 0.1], "weight of -1.0"),
        ("fewest-arcs", [0.5, 2, 0.1, 0.1, 0.1], "takes integers"),
        ("fewest-arcs", [1, 1, 1, -4, 1], "weight of -4 from 2 to 3"),
        ("fewest-arcs", [1, 1, 1, 2**61, 1], "do not fit in 63 bits"),
    ],
)
def test_unsuitable_weights(objective: str, weights: list[float], reason: str) -> None:
    with pytest.raises(GraphError, match=reason):
        groute_py.sssp(CROSSING.with_weights(weights), 0, objective=objective)


@pytest.mark.parametrize(
    "more",
    [{"prepare": True}, {"turns": [(0, 1, 3, 5)]}, {"download": False}],
    ids=lambda more: next(iter(more)),
)
def test_options_that_do_not_go_together(more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"objective widest: not with {next(iter(more))}"):
        groute_py.sssp(CROSSING, 0, objective="widest", **more)


def test_jobs_that_need_the_given_weights() -> None:
    with groute_py.open(CROSSING, objective="widest", device="cpu") as solver:
        calls: list[Any] = [
            lambda: solver.bfs(0),
            lambda: solver.isochrone([0], 3),
            lambda: solver.closeness(),
            lambda: solver.accessibility([0], [1]),
            lambda: solver.update([1, 2, 3, 4, 5]),
            lambda: solver.with_weights([1, 2, 3, 4, 5]),
            lambda: solver.route([(0, 3)], k=2),
            lambda: solver.route([(0, 3)], alternatives=2),
            lambda: solver.nearest([0, 3], k=2),
        ]
        for call in calls:
            with pytest.raises(InputError, match="objective widest: for sssp"):
                call()
        for algorithm in ("floyd", "sweep"):
            with pytest.raises(InputError, match="takes the greatest"):
                groute_py.apsp(CROSSING, objective="widest", algorithm=algorithm, device="cpu")
        again = solver.reversed()
        with again:
            result = again.sssp(3)
    assert result is not None
    assert result.distances.tolist() == [4, 4, 9, 9, UNREACHED]


def test_sums_along_the_paths(device: str) -> None:
    graph = CROSSING.changed(columns={"toll": np.array([1, 2, 4, 8, 16])})
    for objective, expected in (("widest", 5), ("minimax", 5), ("fewest-arcs", 5)):
        how: dict[str, Any] = {"objective": objective, "carry": "toll", "device": device}
        result = groute_py.sssp(graph, 0, **how)
        assert result is not None
        assert result.carried["toll"][3] == expected


def test_pickled_solvers_change_the_weights_once() -> None:
    with groute_py.open(CROSSING, objective="widest", cutoff=5, device="cpu") as solver:
        expected = solver.sssp(0)
        copy = pickle.loads(pickle.dumps(solver))
        again = copy.sssp(0)
        copy.close()
    assert expected is not None
    assert expected.distances.tolist() == again.distances.tolist() == [9, 5, *[UNREACHED] * 3]


def test_commands(tmp_path: Path) -> None:
    answer = tmp_path / "widest.npz"
    done = run_command(
        *("sssp", "road:20x20", "--objective", "widest", "--source", "210", "--verify"),
        *("--target", "211", "--json", "-o", str(answer)),
    )
    assert json.loads(done.stdout)["verified"]
    command = "verify", "road:20x20", str(answer)
    assert run_command(*command, "--objective", "widest").exit_code == 0
    with pytest.raises(groute_py.VerificationError):
        run_command(*command)


def test_a_negative_cutoff_of_commands(tmp_path: Path) -> None:
    table, answer = tmp_path / "depths.csv", tmp_path / "depths.npz"
    table.write_text("from,to,depth\na,b,-5\nb,c,-3\n")
    words = str(table), "--source", "a", "--objective", "minimax", "--cutoff", "-4", "-o"
    run_command("sssp", *words, str(answer), "--verify", "--device", "cpu")
    with np.load(answer) as saved:
        assert saved["distances"].tolist() == [-5, -5, UNREACHED]
    run_command("verify", str(table), str(answer), "--objective", "minimax", "--cutoff", "-4")
    with pytest.raises(groute_py.VerificationError):
        run_command("verify", str(table), str(answer), "--objective", "minimax", "--cutoff", "-3")
