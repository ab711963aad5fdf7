"""Orders by separators: new weights, pairs and matrices, held against Dijkstra's algorithm."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph, scipy_distances
from support.processes import Job
from support.skips import EMULATED, hide_metis, require_metis

from groute_py import UNREACHED, Graph, GraphError, InputError, SetupError, customize, generate

require_metis()

GRAPHS = {
    "one vertex": lambda: graph_of(1, []),
    "one vertex with a loop": lambda: graph_of(1, [(0, 0, 3)]),
    "no arcs": lambda: graph_of(7, []),
    "one arc": lambda: graph_of(2, [(1, 0, 5)]),
    "parallel arcs": lambda: graph_of(3, [(0, 1, 9), (0, 1, 4), (1, 0, 3), (1, 2, 8), (1, 2, 2)]),
    "chain": lambda: graph_of(90, [(k, k + 1, k % 7) for k in range(89)]),
    "cycle one way": lambda: graph_of(50, [(k, (k + 1) % 50, 2) for k in range(50)]),
    "star": lambda: graph_of(60, [(0, k, k) for k in range(1, 60)] + [(5, 0, 1)]),
    "hubs with the same neighbours": lambda: graph_of(
        202, [(hub, k, 3 + k % 4) for hub in (200, 201) for k in range(200)] + [(7, 200, 1)]
    ),
    "complete": lambda: random_graph(20, 900, 1, 30),
    "zero weights": lambda: random_graph(70, 200, 2, 0),
    "components": lambda: random_graph(120, 90, 3, 40),
    "int64": lambda: random_graph(60, 200, 4, 2**45, "int64"),
    "sums beyond int32": lambda: random_graph(60, 150, 5, 2**31 - 1),
    "uint32": lambda: random_graph(60, 150, 6, 2**32 - 1, "uint32"),
    "road": lambda: generate("road:20x20"),
}


def every_distance(graph: Graph) -> Any:
    return np.array([scipy_distances(graph, source) for source in range(graph.vertex_count)])


@pytest.fixture(params=["by labels", "without labels"])
def pairs_a_label(request: pytest.FixtureRequest, device: str, monkeypatch: Any) -> None:
    """Pairs and matrices by labels from the first pair on, or never."""
    module = {"cpu": "cpu.customization", "cuda": "cuda.hierarchy.customization"}[device]
    value = 0 if request.param == "by labels" else np.inf
    monkeypatch.setattr(f"groute_py.device.{module}.PAIRS_A_LABEL", value)


@pytest.mark.usefixtures("pairs_a_label")
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name: str, device: str) -> None:
    graph = GRAPHS[name]()
    town = customize(graph, device=device)
    expected = every_distance(graph)
    every = np.arange(graph.vertex_count)
    few = np.random.default_rng(1).integers(0, graph.vertex_count, (2, 5))
    assert town.pairs(*few).tolist() == expected[few[0], few[1]].tolist()
    assert town.matrix(every, every).tolist() == expected.tolist()
    assert town.rows(every).tolist() == expected.tolist()
    sources, targets = np.divmod(np.arange(expected.size), len(every))
    assert (town.pairs(sources, targets) == expected.ravel()).all()


@pytest.mark.usefixtures("pairs_a_label")
@pytest.mark.parametrize("part", range(8))
def test_random_graphs(part: int, device: str) -> None:
    for seed in range(25 * part, 25 * part + (2 if EMULATED else 25)):
        random = np.random.default_rng(seed)
        count = int(random.integers(1, 60))
        arcs = int(random.integers(0, 5 * count))
        greatest = int(random.choice([0, 1, 100, 2**31 - 1]))
        graph = random_graph(count, arcs, seed, greatest, str(random.choice(["int32", "int64"])))
        town = customize(graph, device=device)
        ends = random.integers(0, count, (2, 40))
        expected = every_distance(graph)
        assert (town.pairs(*ends) == expected[ends[0], ends[1]]).all(), seed
        every = np.arange(count)
        assert (town.matrix(every, every) == expected).all(), seed
        assert (town.rows(ends[0]) == expected[ends[0]]).all(), seed


def test_new_weights(device: str) -> None:
    graph = generate("road:15x15")
    town = customize(graph, device=device)
    for seed, greatest in enumerate([9, 2**20, 2**31 - 2, 3]):
        weights = np.random.default_rng(seed).integers(0, greatest, graph.arc_count)
        town.update(weights)
        every = np.arange(graph.vertex_count)
        expected = every_distance(graph.with_weights(weights))
        assert (town.rows(every[::40]) == expected[::40]).all()
        assert (town.matrix(every[::40], every) == expected[::40]).all()
        assert town.statistics["bits"] == (64 if greatest > 2**25 else 32)


@pytest.mark.parametrize("part", range(4))
def test_partial_updates_as_customizing_anew(part: int, device: str) -> None:
    random = np.random.default_rng(part)
    graph = [
        generate("road:12x12"),
        random_graph(60, 200, part, 50),
        random_graph(50, 400, part, 2**30),
        graph_of(40, [(k, (k * 7 + j) % 40, k % 5) for k in range(40) for j in range(6)]),
    ][part]
    partly, anew = customize(graph, device=device), customize(graph, device=device)
    weights = graph.weights.astype(np.int64)
    every = np.arange(graph.vertex_count)
    for turn in range(5 if EMULATED else 250):
        arcs = random.choice(graph.arc_count, random.integers(1, 12), replace=False)
        weights[arcs] = random.integers(0, random.choice([2, 100, 2**31]), len(arcs))
        partly.update(weights[arcs], arcs=arcs)
        anew.update(weights)
        ends = random.integers(0, len(every), (2, 3))
        assert (partly.pairs(*ends) == anew.pairs(*ends)).all()
        if turn % 25 == 0:
            assert (partly.matrix(every, every) == anew.matrix(every, every)).all()
    assert (partly.matrix(every, every) == every_distance(graph.with_weights(weights))).all()


def length_of(graph: Graph, path: Any) -> int:
    return sum(int(graph.weights[graph.arc(*step)]) for step in pairwise(path.tolist()))


@pytest.mark.parametrize("name", GRAPHS)
def test_paths(name: str, device: str) -> None:
    graph = GRAPHS[name]()
    town, random = customize(graph, device=device), np.random.default_rng(3)
    for _ in range(2):
        ends = random.integers(0, graph.vertex_count, (2, 40))
        for source, target, path in zip(*ends, town.paths(*ends), strict=True):
            distance = scipy_distances(graph, int(source))[target]
            if distance == UNREACHED:
                assert path.tolist() == []
                continue
            assert (path[0], path[-1]) == (source, target)
            assert len(set(path.tolist())) == len(path)
            assert length_of(graph, path) == distance
        town.update(graph.weights[::-1].copy())
        graph = graph.with_weights(graph.weights[::-1].copy())


def test_paths_name_vertices_by_their_ids() -> None:
    edges = {"from": ["a", "b", "a"], "to": ["b", "c", "c"], "minutes": [4, 3, 9]}
    town = customize(edges, weight="minutes", device="cpu")
    assert [path.tolist() for path in town.paths(["a", "c"], ["c", "a"])] == [["a", "b", "c"], []]
    with pytest.raises(InputError, match="as many sources"):
        town.paths(["a"], ["b", "c"])


@pytest.mark.parametrize("part", range(4))
def test_floats_within_their_rounding(part: int, device: str) -> None:
    for seed in range(part, 4 if EMULATED else 60, 4):
        random = np.random.default_rng(seed)
        count = int(random.integers(1, 50))
        graph = random_graph(count, int(random.integers(0, 4 * count)), seed, 9)
        kind = np.float32 if seed % 3 == 0 else np.float64
        scale = random.integers(-30, 30) if kind is np.float32 else random.integers(-300, 290)
        weights = (random.random(graph.arc_count) * 10.0**scale).astype(kind)
        weights[random.random(graph.arc_count) < 0.2] = 0
        graph = graph.with_weights(weights)
        town, every = customize(graph, device=device), np.arange(count)
        greatest = float(weights.max(initial=0))
        for _ in range(2):
            rows = town.rows(every)
            assert rows.dtype == np.float64
            expected = np.array(
                [scipy_distances(graph.with_weights(weights.astype(np.float64)), v) for v in every]
            )
            reached = np.isfinite(expected)
            assert (np.isfinite(rows) == reached).all()
            error = np.abs(rows[reached] - expected[reached])
            unit = town.unit
            assert unit is not None
            assert np.frexp(unit)[0] == 0.5
            assert greatest == 0 or unit <= max(2.0**-59 * count * greatest, 5e-324)
            assert (error <= count * (unit / 2 + 2**-52 * expected[reached])).all(), seed
            assert (town.matrix(every, every) == rows).all()
            if not graph.arc_count:
                break
            arcs = random.choice(graph.arc_count, 1)
            weights = weights.copy()
            weights[arcs] = weights.max() / 3
            town.update(weights[arcs], arcs=arcs)


def test_exact_floats_and_changes_of_kind(device: str) -> None:
    graph = graph_of(4, [(0, 1, 4), (0, 2, 9), (1, 2, 3)])
    town = customize(graph, device=device)
    with pytest.raises(GraphError, match="some arcs are float64, and those of the others integers"):
        town.update([0.5], arcs=[0])
    town.update([0.125, 9, 0.25])
    assert town.pairs([0, 0], [2, 3]).tolist() == [0.375, np.inf]
    town.update([2], arcs=[2])
    assert town.pairs([0], [2]).tolist() == [2.125]
    assert town.statistics["unit"] == town.unit
    with pytest.raises(GraphError, match="too great beside"):
        town.update([1e30], arcs=[1])
    assert town.paths([0], [2])[0].tolist() == [0, 1, 2]
    town.update([4, 9, 3])
    assert town.unit is None
    assert town.pairs([0, 0], [2, 3]).tolist() == [7, UNREACHED]


def test_several_sets_of_weights(device: str) -> None:
    graph = generate("road:12x12")
    town, random = customize(graph, device=device), np.random.default_rng(5)
    every, few = np.arange(graph.vertex_count), np.array([5, 77, 140])
    sets = random.integers(0, 2**20, (3, graph.arc_count))
    expected = [every_distance(graph.with_weights(weights)) for weights in sets]
    before = town.pairs(few, few[::-1])
    pairs = town.pairs(few, few[::-1], weights=sets)
    assert pairs.tolist() == [some[few, few[::-1]].tolist() for some in expected]
    assert town.matrix(few, every, weights=list(sets)).tolist() == [
        some[few].tolist() for some in expected
    ]
    assert town.rows(few, weights=iter(sets)).tolist() == [some[few].tolist() for some in expected]
    assert town.pairs(few, few[::-1]).tolist() == before.tolist()
    floats = town.pairs(few, few[::-1], weights=sets / 4)
    assert floats.tolist() == [(some[few, few[::-1]] / 4).tolist() for some in expected]
    assert town.unit is None
    with pytest.raises(GraphError, match=r"weights\[1\]: the weight of arc .* is negative"):
        town.pairs(few, few, weights=[sets[0], sets[1] - 2**21])
    with pytest.raises(GraphError, match=r"weights\[0\]: 340 weights are needed"):
        town.pairs(few, few, weights=sets[0])
    with pytest.raises(InputError, match="for at least one set"):
        town.pairs(few, few, weights=[])
    with pytest.raises(InputError, match="integers, or floats"):
        town.pairs(few, few, weights=[sets[0], sets[1] / 2])
    assert town.pairs(few, few[::-1]).tolist() == before.tolist()


@pytest.mark.parametrize("part", range(10))
def test_a_million_pairs(part: int) -> None:
    """5,000 pairs of each of 200 random graphs, against Dijkstra's algorithm."""
    for seed in range(20 * part, 20 * part + 20):
        random = np.random.default_rng(1000 + seed)
        count = int(random.integers(2, 400))
        greatest = int(random.choice([0, 1, 50, 2**20, 2**31 - 1]))
        graph = random_graph(count, int(random.integers(0, 4 * count)), seed, greatest)
        town, expected = customize(graph, device="cpu"), every_distance(graph)
        sources, targets = random.integers(0, count, (2, 5000))
        assert (town.pairs(sources, targets) == expected[sources, targets]).all(), seed


