"""Expressions of users as objectives, beside Python's own meaning of them and brute force."""

from __future__ import annotations

import json
import math
import pickle
import random
from ctypes import c_double, c_longlong
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run_command
from support.emulation.cpp import compiled, in_cpp
from support.local_ranks import on_ranks
from support.objectives import random_graph as graph_of
from support.opening import solver_on

import groute_py
from groute_py import UNREACHED, Graph, GraphError, InputError, RunError
from groute_py.device.cpu import team
from groute_py.graph import operators
from groute_py.graph.operators import INTEGERS, operator_for, parsed
from groute_py.kernels.source import Program, options, text_of

OF_INTEGERS = (
    "max(distance, weight)",
    "(distance + 6) // 7 * 7 + weight",  # departures every 7
    "distance + weight + (-distance - weight) % 5",
    "distance + max(weight, 9 - weight)",  # heavy arcs may be the better ones
    "distance * 2 + weight if distance < 100 else distance + 100 + weight",
)
OF_FLOATS = (
    "max(distance, weight / 3)",
    "distance * 1.25 + weight",
    "max(distance, 1 - (1 - distance) * (1 - min(weight, 1)))",
    "distance + weight * weight",
)

LADDER = Graph.from_arrays([0, 2, 3, 4, 4], [1, 2, 3, 3], [5, 2, 4, 9])
"""Two ways from 0 to 3, of weights (5, 4) and (2, 9)."""


def compute(expression: str, distance: Any, weight: Any) -> Any:
    """The value of an expression, as Python has it."""
    return eval(expression, {"distance": distance, "weight": weight})


def best(graph: Graph, expression: str, source: int) -> list[Any]:
    """The best values by rounds over all arcs, in plain Python."""
    is_float = graph.weights.dtype.kind == "f"
    nothing = math.inf if is_float else UNREACHED
    values: list[Any] = [nothing] * graph.vertex_count
    values[source] = 0.0 if is_float else 0
    columns = graph.tails(), graph.heads, graph.weights
    arcs = list(zip(*(column.tolist() for column in columns), strict=True))
    while True:
        before = list(values)
        for tail, head, weight in arcs:
            if values[tail] != nothing:
                values[head] = min(values[head], compute(expression, values[tail], weight))
        if values == before:
            return values


def random_case(rng: np.random.Generator, device: str) -> tuple[Graph, str]:
    """A small graph without negative weights, and an expression; of few, which GPUs compile."""
    some = slice(None) if device == "cpu" else slice(1, 3)
    graph = graph_of(rng, "fewest-arcs")
    weights = graph.weights % 1000
    if rng.random() < 0.5:
        return graph.with_weights(weights), str(rng.choice(OF_INTEGERS[some]))
    kind = rng.choice(["float32", "float64"])
    return graph.with_weights((weights / 7).astype(kind)), str(rng.choice(OF_FLOATS[some]))


def check_tree(graph: Graph, expression: str, result: Any, values: list[Any]) -> None:
    """Check that each value is that of an arc from the predecessor, and all lead to the source."""
    for vertex, before in enumerate(result.predecessors.tolist()):
        if before < 0:
            assert vertex == result.source or values[vertex] in (UNREACHED, math.inf)
            continue
        row = slice(graph.offsets[before], graph.offsets[before + 1])
        heads, weights = graph.heads[row].tolist(), graph.weights[row].tolist()
        last = [w for head, w in zip(heads, weights, strict=True) if head == vertex]
        assert values[vertex] in [compute(expression, values[before], w) for w in last]
        assert result.source in result.path_to(vertex)


