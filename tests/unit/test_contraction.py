"""Contraction hierarchies made by the CPU, and the trees that it finds with them."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.graphs import all_lengths, graph_of, graphs, scipy_distances
from support.hierarchies import TYPES, contracted, loaded
from support.reference import turned_round

from groute_py import UNREACHED, Graph, TimeLimitError, generate
from groute_py.device.base import alike, unreached
from groute_py.device.cpu import contraction
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.sweeps import CpuSweeps
from groute_py.device.rows import NarrowError as NarrowRowError
from groute_py.device.summary import Wanted
from groute_py.engine.preparing import prepare_graph
from groute_py.graph.facts import facts_of
from groute_py.graph.hierarchy.check import check_hierarchy
from groute_py.graph.hierarchy.hierarchy import ARRAYS, Hierarchy
from groute_py.graph.hierarchy.problems import DenseError, NarrowError
from groute_py.graph.symmetrize import mirrored
from groute_py.kernels.cpu import contraction as kernels
from groute_py.kernels.cpu.phases import ThreadTeam
from groute_py.many.johnson import rooted


@st.composite
def cases(draw: st.DrawFn) -> tuple[Graph, Hierarchy]:
    """A graph, as it is or undirected, and its hierarchy down to a core of some size."""
    graph = draw(graphs())
    if draw(st.booleans()):
        graph = mirrored(graph)
    return graph, contracted(graph, draw(st.integers(0, 24)), draw(st.sampled_from(TYPES)))


def wheel(rim: int) -> Graph:
    """A hub whose row is long, and neighbours that are joined to each other."""
    around = [(v, v % rim + 1, v % 7) for v in range(1, rim + 1)]
    return mirrored(graph_of(rim + 1, [*around, *((0, v, v % 11 + 1) for v in range(1, rim + 1))]))


def assert_alike(
    graph: Graph, core: int, threads: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hierarchies by other numbers of threads are that by one, to the bit."""
    monkeypatch.setattr(contraction, "thread_count", lambda: 1)
    one = contracted(graph, core)
    monkeypatch.setattr(contraction, "ENTRIES_A_THREAD", 1)
    monkeypatch.setattr(contraction, "LEAST_PART", 1)
    for size in threads:
        monkeypatch.setattr(contraction, "thread_count", lambda: size)  # noqa: B023
        other = contracted(graph, core)
        assert (other.levels, other.is_symmetric) == (one.levels, one.is_symmetric)
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name), strict=True)
    monkeypatch.undo()


def heavy_star() -> Graph:
    """Arcs of leaves and a hub; a path of two of them is too long for 32 bits."""
    leaves = [arc for v in range(3, 80) for arc in ((0, v, 1), (v, 0, 1))]
    return graph_of(80, [(0, 1, 2**31 - 2), (2, 0, 2), *leaves])


