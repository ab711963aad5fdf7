"""Orders of vertices: results stay in the input's numbers, and the cut shrinks."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import solving
from support.graphs import graph_of

from groute_py import FormatError, Graph, InputError, NegativeCycleError, generate, sssp, verify
from groute_py.graph.ids import Positions
from groute_py.io.coordinates import coordinates_beside, read_coordinates
from groute_py.kernels.cpu.order import hilbert_places
from groute_py.partition.order import ORDERS, Order, arrange
from groute_py.partition.share import partition
from groute_py.results.reference import reference_distances

WIDTH, HEIGHT = 40, 30


@pytest.fixture(scope="module")
def places() -> np.ndarray[Any, Any]:
    """Where the vertices of `scrambled` lie, shape (n, 2)."""
    grid = np.stack([np.arange(WIDTH * HEIGHT) % WIDTH, np.arange(WIDTH * HEIGHT) // WIDTH], axis=1)
    shuffled = np.empty_like(grid)
    shuffled[_numbers()] = 1000 * grid - 7000
    return shuffled


@pytest.fixture(scope="module")
def scrambled() -> Graph:
    """A road-like grid, its vertices numbered at random."""
    road, number = generate(f"road:{WIDTH}x{HEIGHT}"), _numbers()
    tails = np.repeat(number, np.diff(road.offsets))
    order = np.argsort(tails, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=len(number)))])
    return Graph.from_arrays(offsets, number[road.heads][order], road.weights[order], first_id=1)


def _numbers() -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).permutation(WIDTH * HEIGHT)


@pytest.fixture
def coordinates(places: np.ndarray[Any, Any], tmp_path: Path) -> Path:
    lines = [f"v {v + 1} {x} {y}" for v, (x, y) in enumerate(places.tolist())]
    path = tmp_path / "scrambled.co.gz"
    head = f"c where vertices lie\np aux sp co {len(lines)}\n"
    path.write_bytes(gzip.compress((head + "\n".join(lines[::-1]) + "\n").encode()))
    return path


solve = partial(solving.solve, patience=1)


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("order", ORDERS)
def test_answers_are_in_the_input_s_numbers(
    order: str, ranks: int, scrambled: Graph, coordinates: Path, device: str
) -> None:
    result = solve(scrambled, 17, ranks, order=order, coordinates=coordinates, device=device)
    verify(scrambled, result)
    np.testing.assert_array_equal(result.distances, reference_distances(scrambled, 17))
    assert result.source == 17
    assert result.positions_to(Positions(17)) == [17]
    assert result.statistics["useless_relaxations"] >= 0


@pytest.mark.parametrize("order", ["bfs", "rcm", "hilbert"])
def test_the_cut_shrinks(order: str, scrambled: Graph, coordinates: Path) -> None:
    before = solve(scrambled, 0, 4, order="none").statistics
    after = solve(scrambled, 0, 4, order=order, coordinates=coordinates).statistics
    assert (before["order"], after["order"]) == ("none", order)
    assert after["cut"] < before["cut"] / 8


def test_auto_takes_what_helps(scrambled: Graph, coordinates: Path) -> None:
    assert solve(scrambled, 0, 1).statistics["order"] == "none"
    assert solve(scrambled, 0, 4).statistics["order"] == "bfs"
    assert solve(scrambled, 0, 4, coordinates=coordinates).statistics["order"] == "hilbert"
    assert solve(generate("road:60x300"), 0, 2).statistics["order"] == "none"  # is good already
    assert solve(generate("rmat:8"), 0, 2).statistics["order"] == "none"  # has no good one


def test_auto_looks_at_where_paths_leave_a_part() -> None:
    """A hub's arcs are most of the cut in any order; a long path leaves a part elsewhere."""
    road, leaves = 500, 2000
    path, ends = np.arange(road), np.arange(road, road + leaves)
    hub = np.full(leaves, road - 1)
    tails = np.concatenate([path[:-1], path[1:], hub, ends])
    heads = np.concatenate([path[1:], path[:-1], ends, ends])
    number = np.random.default_rng(7).permutation(road + leaves)
    arcs = number[tails], number[heads]
    order = np.argsort(arcs[0], kind="stable")
    offsets = np.searchsorted(arcs[0][order], np.arange(len(number) + 1))
    graph = Graph.from_arrays(offsets, arcs[1][order], np.ones(len(tails), np.int32))
    before, after = (solve(graph, int(number[0]), 2, order=o).statistics for o in ("none", "auto"))
    assert after["order"] == "bfs"
    assert after["cut"] > before["cut"] / 2


@pytest.mark.parametrize("order", ["bfs", "rcm"])
@pytest.mark.parametrize(("count", "arcs"), [(0, []), (1, []), (5, []), (4, [(0, 1), (2, 3)])])
def test_every_vertex_has_one_place(order: str, count: int, arcs: list[tuple[int, int]]) -> None:
    offsets = np.searchsorted([tail for tail, _ in arcs], np.arange(count + 1))
    graph = Graph.from_arrays(offsets, [head for _, head in arcs], np.ones(len(arcs), np.int32))
    renumbered, found = arrange(graph, order, None, 2, lambda g: partition(g.offsets, 2))
    assert found.order is not None
    assert sorted(found.order.tolist()) == list(range(count))
    assert found.in_order(found.order).tolist() == list(range(count))
    assert renumbered.arc_count == graph.arc_count