def check_random(device: str, ranks: int, first: int, count: int) -> None:
    """Compare values, trees and certificates of random cases with brute force."""
    rng = np.random.default_rng(first)
    for seed in range(count):
        graph, expression = random_case(rng, device)
        source, reverse = int(rng.integers(graph.vertex_count)), bool(rng.integers(2))
        solved = graph.reversed() if reverse else graph
        right = best(solved, expression, source)
        most = max(value for value in right if value not in (UNREACHED, math.inf))
        cutoff = most if seed % 3 else most / 2
        how: dict[str, Any] = {"objective": expression, "reverse": reverse, "device": device}
        how["cutoff"] = cutoff

        def work(channel: Any, graph: Any = graph, source: Any = source, how: Any = how) -> Any:
            with solver_on(channel, graph if channel.rank == 0 else None, **how) as solver:
                return solver.sssp(source)

        result = on_ranks(ranks, work, patience=3, seed=seed)[0]
        nothing = math.inf if solved.weights.dtype.kind == "f" else UNREACHED
        right = [value if value <= cutoff else nothing for value in right]
        assert result.distances.tolist() == right, (expression, seed)
        check_tree(solved, expression, result, right)
        groute_py.verify(graph, result, objective=expression, cutoff=cutoff)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_random_graphs(device: str, ranks: int) -> None:
    check_random(device, ranks, ranks, 110 if device == "cpu" else 40)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_1000_random_graphs(ranks: int) -> None:
    check_random("cpu", ranks, 1000 + ranks, 334)


@pytest.mark.parametrize("expression", ["distance + max(weight, 9 - weight)", OF_INTEGERS[1]])
def test_a_team_of_threads(monkeypatch: pytest.MonkeyPatch, expression: str) -> None:
    for name, value in (("ARCS_A_THREAD", 1), ("LEAST_ARCS", 1), ("FIRST_ROOM", 16)):
        monkeypatch.setattr(team, name, value)
    monkeypatch.setattr(team, "SPINS", 100)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    graph = groute_py.generate("road:15x15")
    graph = graph.with_weights(graph.weights % 100)
    result = groute_py.sssp(graph, 0, objective=expression, device="cpu")
    assert result is not None
    right = best(graph, expression, 0)
    assert result.distances.tolist() == right
    check_tree(graph, expression, result, right)


def test_equal_weights_are_no_hops(device: str) -> None:
    graph = groute_py.generate("road:8x8")
    graph = graph.with_weights(np.ones(graph.arc_count, np.int32))
    result = groute_py.sssp(graph, 5, objective="distance + 3 * weight", device=device)
    hops = groute_py.sssp(graph, 5, device=device)
    assert result is not None
    assert hops is not None
    np.testing.assert_array_equal(result.distances[hops.reached], 3 * hops.distances[hops.reached])


def test_targets_end_a_solve_early(device: str) -> None:
    graph = groute_py.generate("road:40x40")
    result = groute_py.sssp(graph, 820, objective=OF_INTEGERS[1], targets=[861], device=device)
    assert result is not None
    assert not result.reached.all()
    assert result.distances[861] == best(graph, OF_INTEGERS[1], 820)[861]
    groute_py.verify(graph, result, objective=OF_INTEGERS[1])


@pytest.mark.parametrize("large", [2**40, 1e300])
def test_what_does_not_fit_is_an_error(device: str, large: float) -> None:
    how: dict[str, Any] = {"objective": "distance * weight + weight", "device": device}
    graph = Graph.from_arrays([0, 1, 2, 3, 3], [1, 2, 3], [1, 3, large])
    values = groute_py.sssp(graph, 0, **how)
    assert values is not None
    assert values.distances.tolist() == best(graph, how["objective"], 0)
    # two ways to 4, of which the worse one alone is exact
    weights = [1, 100, 3, large, 1, large]
    graph = Graph.from_arrays([0, 2, 3, 4, 5, 5, 6], [1, 5, 2, 3, 4, 4], weights)
    for targets in ([], [4]):
        with pytest.raises(RunError, match="value that does not fit, above"):
            groute_py.sssp(graph, 0, targets=targets, **how)
    result = groute_py.sssp(graph, 0, cutoff=100, **how)
    assert result is not None
    assert result.reached.tolist() == [True, True, True, False, False, True]
    with pytest.raises(InputError, match=r"values of .* are exact up to .*; leave the cutoff out"):
        groute_py.sssp(graph, 0, cutoff=large**1.02, **how)


