"""Contraction hierarchies on a GPU: answers, parts, the same ones as on the CPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.graphs import random_graph, scipy_distances
from support.reference import nearest_of, turned_round
from support.skips import needs_gpu

from groute_py import UNREACHED, Graph, PreparedGraph, apsp, generate, nearest, sssp
from groute_py.device.base import unreached
from groute_py.device.cuda.hierarchy.memory_plan import (
    levels_bytes_in,
    levels_bytes_of,
    rows_bytes_in,
)
from groute_py.device.summary import Wanted, summarize
from groute_py.engine.memory.gpus import free_gpu_bytes
from groute_py.graph.facts import Size
from groute_py.graph.hierarchy.hierarchy import ARRAYS, Hierarchy
from groute_py.graph.hierarchy.problems import DenseError, NarrowError

pytestmark = needs_gpu

GRAPHS = {
    "road": lambda: generate("road:24x20"),
    "one way": lambda: random_graph(120, 280, 3, 100),
    "zero weights": lambda: random_graph(100, 250, 4, 3),
    "64 bits": lambda: random_graph(60, 100, 5, 2**31 - 2),
    "star": lambda: star(90),
    "star of stars": lambda: edges([(0, k) for k in range(1, 10)] + tufts(range(1, 10), 10, 8)),
    "caterpillar": lambda: edges([(k, k + 1) for k in range(40)] + tufts(range(41), 41, 3)),
    "tree": lambda: edges([(k, (k - 1) // 2) for k in range(1, 127)]),
    "chain": lambda: edges([(k, k + 1) for k in range(150)]),
    "wheel": lambda: edges([*tufts([0], 1, 90), *((k, k % 90 + 1) for k in range(1, 91))]),
    "equal grid": lambda: edges(
        [(k, k + 1) for k in range(144) if k % 12 < 11] + [(k, k + 12) for k in range(132)]
    ),
    "one way hub": lambda: one_way_hub(80),
    "one vertex": lambda: random_graph(1, 0, 1, 1),
    "only loops": lambda: edges([(k, k) for k in range(7)]),
    "no arcs": lambda: random_graph(9, 0, 1, 1),
}


def star(leaves: int) -> Graph:
    """Arcs of equal weight between a middle, the last vertex, and all others."""
    middle = np.full(leaves, leaves, np.int32)
    offsets = np.concatenate([np.arange(leaves + 1), [2 * leaves]])
    heads = np.concatenate([middle, np.arange(leaves, dtype=np.int32)])
    return Graph(offsets, heads, np.full(2 * leaves, 7, np.int32))


def edges(pairs: list[tuple[int, int]]) -> Graph:
    """Edges of equal weight."""
    one = np.array(pairs, np.int32)
    tails, heads = np.concatenate([one, one[:, ::-1]]).T
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tails))])
    heads = heads[np.argsort(tails, kind="stable")].astype(np.int32)
    return Graph(offsets, heads, np.full(len(heads), 7, np.int32))


def tufts(middles: Iterable[int], first: int, leaves: int) -> list[tuple[int, int]]:
    """Leaves of each middle; ``first`` is the number of the first one."""
    return [(m, first + k * leaves + j) for k, m in enumerate(middles) for j in range(leaves)]


def one_way_hub(ends: int) -> Graph:
    """Vertex 0, with arcs from one half of the others and to the other half."""
    half = ends // 2
    offsets = np.concatenate([[0], half + np.minimum(np.arange(ends + 1), half)])
    heads = np.concatenate([np.arange(half + 1, ends + 1), np.zeros(half)])
    return Graph(offsets, heads.astype(np.int32), np.full(2 * half, 7, np.int32))


def type_of(graph: Graph) -> np.dtype[Any]:
    """That holds all distances of these graphs."""
    return np.dtype(np.int64 if graph.arc_count and graph.weights.max() > 2**20 else np.int32)


def contracted(graph: Graph, core: int) -> Hierarchy:
    """On the GPU."""
    from groute_py.device.cuda.hierarchy.rounds import contract

    return contract(graph.offsets, graph.heads, graph.weights, type_of(graph), core)


def matrix(graph: Graph, hierarchy: Hierarchy, ends: NDArray[np.int64]) -> NDArray[Any]:
    """Distances between some vertices, by the hierarchy."""
    from groute_py.device.cuda.hierarchy.sweeps import CudaSweeps
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    there = CudaGraph(graph, type_of(graph), 0)
    solver = CudaSweeps(there, hierarchy, predecessors=False)
    return np.concatenate([block.distances for block in solver.blocks(ends, ends)])


def right(graph: Graph, ends: NDArray[np.int64]) -> NDArray[Any]:
    """The same by SciPy."""
    rows = np.stack([scipy_distances(graph, int(source)) for source in ends])
    nothing = unreached(type_of(graph))
    return np.where(rows == np.iinfo(np.int64).max, nothing, rows)[:, ends].astype(type_of(graph))


@pytest.mark.parametrize("core", [1, 8, 1000])
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_between_vertices(name: str, core: int) -> None:
    graph = GRAPHS[name]()
    hierarchy = contracted(graph, core)
    ends = np.random.default_rng(1).integers(0, graph.vertex_count, 40)  # some twice
    np.testing.assert_array_equal(matrix(graph, hierarchy, ends), right(graph, ends))
    assert hierarchy.core_count <= max(core, 8)


@pytest.mark.parametrize("name", ["road", "one way", "zero weights", "64 bits"])
def test_the_other_direction(name: str) -> None:
    graph = GRAPHS[name]()
    hierarchy = contracted(graph, 8)
    ends = np.random.default_rng(2).integers(0, graph.vertex_count, 40)
    result = matrix(graph.reversed(), hierarchy.reversed(), ends)
    np.testing.assert_array_equal(result, right(turned_round(graph), ends))


@pytest.mark.parametrize("to_facility", [False, True])
@pytest.mark.parametrize("name", ["road", "one way", "zero weights"])
def test_nearest_facilities(name: str, to_facility: bool) -> None:
    """From a root above a hierarchy."""
    graph = GRAPHS[name]()
    town = PreparedGraph(graph, contracted(graph, 8))
    facilities = np.random.default_rng(2).integers(0, graph.vertex_count, 40)
    result = nearest(town, facilities, to_facility=to_facility, device="cuda")
    assert result is not None
    assert result.statistics["algorithm"] == "contraction"
    owners, distances = nearest_of(turned_round(graph) if to_facility else graph, facilities)
    np.testing.assert_array_equal(result.distances, distances)
    np.testing.assert_array_equal(result.facilities, owners)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_same_hierarchy_as_on_the_cpu(name: str) -> None:
    from groute_py.device.cpu import contraction

    graph = GRAPHS[name]()
    there = contracted(graph, 4).to_host()
    here = contraction.contract(graph.offsets, graph.heads, graph.weights, type_of(graph), core=4)
    assert there.levels == here.levels
    for array in ARRAYS:
        np.testing.assert_array_equal(getattr(there, array), getattr(here, array), array)
    assert there.is_symmetric == here.is_symmetric


def test_a_part_is_closed_upward() -> None:
    import cupy as cp

    from groute_py.device.cuda.hierarchy.restrict import part_above

    hierarchy = contracted(GRAPHS["road"](), 4)
    part, places = part_above(hierarchy, cp.asarray(np.array([5, 17, 5])))
    host = part.to_host()
    levels = np.searchsorted(host.levels, np.arange(host.vertex_count), "right")
    tails = np.repeat(np.arange(host.vertex_count), np.diff(host.offsets))
    assert (levels[host.heads] < levels[tails]).all()
    assert host.levels[1] == hierarchy.core_count
    assert 0 < host.vertex_count < hierarchy.vertex_count
    assert places.get().tolist()[0] == places.get().tolist()[2]


@pytest.mark.parametrize("name", ["road", "one way", "tree", "no arcs"])
def test_what_a_part_has(name: str) -> None:
    import cupy as cp

    from groute_py.device.cuda.hierarchy.restrict import part_above

    hierarchy = contracted(GRAPHS[name](), 4)
    whole = hierarchy.to_host()
    place_of = np.argsort(whole.vertices)
    wanted = {int(place_of[vertex]) for vertex in (5, 8)} | set(range(whole.core_count))
    for place in range(whole.vertex_count - 1, -1, -1):  # heads come before their tails
        if place in wanted:
            wanted.update(whole.heads[whole.offsets[place] : whole.offsets[place + 1]].tolist())
    kept = sorted(wanted)
    part = part_above(hierarchy, cp.asarray(np.array([5, 8]))).hierarchy.to_host()
    assert part.vertex_count == len(kept)
    for own, place in enumerate(kept):
        mine = slice(part.offsets[own], part.offsets[own + 1])
        theirs = slice(whole.offsets[place], whole.offsets[place + 1])
        assert [kept[head] for head in part.heads[mine]] == whole.heads[theirs].tolist()
        np.testing.assert_array_equal(part.down[mine], whole.down[theirs])
        np.testing.assert_array_equal(part.up[mine], whole.up[theirs])


def test_the_core_is_closed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.hierarchy import sweeps
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    made, core_distances = [], sweeps.core_distances

    def counted(*given: Any) -> Any:
        made.append(given)
        return core_distances(*given)

    monkeypatch.setattr(sweeps, "core_distances", counted)
    graph = GRAPHS["road"]()
    there = CudaGraph(graph, type_of(graph), 0)
    solver = sweeps.CudaSweeps(there, contracted(graph, 8), predecessors=False)
    for ends in (np.arange(9), np.arange(40, 50)):
        result = np.concatenate([block.distances for block in solver.blocks(ends, ends)])
        np.testing.assert_array_equal(result, right(graph, ends))
        rows = np.concatenate([block.distances for block in solver.blocks(ends)])
        np.testing.assert_array_equal(rows[:, ends], result)
    assert len(made) == 1


def test_a_hierarchy_that_does_not_fit() -> None:
    from groute_py.device.cuda.hierarchy.sweeps import CudaSweeps
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    graph = GRAPHS["road"]()
    hierarchy = contracted(graph, 8).to_host()
    there = CudaGraph(graph, type_of(graph), 0, memory_limit=1)
    with pytest.raises(MemoryError, match=r"the hierarchy takes .* bytes of cuda.* \d are free"):
        CudaSweeps(there, hierarchy, predecessors=False)


def test_a_hierarchy_has_room_for_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much as it is refused without is as much as it takes, or a little more."""
    from groute_py.device.cuda.hierarchy.sweeps import CudaSweeps
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    graph = GRAPHS["road"]()
    hierarchy = contracted(graph, 8).to_host()
    there = CudaGraph(graph, type_of(graph), 0)
    solver = CudaSweeps(there, hierarchy, predecessors=False)
    list(solver.blocks(np.array([5])))
    assert solver._levels is not None
    levels = {id(array): array for array in solver._levels._arrays.values()}
    takes = rows_bytes_in(hierarchy, there.type)
    assert solver._hierarchy.nbytes + sum(array.nbytes for array in levels.values()) <= takes
    monkeypatch.setattr(CudaGraph, "free_bytes", takes)
    CudaSweeps(there, hierarchy, predecessors=False)
    monkeypatch.setattr(CudaGraph, "free_bytes", takes - 1)
    with pytest.raises(MemoryError, match="the hierarchy takes"):
        CudaSweeps(there, hierarchy, predecessors=False)