def test_there_and_back() -> None:
    ordered = Order("bfs", np.array([2, 0, 3, 1]), np.array([1, 3, 0, 2], np.int32))
    assert ordered.in_order(np.array([0, 3, 3])).tolist() == [1, 2, 2]
    assert Order("none").in_order(np.array([3, 0])).tolist() == [3, 0]
    assert ordered.in_input(np.array([-1, 0, 3])).tolist() == [-1, 2, 1]
    assert ordered.by_input(np.array([20, 0, 30, 10])).tolist() == [0, 10, 20, 30]


def test_a_negative_cycle_is_shown_in_the_input_s_numbers() -> None:
    arcs = [(0, 5, 1), (5, 3, 2), (3, 1, -4), (1, 5, 1)]  # 5 → 3 → 1 → 5 weighs -1
    tails, heads, weights = (np.array(column) for column in zip(*sorted(arcs), strict=True))
    graph = Graph.from_arrays(np.searchsorted(tails, np.arange(7)), heads, weights)
    with pytest.raises(NegativeCycleError) as caught:
        solve(graph, 0, 2, order="bfs")
    assert set(caught.value.cycle) == {1, 3, 5}
    with pytest.raises(NegativeCycleError) as same:
        solve(graph, 0, 2, order="none")
    assert set(same.value.cycle) == {1, 3, 5}


def test_neighbours_on_the_hilbert_curve_are_neighbours() -> None:
    side = 32
    x, y = (a.ravel().astype(np.int64) for a in np.meshgrid(np.arange(side), np.arange(side)))
    order = np.argsort(hilbert_places(x, y))
    steps = np.abs(np.diff(x[order])) + np.abs(np.diff(y[order]))
    assert set(steps.tolist()) == {1}


def in_halves(graph: Graph) -> Any:
    return partition(graph.offsets, 2)


@pytest.mark.parametrize("degree", [1e-6, 1.0], ids=["degrees", "a grid"])
def test_coordinates_of_the_graph_itself(degree: float, tmp_path: Path) -> None:
    rows, columns = np.divmod(np.random.default_rng(4).permutation(64), 8)
    places = np.stack([columns, rows], axis=1)
    graph = graph_of(64, [(k, k + 1, 1) for k in range(63)])
    lines = [f"v {k + 1} {x} {y}" for k, (x, y) in enumerate(places.tolist())]
    (tmp_path / "it.co").write_text("\n".join(lines))
    own = graph.changed(coordinates=degree * places)
    _, by_file = arrange(graph, "hilbert", tmp_path / "it.co", 2, in_halves)
    _, by_own = arrange(own, "hilbert", None, 2, in_halves)
    steps = np.abs(np.diff(places[by_own.order], axis=0)).sum(axis=1)
    assert set(steps.tolist()) == {1}
    if degree == 1:
        assert np.array_equal(by_own.order, by_file.order)


def test_wrong_orders_are_refused(scrambled: Graph) -> None:
    with pytest.raises(InputError, match="order 'dfs' is unknown; choose one of auto"):
        sssp(scrambled, 0, order="dfs", device="cpu")
    with pytest.raises(InputError, match="hilbert needs the coordinates of graph"):
        solve(scrambled, 0, 2, order="hilbert")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("v 1 0 0\nv 2 1 1\n", r"one line for each vertex 1\.\.3, found 2 lines"),
        ("v 1 0 0\nv 2 1 1\nv 2 2 2\n", r"one line for each vertex 1\.\.3, found 3 lines"),
        ("v 1 0 0\nv 2 1\nv 3 1 1\n", "expected lines 'v ID X Y'"),
        ("v 1 0 0\nv 2 1 x\nv 3 1 1\n", "expected lines 'v ID X Y'"),
        ("v 1 0 0\nv 2 1 1\nv 3 1 99999999999999999999\n", "expected lines 'v ID X Y'"),
        ("", "found 0 lines"),
    ],
)
def test_wrong_coordinates_are_refused(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.co"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_coordinates(path, 3)
    with pytest.raises(FormatError, match="cannot be read"):
        read_coordinates(tmp_path / "absent.co", 3)


def test_coordinates_lie_beside_the_graph(tmp_path: Path) -> None:
    (tmp_path / "a.gr.gz").touch()
    assert coordinates_beside(tmp_path / "a.gr.gz") is None
    (tmp_path / "a.co").touch()
    assert coordinates_beside(str(tmp_path / "a.gr.gz")) == tmp_path / "a.co"
    assert coordinates_beside("road:3x3") is None
    assert coordinates_beside(generate("road:3x3")) is None