class TestHierarchy:
    @given(case=cases())
    def test_levels(self, case: tuple[Graph, Hierarchy]) -> None:
        """Every vertex has a place, and arcs lead to lower levels."""
        graph, hierarchy = case
        assert sorted(hierarchy.vertices.tolist()) == list(range(graph.vertex_count))
        assert hierarchy.levels[0] == 0
        assert hierarchy.levels[-1] == graph.vertex_count
        levels = np.repeat(np.arange(len(hierarchy.levels) - 1), np.diff(hierarchy.levels))
        tails = np.repeat(np.arange(graph.vertex_count), np.diff(hierarchy.offsets))
        assert (levels[hierarchy.heads] < levels[tails]).all()
        for level in range(len(hierarchy.levels) - 1):
            assert (np.diff(hierarchy.vertices[levels == level]) > 0).all()

    @given(graph=graphs(), undirected=st.booleans())
    def test_what_is_left_keeps_its_distances(self, graph: Graph, undirected: bool) -> None:
        """After every round: the core of each size that rounds leave."""
        graph = mirrored(graph) if undirected else graph
        lengths, core = all_lengths(graph), graph.vertex_count
        while core > 0:
            hierarchy = contracted(graph, core - 1)
            if hierarchy.core_count == core:
                return  # all are too dense for another round
            core = hierarchy.core_count
            left = hierarchy.vertices[:core]
            among = _lengths_of_core(hierarchy)
            np.testing.assert_array_equal(among, lengths[np.ix_(left, left)])

    @given(case=cases())
    def test_symmetry(self, case: tuple[Graph, Hierarchy]) -> None:
        graph, hierarchy = case
        lengths = _least_arcs(graph)
        assert hierarchy.is_symmetric == bool((lengths == lengths.T).all())

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(graph=graphs(), undirected=st.booleans(), core=st.integers(0, 8))
    def test_threads_do_not_matter(
        self, graph: Graph, undirected: bool, core: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        graph = mirrored(graph) if undirected else graph
        assert_alike(graph, core, (2, 3, 8), monkeypatch)

    @pytest.mark.parametrize("spec", ["road:50x50", "random:3000,6000"])
    @pytest.mark.parametrize("threads", [2, 3, 8])
    def test_threads_of_large_graphs(
        self, spec: str, threads: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert_alike(generate(spec), 8, (threads,), monkeypatch)

    def test_threads_of_long_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert_alike(wheel(700), 3, (3,), monkeypatch)

    def test_a_thread_for_each_core_of_a_solve(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("groute_py.system.threads.available_cores", lambda: 4)
        monkeypatch.setenv("OMP_NUM_THREADS", "3")
        monkeypatch.setattr(contraction, "ENTRIES_A_THREAD", 1)
        sizes = []

        def choose(team: ThreadTeam, left: Any, spaces: Any) -> None:
            sizes.append(team.size)
            kernels.choose(team, left, spaces)

        monkeypatch.setattr(contraction, "choose", choose)
        contracted(generate("road:20x20"), 8)
        assert sizes == [3, 3, 3]

    def test_an_error_ends_all_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also those that wait at a barrier for the one that failed, or for the caller's signal."""
        monkeypatch.setattr(contraction, "thread_count", lambda: 3)
        monkeypatch.setattr(contraction, "ENTRIES_A_THREAD", 1)
        kernel, numbers = contraction.take_round, count()

        def take_round(*arguments: Any) -> None:
            if next(numbers) == 1:
                raise TimeLimitError("time is up")
            kernel(*arguments)

        monkeypatch.setattr(contraction, "take_round", take_round)
        with pytest.raises(TimeLimitError):
            contracted(generate("road:30x30"), 8)

    def test_a_road_becomes_small(self) -> None:
        graph = generate("road:60x60")
        hierarchy = contracted(graph, 1)
        assert hierarchy.core_count <= 1
        assert hierarchy.arc_count < 3 * graph.vertex_count

    def test_a_star_takes_two_levels(self) -> None:
        hierarchy = contracted(mirrored(graph_of(50, [(0, v, v) for v in range(1, 50)])), 0)
        assert np.diff(hierarchy.levels).tolist() == [0, 1, 49]

    def test_a_complete_graph_stays(self) -> None:
        graph = graph_of(60, [(u, v, 1) for u in range(60) for v in range(60) if u != v])
        assert contracted(graph, 4).core_count == 60

    @pytest.mark.parametrize("spec", ["random:2000,10000", "random:2000,80000"])
    def test_random_graphs_become_dense(self, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(contraction, "CORE_LIMIT", 300)
        with pytest.raises(DenseError, match=r"contraction stops at .* roads, meshes and trees"):
            contracted(generate(spec), 256)

    def test_a_shortcut_that_does_not_fit(self) -> None:
        graph = graph_of(3, [(0, 1, 2**31 - 2), (1, 2, 2)])
        with pytest.raises(NarrowError):
            contracted(graph, 1)
        assert contracted(graph, 1, TYPES[1]).type == np.int64

    @pytest.mark.parametrize("count", [0, 1, 2])
    def test_few_vertices(self, count: int) -> None:
        hierarchy = contracted(graph_of(count, []), 0)
        assert hierarchy.vertices.tolist() == list(range(count))
        assert hierarchy.core_count == hierarchy.arc_count == 0
        loaded(graph_of(count, []), hierarchy, TYPES[0])


class TestTrees:
    @settings(max_examples=60)
    @given(case=cases(), source=st.integers(0, 23))
    def test_distances(self, case: tuple[Graph, Hierarchy], source: int) -> None:
        graph, hierarchy = case
        source %= graph.vertex_count
        for distance_type in TYPES:
            if distance_type.itemsize >= hierarchy.type.itemsize:
                result = tree(graph, hierarchy, source, distance_type)
                np.testing.assert_array_equal(result, scipy_distances(graph, source))

    @settings(max_examples=40)
    @given(case=cases(), vertex=st.integers(0, 23))
    def test_turned_round(self, case: tuple[Graph, Hierarchy], vertex: int) -> None:
        """The hierarchy of the other direction, and of that turned round again."""
        graph, hierarchy = case
        vertex %= graph.vertex_count
        there = hierarchy.reversed()
        check_hierarchy(there)
        assert there.is_symmetric == hierarchy.is_symmetric
        result = tree(graph.reversed(), there, vertex, hierarchy.type)
        np.testing.assert_array_equal(result, scipy_distances(turned_round(graph), vertex))
        result = tree(graph, there.reversed(), vertex, hierarchy.type)
        np.testing.assert_array_equal(result, scipy_distances(graph, vertex))

    @settings(max_examples=30)
    @given(case=cases(), heads=st.lists(st.integers(0, 23), min_size=1, max_size=4))
    def test_a_root(self, case: tuple[Graph, Hierarchy], heads: list[int]) -> None:
        graph, hierarchy = case
        ends = np.array(heads) % graph.vertex_count
        above = hierarchy.with_root(ends)
        check_hierarchy(above)
        result = tree(rooted(graph, ends), above, graph.vertex_count, hierarchy.type)
        wanted = np.min([scipy_distances(graph, int(end)) for end in ends], axis=0)
        np.testing.assert_array_equal(result[:-1], wanted)

    def test_long_rows(self) -> None:
        graph = wheel(700)
        for source in (0, 350):
            result = tree(graph, contracted(graph, 3), source, TYPES[0])
            np.testing.assert_array_equal(result, scipy_distances(graph, source))

    def test_a_narrow_type_overflows(self) -> None:
        graph = graph_of(3, [(0, 1, 2**31 - 2), (1, 2, 2)])
        device = loaded(graph, contracted(graph, 1, TYPES[1]), TYPES[0])
        device.start(0, alike(np.inf), np.inf, record=False)
        assert device.relax(np.inf) == np.inf
        assert device.counters.overflowed

    def test_a_distance_that_does_not_fit(self) -> None:
        device = loaded(heavy_star(), contracted(heavy_star(), 1), TYPES[0])
        device.start(2, alike(np.inf), np.inf, record=False)
        device.relax(np.inf)
        assert device.counters.overflowed

    def test_shortcuts_that_do_not_fit_in_64_bits(self) -> None:
        """Then all vertices are the core."""
        arcs = [(v, v + 1, 2**62) for v in range(300)]
        graph = graph_of(302, [*arcs, (301, 0, 1)], "int64")
        prepared, _ = prepare_graph(graph, facts_of(graph), "cpu", at_any_length=True)
        assert prepared.hierarchy.core_count == 302
        result = tree(graph, prepared.hierarchy, 301, TYPES[1])
        assert result[:3].tolist() == [1, 2**62 + 1, UNREACHED]


class TestSweeps:
    @settings(max_examples=40)
    @given(case=cases(), trees=st.booleans())
    def test_rows(self, case: tuple[Graph, Hierarchy], trees: bool) -> None:
        graph, hierarchy = case
        sources = np.arange(graph.vertex_count)[::-1]
        solver = CpuSweeps(CpuGraph(graph, hierarchy.type), hierarchy, predecessors=trees)
        blocks = [block.distances.copy() for block in solver.blocks(sources)]
        right = np.stack([scipy_distances(graph, int(source)) for source in sources])
        np.testing.assert_array_equal(_public(np.concatenate(blocks)), right)

    def test_many_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from groute_py.device.cpu import sweeps

        monkeypatch.setattr(sweeps, "BLOCK_BYTES", 1)
        graph = generate("road:30x20")
        solver = CpuSweeps(CpuGraph(graph, TYPES[0]), contracted(graph, 9), predecessors=True)
        sources = np.random.default_rng(1).integers(0, 600, 75)
        done = 0
        for block in solver.blocks(sources):
            assert block.first == done
            assert block.predecessors is not None
            for row, parents in zip(block.distances, block.predecessors, strict=True):
                np.testing.assert_array_equal(_public(row), scipy_distances(graph, sources[done]))
                assert (parents < 0).sum() == 1 + (row == unreached(TYPES[0])).sum()
                done += 1
        assert done == len(sources)
        summaries = list(solver.summaries(sources, Wanted()))
        assert [summary.first for summary in summaries] == list(range(75))
        row = scipy_distances(graph, sources[3])
        assert summaries[3].sums[0] == row[row != UNREACHED].sum()

    def test_a_wide_hierarchy(self) -> None:
        graph = graph_of(3, [(0, 1, 2**31 - 2), (1, 2, 2)])
        with pytest.raises(NarrowRowError):
            CpuSweeps(CpuGraph(graph, TYPES[0]), contracted(graph, 1, TYPES[1]), predecessors=False)

    def test_distances_that_do_not_fit(self) -> None:
        graph = heavy_star()
        solver = CpuSweeps(CpuGraph(graph, TYPES[0]), contracted(graph, 1), predecessors=False)
        assert len(list(solver.blocks(np.array([0, 1])))) == 1
        with pytest.raises(NarrowRowError):
            list(solver.blocks(np.array([0, 2])))


def tree(
    graph: Graph, hierarchy: Hierarchy, source: int, distance_type: np.dtype[Any]
) -> NDArray[np.int64]:
    """The distances by the method, in public numbers."""
    device = loaded(graph, hierarchy, distance_type)
    device.start(source, alike(np.inf), np.inf, record=False)
    assert device.relax(np.inf) == np.inf
    return _public(device.distances())


def _public(distances: NDArray[Any]) -> NDArray[np.int64]:
    return np.where(distances == unreached(distances.dtype), UNREACHED, distances.astype(np.int64))


def _lengths_of_core(hierarchy: Hierarchy) -> Any:
    assert (hierarchy.core_weights < unreached(hierarchy.type)).all()
    tails = np.repeat(np.arange(hierarchy.core_count), np.diff(hierarchy.core_offsets))
    columns = (tails, hierarchy.core_heads, hierarchy.core_weights)
    arcs = zip(*(column.tolist() for column in columns), strict=True)
    return all_lengths(graph_of(hierarchy.core_count, list(arcs)))


def _least_arcs(graph: Graph) -> Any:
    """The lightest arc between any two vertices."""
    least = np.full((graph.vertex_count,) * 2, np.inf)
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    np.minimum.at(least, (tails, graph.heads), graph.weights)
    np.fill_diagonal(least, 0)
    return least