def test_a_hierarchy_that_was_contracted_here_has_room_for_whole_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its own arrays are there by then."""
    from groute_py.device.cuda.hierarchy.sweeps import CudaSweeps
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    graph = GRAPHS["road"]()
    there = CudaGraph(graph, type_of(graph), 0)
    hierarchy = CudaSweeps(there, None, predecessors=False)._hierarchy
    takes = levels_bytes_in(hierarchy, there.type)
    assert takes == rows_bytes_in(hierarchy, there.type) - hierarchy.nbytes
    monkeypatch.setattr(CudaGraph, "free_bytes", takes)
    CudaSweeps(there, None, predecessors=False)
    monkeypatch.setattr(CudaGraph, "free_bytes", takes - 1)
    with pytest.raises(MemoryError, match="the hierarchy takes"):
        CudaSweeps(there, None, predecessors=False)


def test_distances_within_the_core_beyond_62_bits() -> None:
    """Rows take them from a method that adds up none of them."""
    count, heavy = 6, 2**61
    graph = Graph(
        np.array([0, *range(1, count), count - 1]),
        np.arange(1, count, dtype=np.int32),
        np.full(count - 1, heavy),
    )
    core = contracted(graph, count)
    assert core.core_count == count
    result = apsp(PreparedGraph(graph, core), sources=[3, 4], algorithm="sweep", device="cuda")
    assert result is not None
    assert result.statistics["device"].endswith("where others had sums out of range")
    nothing = UNREACHED
    rows = [[nothing] * 3 + [0, heavy, 2 * heavy], [nothing] * 4 + [0, heavy]]
    np.testing.assert_array_equal(result.distances, rows)


@pytest.mark.parametrize("more", [[], [(1, 2)]], ids=["star", "star and an edge"])
def test_a_hub_is_no_obstacle(more: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.device.cuda.hierarchy.rounds.MOST_WALKED", 1 << 20)
    graph = edges([*tufts([0], 1, 20_000), *more])
    assert contracted(graph, 1).core_count == 1


def test_a_hub_in_a_dense_part_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.device.cuda.hierarchy.rounds.MOST_WALKED", 1 << 10)
    with pytest.raises(DenseError, match="one of them 90"):
        contracted(GRAPHS["wheel"](), 1)


def test_a_dense_graph_is_given_up() -> None:
    with pytest.raises(DenseError, match="contraction stops at"):
        contracted(random_graph(30_000, 300_000, 7, 100), 8)


def test_a_shortcut_that_does_not_fit() -> None:
    from groute_py.device.cuda.hierarchy.rounds import contract

    path = Graph(
        np.array([0, 1, 2, 2]), np.array([1, 2], np.int32), np.full(2, 2**31 - 2, np.int32)
    )
    with pytest.raises(NarrowError):
        contract(path.offsets, path.heads, path.weights, np.dtype(np.int32), 1)


def test_prepare_of_each_function() -> None:
    road = GRAPHS["road"]()
    one = sssp(road, 5, prepare=True, device="cuda")
    rows = apsp(road, sources=[5, 7], prepare=True, algorithm="sweep", device="cuda")
    assert one is not None
    assert rows is not None
    assert one.statistics["algorithm"] == "contraction"
    assert rows.statistics["reason"] == "asked for; contracted, since its vertices have few arcs"
    np.testing.assert_array_equal(one.distances, scipy_distances(road, 5))
    np.testing.assert_array_equal(rows.distances[0], one.distances)


def test_a_full_gpu_solves_what_the_host_has_contracted(monkeypatch: pytest.MonkeyPatch) -> None:
    road = GRAPHS["road"]()
    free = levels_bytes_of(Size(road.vertex_count, road.arc_count), 500, type_of(road))
    monkeypatch.setattr("groute_py.engine.memory.gpus.contraction_bytes", lambda arcs: free + 1)
    monkeypatch.setattr("groute_py.engine.memory.gpus.free_gpu_bytes", lambda *_: free)
    one = sssp(road, 5, prepare=True, device="cuda")
    assert one is not None
    assert "; on the host: contraction takes" in one.statistics["reason"]
    np.testing.assert_array_equal(one.distances, scipy_distances(road, 5))


def test_a_gpu_that_runs_out_of_memory_lets_the_host_contract(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The estimate was too low, or another process was faster."""
    road = GRAPHS["road"]()

    def full(*_: Any, **__: Any) -> None:
        raise MemoryError("17 bytes")

    monkeypatch.setattr("groute_py.device.cuda.hierarchy.rounds.contract", full)
    one = sssp(road, 5, prepare=True, device="cuda")
    assert one is not None
    said = "; on the host: contraction does not fit on the GPU (17 bytes)"
    assert one.statistics["reason"].endswith(said)
    np.testing.assert_array_equal(one.distances, scipy_distances(road, 5))