def test_refused_weights_change_nothing(device: str) -> None:
    graph = graph_of(3, [(0, 1, 4), (1, 2, 3)])
    town = customize(graph, device=device)
    refused: list[tuple[Any, str]] = [
        ([1], "2 weights are needed"),
        (["1", "2"], "must be numbers"),
        ([1.0, np.nan], "arc 1 is no finite number"),
        ([np.inf, 1.0], "arc 0 is no finite number"),
        ([1.0, -0.5], "arc 1 is negative"),
        ([1e308, 1e308], "beyond float64"),
        ([1, -2], "arc 1 is negative"),
        ([2**62, 2**62], "scale them down"),
        (np.array([2**63, 1], np.uint64), "does not fit in 64-bit"),
    ]
    for weights, problem in refused:
        with pytest.raises(GraphError, match=problem):
            town.update(weights)
        assert town.pairs([0], [2]).tolist() == [7]
    town.update([2**62 - 1, 0])
    assert town.pairs([0], [2]).tolist() == [2**62 - 1]
    with pytest.raises(GraphError, match=r"may be more than"):
        town.update([2**62], arcs=[1])
    assert town.pairs([0], [2]).tolist() == [2**62 - 1]
    for arcs, problem in [([2], "arc 2 is none"), ([0, 0], "twice"), ([[0]], "list of numbers")]:
        with pytest.raises(InputError, match=problem):
            town.update([1] * len(arcs), arcs=arcs)