def test_an_arc_that_samples_did_not_show_is_an_error(device: str) -> None:
    # only 123457 makes a path better, which is not among the samples
    expression = "distance + weight - (1000 if distance == 123457 else 0)"
    graph = Graph.from_arrays([0, 1, 2, 2], [1, 2], [123457, 1])
    assert operator_for(expression, np.arange(5000), "drawn")
    with pytest.raises((InputError, RunError), match=r"turns 123457 into 122458|does not fit"):
        groute_py.sssp(graph, 0, objective=expression, device=device)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("widset", "unknown; choose one of shortest, minimax, .*, an expression"),
        ("", "neither a name nor an expression"),
        ("distance +", "neither a name nor an expression"),
        ("distance; weight", "neither a name nor an expression"),
        ("x" * 300, "unknown"),
        ("weight + " * 30 + "1", "at most 200 characters"),
        ("distance + open('x')", r"\"open\('x'\)\" is not allowed"),
        ("().__class__", "is not allowed"),
        ("distance.real + weight", "'distance.real' is not allowed"),
        ("distance + self", "'self' is not allowed"),
        ("max(distance)", "is not allowed"),
        ("max(*distance, weight)", "is not allowed"),
        ("max(distance, weight, key=abs)", "is not allowed"),
        ("distance ** 2", "is not allowed"),
        ("distance / weight", "is not allowed"),
        ("distance // 0 + weight", "is not allowed"),
        ("distance % -3 + weight", "is not allowed"),
        ("distance + True", "'True' is not allowed"),
        ("distance + 1j", "'1j' is not allowed"),
        ("distance if weight else 1", "is not allowed"),
        ("1 if 0 < distance < 2 else 3", "is not allowed"),
        ("distance + 1e999", "too great"),
        ("distance + weight * 0.5", "fractions are for float weights"),
        ("distance + weight / 2", "fractions are for float weights"),
        ("distance - weight", "an arc of weight 2 turns 0 into -2, and no arc may"),
        ("min(distance, weight)", "no arc may make a path better"),
        ("distance // 2 + weight", "no arc may make a path better"),
        ("weight + 0", "no arc may make a path better"),
        (
            "distance + (weight if distance % 60 < 30 else 20 * weight)",
            "an arc of weight [0-9]+ turns .* the better of two paths has to stay the better one",
        ),
    ],
)
def test_bad_expressions(expression: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        groute_py.sssp(LADDER, 0, objective=expression, device="cpu")


def test_bad_weights() -> None:
    negative = LADDER.with_weights([1, -2, 3, 4])
    with pytest.raises(GraphError, match="weight of -2 from 0 to 2; an expression takes no"):
        groute_py.sssp(negative, 0, objective="max(distance, weight)")
    large = LADDER.with_weights([1, 2**62, 3, 4])
    with pytest.raises(GraphError, match="overflows with the weights"):
        groute_py.sssp(large, 0, objective="max(distance, weight)")
    with pytest.raises(InputError, match="// and % are for integer weights"):
        groute_py.sssp(LADDER.with_weights([0.5] * 4), 0, objective="distance // 2 + weight")
    for wrong in (None, 3, ["max(distance, weight)"]):
        with pytest.raises(InputError, match=r"objective .* is unknown"):
            groute_py.sssp(LADDER, 0, objective=wrong)  # type: ignore[arg-type]


def test_other_jobs_and_options_are_refused() -> None:
    expression = "max(distance, weight)"
    with groute_py.open(LADDER, objective=expression, device="cpu") as solver:
        calls: list[Any] = [
            lambda: solver.bfs(0),
            lambda: solver.nearest([0]),
            lambda: solver.apsp(),
            lambda: solver.matrix([0], [1]),
            lambda: solver.route([(0, 3)]),
            lambda: solver.isochrone([0], 3),
            lambda: solver.closeness(),
            lambda: solver.update([1, 2, 3, 4]),
        ]
        for call in calls:
            with pytest.raises(InputError, match=r"objective max.*: for sssp with one path, not"):
                call()
        with solver.reversed() as again:
            assert again.sssp(3).distances.tolist() == [5, 4, 9, 0]
    how: dict[str, Any] = {"objective": expression}
    functions: list[Any] = [
        lambda: groute_py.apsp(LADDER, **how),
        lambda: groute_py.matrix(LADDER, [0], [1], **how),
        lambda: groute_py.route(LADDER, [(0, 3)], **how),
        lambda: groute_py.nearest(LADDER, [0], **how),
    ]
    for function in functions:
        with pytest.raises(InputError, match=r"objective 'max.*' is unknown; choose one of short"):
            function()
    for more in ({"prepare": True}, {"turns": [(0, 1, 3, 5)]}, {"carry": "toll"}):
        with pytest.raises(InputError, match=f"not with {next(iter(more))}"):
            groute_py.sssp(LADDER, 0, objective=expression, **more)  # type: ignore[arg-type]


def test_wrong_answers_are_refused() -> None:
    result = groute_py.sssp(LADDER, 0, objective="max(distance, weight)", device="cpu")
    assert result is not None
    with pytest.raises(groute_py.VerificationError, match="the best one is"):
        groute_py.verify(LADDER, result, objective="max(distance, weight) + 1")


def test_several_operators_at_once_and_pickled() -> None:
    expressions = OF_INTEGERS[:3]
    solvers = [groute_py.open(LADDER, objective=e, device="cpu") for e in expressions]
    copies = [pickle.loads(pickle.dumps(solver)) for solver in solvers]
    for some in (solvers, copies, solvers):
        for expression, solver in zip(expressions, some, strict=True):
            assert solver.sssp(0).distances.tolist() == best(LADDER, expression, 0)
    for solver in (*solvers, *copies):
        solver.close()


def random_expression(drawn: random.Random, depth: int, *, is_float: bool) -> str:
    """An expression with parts of all kinds."""
    if depth == 0 or drawn.random() < 0.1:
        number = drawn.randrange(20) * (0.25 if is_float else 1)
        return drawn.choice(["distance", "weight", str(number)])
    a, b, c, d = (random_expression(drawn, depth - 1, is_float=is_float) for _ in range(4))
    by = drawn.randrange(1, 9)
    divided = [f"({a}) / {by}"] if is_float else [f"({a}) // {by}", f"({a}) % {by}"]
    compared = f"{a} {drawn.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
    forms = [f"({a} + {b})", f"({a} - {b})", f"-({a})", f"abs({a})", *divided]
    forms += [f"({a}) * ({b})", f"min({a}, {b}, {c})", f"max({a}, {b})"]
    return drawn.choice([*forms, f"({c} if {compared} else {d})"])


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_every_form_means_the_same_in_cuda(kind: str) -> None:
    drawn, cases, is_float = random.Random(7), [], kind == "float64"
    while len(cases) < 200:
        text = random_expression(drawn, 3, is_float=is_float)
        if len(text) <= 200:
            cases.append(text)
    texts = [operators._cuda(parsed(text), is_float=is_float) for text in cases]
    functions = "".join(
        f'extern "C" Distance of_{i}(Distance distance, Distance weight) {{ return {text}; }}\n'
        for i, text in enumerate(texts)
    )
    header = text_of(Program(("primitives/algebra.cuh",)))
    choices = options(np.dtype(kind), wide_offsets=False, mode="alone")
    library = compiled(in_cpp(f"#define EXTENDED distance\n{header}{functions}"), [*choices, "-O1"])
    number = c_double if is_float else c_longlong
    for i, text in enumerate(cases):
        function = library[f"of_{i}"]
        function.argtypes, function.restype = [number, number], number
        for _ in range(20):
            distance, weight = drawn.randrange(1000), drawn.randrange(1000)
            ends = (distance / 7, weight / 7) if is_float else (distance, weight)
            value = compute(text, *ends)
            assert abs(value) < INTEGERS
            assert function(*ends) == value, (text, ends)


def test_commands(tmp_path: Path) -> None:
    answer = tmp_path / "answer.npz"
    done = run_command(
        *("sssp", "road:20x20", "--objective", "max(distance, weight)", "--source", "210"),
        *("--verify", "--json", "-o", str(answer)),
    )
    assert json.loads(done.stdout)["verified"]
    command = "verify", "road:20x20", str(answer), "--objective"
    assert run_command(*command, "max(distance, weight)").exit_code == 0
    assert run_command(*command, "minimax").exit_code == 0
    with pytest.raises(groute_py.VerificationError):
        run_command(*command, "distance + weight")
