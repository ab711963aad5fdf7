"""Labels as a method of an opened graph: right answers, and when they are chosen."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.graphs import graph_of, random_graph, scipy_distances
from support.keeping import raising_at, write_at_once
from support.labels import check, every_distance
from support.local_ranks import on_ranks
from support.opening import opened_on, solver_on
from support.skips import EMULATED, hide_metis, require_metis

import groute_py
from groute_py import (
    FormatError,
    Graph,
    InputError,
    PreparedGraph,
    Routes,
    RunError,
    SetupError,
    TimeLimitError,
    generate,
)
from groute_py.cli.main import commands
from groute_py.comm.agree import on_root
from groute_py.graph.hierarchy.separators import order
from groute_py.io.cache_folder import copies_in
from groute_py.jobs.route import RouteJob
from groute_py.many import labels as own
from groute_py.many import parts
from groute_py.many.labels import pays
from groute_py.many.opened import Work
from groute_py.many.storage.store import PartFile, Store

require_metis()

GRAPHS = {
    "one vertex": lambda: graph_of(1, []),
    "one vertex with a loop": lambda: graph_of(1, [(0, 0, 3)]),
    "no arcs": lambda: graph_of(7, []),
    "parallel arcs": lambda: graph_of(3, [(0, 1, 9), (0, 1, 4), (1, 0, 3), (1, 2, 8), (1, 2, 2)]),
    "loops": lambda: graph_of(4, [(0, 0, 1), (0, 1, 5), (1, 1, 0), (1, 3, 2), (3, 3, 7)]),
    "zero weights": lambda: random_graph(50, 150, 2, 0),
    "unreachable": lambda: random_graph(60, 45, 3, 40),
    "64 bits": lambda: random_graph(40, 120, 4, 2**45, "int64"),
    "sums beyond 32 bits": lambda: random_graph(40, 100, 5, 2**31 - 1),
    "road": lambda: generate("road:9x9"),
}


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("reverse", [False, True])
def test_distances(name: str, reverse: bool, device: str) -> None:
    graph = GRAPHS[name]()
    with groute_py.open(graph, prepare=True, reverse=reverse, device=device) as solver:
        solved = graph.reversed() if reverse else graph
        check(solver, solved)
        few = np.arange(min(graph.vertex_count, 3))
        rows = solver.apsp(few)
        assert rows is not None
        np.testing.assert_array_equal(rows.distances, every_distance(solved)[few])
        result = solver.sssp(0)
        assert result is not None
        assert result.distances.tolist() == rows.distances[0].tolist()


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("part", range(2))
def test_random_graphs(part: int, device: str) -> None:
    for seed in range(part, 2 if EMULATED else 40, 2):
        random = np.random.default_rng(seed)
        count, greatest = int(random.integers(1, 30)), int(random.choice([0, 9, 2**31 - 1]))
        graph = random_graph(count, int(random.integers(0, 4 * count)), seed, greatest)
        with groute_py.open(graph, prepare=True, device=device) as solver:
            check(solver, graph)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks(ranks: int, device: str) -> None:
    road = generate("road:8x8")
    fewer = random_graph(5, 9, 1, 9)

    def answer(channel: Any) -> None:
        for graph in (road, fewer):
            own_graph = graph if channel.rank == 0 else None
            with solver_on(channel, own_graph, prepare=True, device=device) as solver:
                check(solver, graph)
                heavier = graph.with_weights(graph.weights * 2)
                solver.update(heavier.weights if channel.rank == 0 else None)
                check(solver, heavier)
                result = solver.sssp(0)
                if result is not None:
                    assert (result.distances == scipy_distances(heavier, 0)).all()

    on_ranks(ranks, answer)


@pytest.mark.usefixtures("eager")
def test_ids_and_turns() -> None:
    arrays = (np.array(some) for some in ([0, 1, 2, 3], [1, 2, 0], [5, 6, 7]))
    graph = Graph(*arrays, ids=np.array(["a", "b", "c"]))
    with groute_py.open(graph, prepare=True, device="cpu") as solver:
        routes = solver.route([("a", "c"), ("c", "b")])
        assert routes is not None
        assert routes.distances.tolist() == [11, 12]
    road = generate("road:7x7")
    tail = int(np.argmax(np.diff(road.offsets) > 1))
    via = int(road.heads[road.offsets[tail]])
    turns = [
        (tail, via, int(head), 1000) for head in road.heads[slice(*road.offsets[via : via + 2])]
    ]
    ends = np.random.default_rng(1).integers(0, road.vertex_count, (60, 2))
    plain = groute_py.route(road, ends, turns=turns, device="cpu")
    with groute_py.open(road, prepare=True, turns=turns, device="cpu") as solver:
        routes = solver.route(ends)
        assert routes is not None
        assert plain is not None
        assert routes.statistics["algorithm"] == "labels"
        assert routes.distances.tolist() == plain.distances.tolist()
        with pytest.raises(InputError, match="turns: not for update"):
            solver.update(road.weights)


def test_when_they_pay() -> None:
    """At once for much, later for the same again, never for few, and not where slower."""
    assert pays(order_s=0.7, labels_s=0.0003, other_s=0.3)
    assert not pays(order_s=1.4, labels_s=0.0003, other_s=0.3)
    assert pays(order_s=1.4, labels_s=0.0003, other_s=0.3, before_s=0.3)
    assert not pays(order_s=0.7, labels_s=2.5e-5, other_s=0.0078)
    assert pays(order_s=0, labels_s=0.002, other_s=0.003)
    assert not pays(order_s=0, labels_s=0.003, other_s=0.002, before_s=100)
    assert not pays(order_s=float("inf"), labels_s=0.001, other_s=10, before_s=100)


def test_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order is made for many pairs alone, a contraction not before there is a tree."""
    road = generate("road:60x60")
    pairs = np.random.default_rng(1).integers(0, road.vertex_count, (300, 2))
    made, contracted = [], []
    make, contract = own.customizable, parts.contract
    monkeypatch.setattr(own, "customizable", lambda *a: made.append(a) or make(*a))
    monkeypatch.setattr(parts, "contract", lambda *a: contracted.append(a) or contract(*a))
    with groute_py.open(road, device="cpu") as solver:
        assert solver.route(pairs).statistics["algorithm"] == "search"
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        few = solver.route(pairs[:1])
        assert few.statistics["algorithm"] == "two-sided search"
        assert "; labels" in few.statistics["reason"]
        assert not made
        result = solver.route(pairs)
        assert result.statistics["algorithm"] == "labels"
        assert result.statistics["reason"].startswith("estimates: labels ")
        assert len(made) == 1
        assert solver.matrix(pairs[:, 0], pairs[:, 1]).statistics["algorithm"] == "labels"
        ways = solver.route(pairs, paths=True)
        assert ways.distances.tolist() == result.distances.tolist()
        assert ways.paths is not None
        assert len(made) == 1
        solver.sssp(0)
        assert len(contracted) == 0  # since loading has contracted the graph
        solver._opened.drop()  # as what makes room
        assert solver.route(pairs).distances.tolist() == result.distances.tolist()
        assert len(made) == 1
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        for _ in range(100):
            calls = solver.route(pairs[:2])
        assert calls.statistics["algorithm"] == "labels"


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("limit_s", [None, 60])
def test_no_call_waits_long_for_an_order(
    limit_s: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = {"LONGEST_ORDER_S": 0} if limit_s is None else {"order_seconds": lambda *_: 61}
    for name, value in {"LONGEST_ORDER_S": 100, **longest}.items():
        monkeypatch.setattr(own, name, value)
    road = generate("road:9x9")
    with groute_py.open(road, prepare=True, device="cpu", time_limit_s=limit_s) as solver:
        routes = solver.route([(3, 7)])
        assert "make it by groute-py prepare --separators" in routes.statistics["reason"]
        assert routes.distances[0] == scipy_distances(road, 3)[7]


def test_an_error_of_metis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.graph.hierarchy.separators.metis.OK", 5)
    with pytest.raises(RunError, match=r"METIS ended before it had an order of .*: code 1"):
        groute_py.customize("road:9x9", device="cpu")


@pytest.mark.usefixtures("eager")
def test_without_metis(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_metis(monkeypatch)
    road = generate("road:9x9")
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        routes = solver.route([(3, 7)])
        assert "no labels: an order from separators takes METIS" in routes.statistics["reason"]
        assert routes.distances[0] == scipy_distances(road, 3)[7]
        matrix = solver.matrix([3], [7])
        assert matrix.statistics["algorithm"] != "labels"
        assert matrix.distances[0, 0] == routes.distances[0]


@pytest.mark.usefixtures("eager")
def test_graphs_that_do_not_suit(monkeypatch: pytest.MonkeyPatch) -> None:
    floats = graph_of(3, [(0, 1, 0.5), (1, 2, 0.25)], "float64")
    negative = graph_of(3, [(0, 1, 4), (1, 2, -1)])
    great = graph_of(3, [(0, 1, 2**62), (1, 2, 1)], "int64")
    for graph, why in [
        (floats, "sums of float weights"),
        (negative, r"a weight is negative"),
        (great, "distances may take more than 62 bits"),
    ]:
        with groute_py.open(graph, prepare=True, device="cpu") as solver:
            routes = solver.route([(0, 2)])
            assert f"no labels: {why}" in routes.statistics["reason"]
            assert routes.distances.tolist() == [graph.weights.sum()]
    monkeypatch.setattr(order, "MOST_TRIANGLES", 10)
    monkeypatch.setattr("groute_py.graph.hierarchy.separators.customizable.MOST_TRIANGLES", 10)
    road = generate("road:12x12")
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        routes = solver.route([(3, 7)])
        assert "has no small separators" in routes.statistics["reason"]
        assert routes.distances[0] == scipy_distances(road, 3)[7]


@pytest.mark.usefixtures("eager")
def test_time_limit() -> None:
    road = generate("road:20x20")
    with groute_py.open(road, prepare=True, time_limit_s=1e-9, device="cpu") as solver:
        assert solver.route([(0, 1)]) is not None  # which is done at the limit
        with pytest.raises(TimeLimitError):
            solver.apsp(np.arange(400).repeat(30))


@pytest.mark.usefixtures("eager")
def test_matrix_in_a_file(tmp_path: Path) -> None:
    road = generate("road:9x9")
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        matrix = solver.matrix([5, 1, 80], [3, 5], output=tmp_path / "matrix.npy")
    assert matrix.statistics["algorithm"] == "labels"
    saved = np.load(tmp_path / "matrix.npy")
    assert saved.tolist() == every_distance(road)[[5, 1, 80]][:, [3, 5]].tolist()


@pytest.mark.usefixtures("eager")
def test_an_order_that_is_kept(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found by whatever has the same arcs, whatever their weights and direction."""
    road = generate("road:9x9")
    for name, graph in {
        "town": road,
        "heavier": road.with_weights(road.weights * 2),
        "back": road.reversed(),
        "other": generate("road:10x8"),
    }.items():
        groute_py.write_graph(graph, tmp_path / f"{name}.gr")
    made = []
    make = order.elimination_order
    customizing = "groute_py.graph.hierarchy.separators.customizable.elimination_order"
    monkeypatch.setattr(customizing, lambda *a: made.append(a) or make(*a))
    monkeypatch.setattr("groute_py.io.cache.LARGE_PREPARED", 1)
    for name, count in [("town", 1), ("heavier", 1), ("back", 1), ("other", 2), ("town", 2)]:
        with groute_py.open(tmp_path / f"{name}.gr", prepare=True, device="cpu") as solver:
            check(solver, groute_py.read_graph(tmp_path / f"{name}.gr"))
        assert len(made) == count, name
    pairs = [(1, 80), (7, 3)]
    routes = groute_py.route(tmp_path / "town.gr", pairs, device="cpu")
    assert routes is not None
    assert routes.statistics["algorithm"] == "labels"
    plain = groute_py.route(road, [(0, 79), (6, 2)], device="cpu")
    assert plain is not None
    assert plain.statistics["algorithm"] != "labels"
    assert routes.distances.tolist() == plain.distances.tolist()
    groute_py.customize(tmp_path / "back.gr", device="cpu")
    assert len(made) == 2
    orders = sorted((empty_cache / "graphs").glob("*.order"))
    assert len(orders) == 2
    assert [copy.kind for copy in copies_in(empty_cache / "graphs")].count("order") == 2
    for place in orders:
        content = bytearray(place.read_bytes())
        content[200] ^= 1
        place.write_bytes(content)
    groute_py.customize(tmp_path / "town.gr", device="cpu")
    assert len(made) == 3


@pytest.mark.usefixtures("eager")
def test_a_prepared_file_with_an_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    road = generate("road:9x9")
    town = groute_py.prepare(road, separators=True, device="cpu")
    assert town is not None
    groute_py.write_graph(town, tmp_path / "town.prepared")
    hide_metis(monkeypatch)  # the order is there
    for reverse in (False, True):
        with groute_py.open(tmp_path / "town.prepared", reverse=reverse, device="cpu") as solver:
            check(solver, road.reversed() if reverse else road)
    with pytest.raises(SetupError, match="METIS"):
        groute_py.prepare(road, separators=True, device="cpu")
    for wrong in (np.zeros(81, np.int32), np.arange(80, dtype=np.int32), np.arange(81) + 1):
        other = PreparedGraph(town, town.hierarchy, order=wrong.astype(np.int32))
        groute_py.write_graph(other, tmp_path / "wrong.prepared")
        with pytest.raises(FormatError, match=r"damaged prepared graph: .* order"):
            groute_py.read_graph(tmp_path / "wrong.prepared")


def test_a_command_contracts_nothing_that_labels_answer(tmp_path: Path) -> None:
    groute_py.write_graph(generate("road:60x60"), tmp_path / "town.gr")
    where = ["--device", "cpu", "--prepare", "--cache", str(tmp_path / "cache")]
    (tmp_path / "cache").mkdir()
    graph = str(tmp_path / "town.gr")
    for words in (
        ["matrix", graph, "--from", "random:300", "--to", "random:300", "-o", "out.npy", "--json"],
        ["route", graph, "--from", "random:100", "--to", "random:100", "-o", "out.csv", "--json"],
    ):
        words[words.index("-o") + 1] = str(tmp_path / words[words.index("-o") + 1])
        done = CliRunner().invoke(commands, [*words, *where])
        assert done.exit_code == 0, done.output
        kinds = sorted(copy.kind for copy in copies_in(tmp_path / "cache"))
        assert kinds == ["native", "order"], done.output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("paths", [False, True])
def test_resumed_routes(
    tmp_path: Path, ranks: int, first: bool, paths: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run goes on where another was interrupted, whichever of them has labels."""
    write_at_once(monkeypatch)
    monkeypatch.setattr(own, "pays", lambda order_s, *_: order_s < np.inf)
    road = generate("road:12x12")
    pairs = np.random.default_rng(ranks).integers(0, 144, (400, 2))

    def work(channel: Any, *, resume: bool, prepare: bool) -> Routes | None:
        with closing(Store(tmp_path / "out.csv", "sources", resume=resume)) as keep:
            opened = opened_on(channel, road, device="cpu", prepare=prepare)
            result = opened.answer(RouteJob(pairs, paths), Work(keep=keep))
            on_root(channel, keep.finish)
        return result

    with monkeypatch.context() as change:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        change.setattr(PartFile, "append", raising_at(2, PartFile.append, full))
        with pytest.raises(RunError, match=r"No space left .* --resume"):
            on_ranks(ranks, partial(work, resume=False, prepare=first))
    routes, *_ = on_ranks(3 - ranks, partial(work, resume=True, prepare=not first))
    assert routes is not None
    assert (routes.statistics["algorithm"] == "labels") is not first
    expected = every_distance(road)[pairs[:, 0], pairs[:, 1]]
    assert routes.distances.tolist() == expected.tolist()
    for pair, distance, path in zip(pairs, routes.distances, routes.paths or (), strict=paths):
        if distance != groute_py.UNREACHED:
            assert path[[0, -1]].tolist() == pair.tolist()
            assert sum(road.weights[road.arc(*step)] for step in pairwise(path)) == distance


@pytest.mark.usefixtures("eager")
def test_centralities_by_other_methods() -> None:
    """They reduce rows where they are solved, which labels do not."""
    road = generate("road:9x9")
    with groute_py.open(road, prepare=True, device="cpu") as solver:
        solver.apsp([0])  # after which labels are there
        closeness = solver.closeness()
    expected = groute_py.centrality.closeness(road, device="cpu")
    assert closeness is not None
    assert expected is not None
    assert closeness.values.tolist() == expected.values.tolist()
    assert closeness.statistics["algorithm"] != "labels"