def test_large_hubs_take_no_longer() -> None:
    count = 100_000
    leaves = np.arange(2, count)
    offsets = np.concatenate([[0, count - 2, 2 * (count - 2)], np.full(count - 2, 2 * (count - 2))])
    graph = Graph(offsets, np.tile(leaves, 2), np.ones(2 * (count - 2), np.int32))
    town = customize(graph, device="cpu")  # pairs of leaves are no neighbours of each other
    assert town.pairs([0, 1, 0, 2], [2, count - 1, 1, 0]).tolist() == [1, 1, UNREACHED, UNREACHED]
    assert town.statistics["levels"] <= 3


def test_labels_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate("road:15x15")
    town = customize(graph, device="cpu")
    monkeypatch.setattr("groute_py.system.memory_limits.LITTLE", 0)
    monkeypatch.setattr("groute_py.system.memory_limits.available_bytes", lambda: 1000)
    sources, targets = np.divmod(np.arange(graph.vertex_count**2), graph.vertex_count)
    assert (town.pairs(sources, targets) == every_distance(graph).ravel()).all()
    expected = every_distance(graph)[[3, 9]][:, [7, 0, 3]]
    assert town.matrix([3, 9], [7, 0, 3]).tolist() == expected.tolist()


def test_a_wrong_end_among_many(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread looks at a part of the vertices."""
    monkeypatch.setattr("groute_py.many.sources.SLICE", 2)
    town = customize(graph_of(3, [(0, 1, 4), (1, 2, 3)]), device=device)
    right = [0, 1, 2, 2, 1]
    assert town.pairs([0] * 5, right).tolist() == [0, 4, 7, 7, 4]
    for place in range(5):
        wrong = [*right[:place], 3, *right[place + 1 :]]
        with pytest.raises(InputError, match="target 3 is not a vertex"):
            town.pairs([0] * 5, wrong)


def test_wrong_ends(device: str) -> None:
    town = customize(graph_of(3, [(0, 1, 4), (1, 2, 3)]), device=device)
    for ends, problem in [
        (([0], [3]), "target 3 is not a vertex"),
        (([-1], [0]), "source -1"),
        (([0, 1], [0]), "as many sources as targets"),
        (([], []), "at least one"),
        (([0.5], [1]), "no integer"),
    ]:
        with pytest.raises(InputError, match=problem):
            town.pairs(*ends)
    assert town.pairs([2, 1], [0, 1]).tolist() == [UNREACHED, 0]


@pytest.mark.parametrize(
    ("graph", "problem"),
    [
        (graph_of(2, [(0, 1, -1)]), "negative"),
        (graph_of(2, [(0, 1, -0.5)], "float64"), "negative"),
        (graph_of(0, []), "no vertices"),
        (graph_of(3, [(0, 1, 2**62), (1, 2, 1)], "int64"), "scale them down"),
    ],
)
def test_graphs_that_do_not_suit(graph: Graph, problem: str, device: str) -> None:
    with pytest.raises(GraphError, match=problem):
        customize(graph, device=device)


def test_no_small_separators(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.graph.hierarchy.separators import customizable, order

    monkeypatch.setattr(order, "BISECTED", 1000)
    monkeypatch.setattr(order, "MOST_TRIANGLES", 1000)
    with pytest.raises(GraphError, match=r"no small separators: half of its .* are parted"):
        customize("rmat:12", device="cpu")
    monkeypatch.setattr(order, "BISECTED", 1 << 21)
    with monkeypatch.context() as few:
        few.setattr(order, "MOST_ARCS", 1000)
        with pytest.raises(GraphError, match=r"already give .* arcs \(at most 1,000\)"):
            customize("rmat:12", device="cpu")
    monkeypatch.setattr(customizable, "MOST_TRIANGLES", 20_000)
    with pytest.raises(GraphError, match=r"of its 10,000 vertices already give"):
        customize("road:100x100", device="cpu")


@pytest.mark.mpi
def test_each_rank_by_itself(script: Job) -> None:
    text = """
import groute_py
town = groute_py.customize("road:20x20", device="cpu")
print(town.pairs([37], [5]).tolist())
try:
    town.update([1])
except groute_py.GraphError as problem:
    print("refused")
"""
    done = script(text, 3)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[35311]") == done.stdout.count("refused") == 3


def test_without_metis(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_metis(monkeypatch)
    with pytest.raises(SetupError, match=r"pip install 'groute-py\[separators\]'"):
        customize("road:9x9", device="cpu")
    chain = graph_of(9, [(k, k + 1, 1) for k in range(8)])  # has nothing to dissect
    assert customize(chain, device="cpu").pairs([0], [8]).tolist() == [8]