def test_what_the_pool_keeps_is_free() -> None:
    import cupy as cp

    nbytes = 1 << 26
    block = cp.empty(nbytes, np.uint8)
    taken = free_gpu_bytes()
    del block
    assert free_gpu_bytes() >= taken + nbytes // 2


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("filled", "room"), [(1, 2), (1 << 31, 4096)])
def test_summaries_of_trees(
    name: str, filled: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By packs one after the other, or all at once, as the host summarizes rows.

    Lists of searches that are too short are made anew.
    """
    from groute_py.device.cuda.hierarchy import many_trees, sweeps
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    monkeypatch.setattr(sweeps, "SUMMARIZED", filled)
    monkeypatch.setattr(many_trees, "FOUND", room)
    graph = GRAPHS[name]()
    on_gpu = CudaGraph(graph, type_of(graph), 0)
    try:
        solver = sweeps.CudaSweeps(on_gpu, None, predecessors=False)
    except DenseError:
        pytest.skip("the graph does not contract")
    sources = np.random.default_rng(1).integers(0, graph.vertex_count, 70)
    parts = list(solver.summaries(sources, Wanted()))
    assert [part.first for part in parts] == ([0, 32, 64] if filled == 1 else [0])
    for part in parts:
        for place in range(part.count):
            source = int(sources[part.first + place])
            row = scipy_distances(graph, source).astype(np.int64)
            expected = summarize(0, row, source, Wanted())
            for field in ("reached", "sums", "farthest", "greatest"):
                assert getattr(part, field)[place] == getattr(expected, field)[0]
