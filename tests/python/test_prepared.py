"""Prepared graphs through the Python API: when a graph is contracted, why not, and the answers."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.prepared_town import ROAD, choice
from support.reference import rows_from
from support.solving import solve

import groute_py
from groute_py import Graph, InputError, PreparedGraph, Result
from groute_py.device import registry
from groute_py.engine import preparing
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.hierarchy.problems import DenseError, NarrowError
from groute_py.many import engine_rows
from groute_py.source.graph_source import GraphSource

RANKS = [1, 2, 3, 4]


@pytest.fixture(scope="module")
def town() -> PreparedGraph:
    result = groute_py.prepare(ROAD, device="cpu")
    assert result is not None
    return result


solved = partial(solve, device="cpu")
"""Solve on threads as ranks; rank 0's result."""


class TestAnswers:
    """Those of the graph as it was."""

    @pytest.mark.parametrize("ranks", RANKS)
    @pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
    @settings(max_examples=6, deadline=None)
    @given(data=st.data())
    def test_of_any_small_graph(self, dtype: str, ranks: int, data: st.DataObject) -> None:
        graph = data.draw(graphs(dtype))
        result = solved(graph, 0, ranks, prepare=True)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
        groute_py.verify(graph, result)

    @pytest.mark.parametrize("ranks", RANKS)
    def test_of_a_prepared_graph(self, town: PreparedGraph, ranks: int) -> None:
        result = solved(town, 21, ranks)
        assert choice(result) == ("contraction", "its hierarchy was there")
        np.testing.assert_array_equal(result.distances, scipy_distances(ROAD, 21))
        groute_py.verify(town, result)

    def test_of_every_function(self, town: PreparedGraph, tmp_path: Path) -> None:
        path = tmp_path / "town.prepared"
        groute_py.write_graph(town, path)
        wanted = groute_py.sssp(ROAD, 5, device="cpu")
        hops = groute_py.bfs(ROAD, 5, device="cpu")
        for graph in (town, path, str(path)):
            result = groute_py.sssp(graph, 5, device="cpu")
            np.testing.assert_array_equal(result.distances, wanted.distances)
            assert result.statistics["algorithm"] == "contraction"
            np.testing.assert_array_equal(
                groute_py.bfs(graph, 5, device="cpu").distances, hops.distances
            )
            rows = groute_py.apsp(graph, sources=[5, 7], device="cpu")
            np.testing.assert_array_equal(rows.distances[0], wanted.distances)

    def test_targets_and_cutoff(self, town: PreparedGraph) -> None:
        with groute_py.open(town, device="cpu") as solver:
            some = solver.sssp(21, targets=[2])
        assert some is not None
        assert some.statistics["bound"] == some.distances[2] == scipy_distances(ROAD, 21)[2]
        groute_py.verify(ROAD, some, cutoff=some.statistics["bound"])
        near = groute_py.sssp(town, 21, cutoff=9000, device="cpu")
        groute_py.verify(ROAD, near, cutoff=9000)
        assert near.statistics["algorithm"] == "contraction"

    def test_sums_beyond_32_bits(self) -> None:
        """The hierarchy is narrow, and a longer distance is found in 64 bits."""
        chain = graph_of(40, [(v, v + 1, 2**30) for v in range(39)])
        prepared = groute_py.prepare(chain, device="cpu")
        assert prepared is not None
        result = groute_py.sssp(prepared, 0, device="cpu")
        assert result.distances[39] == 39 * 2**30
        assert result.statistics["distance_type"] == "int64"
        assert result.statistics["algorithm"] == "contraction"


class TestChoice:
    """When it is contracted, and what the statistics say."""

    def test_on_request(self) -> None:
        figures = choice(groute_py.sssp(ROAD, 5, device="cpu", prepare=True))
        assert figures == ("contraction", "contracted, since its vertices have few arcs")
        assert choice(groute_py.sssp(ROAD, 5, device="cpu"))[0] == "delta-stepping"

    def test_by_name(self, town: PreparedGraph) -> None:
        for graph in (ROAD, town, random_graph(50, 900, 1, 20)):
            result = groute_py.sssp(graph, 5, device="cpu", algorithm="contraction")
            assert choice(result) == ("contraction", "asked for")
            np.testing.assert_array_equal(result.distances, scipy_distances(graph, 5))

    @pytest.mark.parametrize("ranks", RANKS)
    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"delta": 50}, "a Δ was given"),
            ({"order": "bfs"}, "order bfs was asked for"),
            ({"mode": "rounds"}, "mode rounds was asked for"),
        ],
    )
    def test_other_wishes(
        self, town: PreparedGraph, options: dict[str, Any], why: str, ranks: int
    ) -> None:
        for graph, more in ((town, {}), (ROAD, {"prepare": True})):
            result = solved(graph, 5, ranks, **options, **more)
            assert choice(result)[0] == "delta-stepping"
            assert choice(result)[1].endswith(f"; not contracted: {why}")
            np.testing.assert_array_equal(result.distances, scipy_distances(ROAD, 5))

    def test_another_method_by_name(self, town: PreparedGraph) -> None:
        result = groute_py.sssp(town, 5, device="cpu", algorithm="heap-dijkstra", prepare=True)
        assert choice(result) == ("heap-dijkstra", "asked for")

    def test_hops(self, town: PreparedGraph) -> None:
        with groute_py.open(town, device="cpu", hops=True, prepare=True) as solver:
            result = solver.sssp(3)
        assert result is not None
        assert choice(result)[1].endswith("not contracted: arcs are counted")
        wanted = groute_py.bfs(ROAD, 3, device="cpu").distances
        np.testing.assert_array_equal(result.distances, wanted)

    def test_an_order_by_name(self, town: PreparedGraph) -> None:
        """A hierarchy is of the vertices as they are; no order changes them."""
        result = groute_py.sssp(town, 5, device="cpu", algorithm="contraction", order="bfs")
        np.testing.assert_array_equal(result.distances, scipy_distances(ROAD, 5))


UNSUITABLE: dict[str, tuple[Graph, str]] = {
    "dense": (random_graph(60, 900, 1, 20), "its vertices have 15.0 arcs on the mean"),
    "negative": (graph_of(3, [(0, 1, 5), (1, 2, -2)]), r"a weight is negative \(-2\)"),
    "float": (graph_of(2, [(0, 1, 0.5)], "float64"), "sums of float weights"),
    "no path": (graph_of(2, [(0, 1, 3), (1, 0, 2**63 - 1)], "int64"), "which stands for no path"),
}


class TestUnsuitable:
    """Said as an error by `prepare`, as a reason by a solve, which goes on."""

    @pytest.mark.parametrize("name", UNSUITABLE)
    def test_prepare_refuses(self, name: str) -> None:
        graph, why = UNSUITABLE[name]
        with pytest.raises(InputError, match=f"graph cannot be contracted: .*{why}"):
            groute_py.prepare(graph, device="cpu")

    @pytest.mark.parametrize("ranks", RANKS)
    @pytest.mark.parametrize("name", UNSUITABLE)
    def test_a_solve_goes_on(self, name: str, ranks: int) -> None:
        graph, why = UNSUITABLE[name]
        result, plain = solved(graph, 0, ranks, prepare=True), solved(graph, 0, ranks)
        assert choice(result)[0] == choice(plain)[0] != "contraction"
        assert choice(result)[1].startswith(f"{choice(plain)[1]}; not contracted: ")
        assert re.search(why, choice(result)[1])
        np.testing.assert_array_equal(result.distances, plain.distances)

    @pytest.mark.parametrize("ranks", [1, 3])
    @pytest.mark.parametrize(
        ("problem", "why"),
        [
            (DenseError(1000, 77.0), "stops at 1,000 vertices with 77 neighbours each"),
            (NarrowError(), "a shortcut weighs more than fits in 64 bits"),
            (MemoryError("12 bytes"), "does not fit in memory"),
        ],
    )
    def test_contraction_gives_up(
        self, monkeypatch: pytest.MonkeyPatch, problem: Exception, why: str, ranks: int
    ) -> None:
        def contract(*_: Any, **__: Any) -> Hierarchy:
            raise problem

        monkeypatch.setattr("groute_py.device.cpu.contraction.contract", contract)
        result = solved(ROAD, 5, ranks, prepare=True)
        assert choice(result)[0] == "delta-stepping"
        assert why in choice(result)[1]
        np.testing.assert_array_equal(result.distances, scipy_distances(ROAD, 5))
        with pytest.raises(InputError, match=f"cannot be contracted: .*{why}"):
            groute_py.prepare(ROAD, device="cpu")

    def test_by_name_of_what_has_no_hierarchy(self) -> None:
        for name in ("negative", "float"):
            with pytest.raises(InputError):
                groute_py.sssp(UNSUITABLE[name][0], 0, device="cpu", algorithm="contraction")

    def test_no_vertices(self) -> None:
        with pytest.raises(InputError, match="has no vertices, so there is nothing to contract"):
            groute_py.prepare(graph_of(0, []), device="cpu")

    def test_other_devices(self) -> None:
        with pytest.raises(InputError, match="device 'gpu' is unknown"):
            groute_py.prepare(ROAD, device="gpu")


class TestWidths:
    """The narrowest type that holds every shortcut, then wider ones."""

    def test_a_shortcut_beyond_32_bits(self) -> None:
        chain = graph_of(600, [(v, v + 1, 2**31 - 2) for v in range(599)])
        prepared = groute_py.prepare(chain, device="cpu")
        assert prepared is not None
        assert prepared.hierarchy.type == np.int64
        result = groute_py.sssp(prepared, 0, device="cpu")
        np.testing.assert_array_equal(result.distances, np.arange(600) * (2**31 - 2))


class TestPreparedGraph:
    """The class."""

    def test_prepared_again(self, town: PreparedGraph) -> None:
        assert groute_py.prepare(town, device="cpu") is town
        assert town.to_host() is town
        assert repr(town).startswith("PreparedGraph('road:20x20', 400 vertices")
        assert town.nbytes == ROAD.nbytes + town.hierarchy.nbytes

    def test_it_travels(self, town: PreparedGraph) -> None:
        there = pickle.loads(pickle.dumps(town))
        assert there.hierarchy.is_symmetric == town.hierarchy.is_symmetric
        np.testing.assert_array_equal(there.hierarchy.down, town.hierarchy.down)

    def test_new_weights(self, town: PreparedGraph) -> None:
        weights = np.random.default_rng(5).integers(0, 100, town.arc_count)
        other = town.with_weights(weights, device="cpu")
        assert isinstance(other, PreparedGraph)
        result = groute_py.sssp(other, 21, device="cpu")
        assert choice(result)[0] == "contraction"
        np.testing.assert_array_equal(result.distances, scipy_distances(other, 21))
        np.testing.assert_array_equal(other.weights, weights)
        assert town.weights.tolist() == ROAD.weights.tolist()

    def test_new_weights_keep_ids(self) -> None:
        named = graph_of(3, [(0, 1, 4), (1, 2, 3)]).changed(ids=np.array(["a", "b", "c"]))
        prepared = groute_py.prepare(named, device="cpu")
        assert prepared is not None
        assert prepared.with_weights([1, 2], device="cpu").numbering.id_of(2) == "c"

    @pytest.mark.parametrize(
        ("weights", "says"),
        [
            ([1, 2], "must have one length"),
            (lambda count: np.full(count, 0.5), "float weights"),
            (lambda count: np.full(count, -1), "negative"),
        ],
    )
    def test_wrong_weights(
        self, town: PreparedGraph, weights: Any | Callable[[int], Any], says: str
    ) -> None:
        with pytest.raises(InputError, match=says):
            town.with_weights(weights(town.arc_count) if callable(weights) else weights)

    def test_undirected_and_columns(self) -> None:
        roads = {"from": ["Oslo", "Rome"], "to": ["Bonn", "Oslo"], "km": [1456, 2513], "h": [1, 2]}
        prepared = groute_py.prepare(roads, weight="h", undirected=True, device="cpu")
        assert prepared is not None
        assert groute_py.sssp(prepared, "Bonn", device="cpu").distances.max() == 3

    @pytest.mark.parametrize("ranks", RANKS)
    def test_rank_0_prepares(self, monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
        def connected(channel: Any) -> Any:
            monkeypatch.setattr("groute_py.jobs.prepare.connect", lambda comm: comm)
            graph = ROAD if channel.rank == 0 else None
            return groute_py.prepare(graph, device="cpu", comm=channel)

        result = on_ranks(ranks, connected)
        assert isinstance(result[0], PreparedGraph)
        assert result[1:] == [None] * (ranks - 1)


def test_rows_by_the_method_that_was_asked_for(
    town: PreparedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    methods: list[str] = []

    class Watched(SourceSolver):
        def sssp(self, source: int, targets: Sequence[int] = ()) -> Result | None:
            result = super().sssp(source, targets)
            assert result is not None
            methods.append(result.statistics["algorithm"])
            return result

    monkeypatch.setattr(engine_rows, "SourceSolver", Watched)
    rows = groute_py.apsp(town, sources=[3, 7], algorithm="batch", device="cpu")
    assert rows is not None
    assert methods == ["delta-stepping"] * 2
    np.testing.assert_array_equal(rows.distances, rows_from(town, [3, 7]))


@pytest.mark.parametrize("ranks", RANKS)
def test_a_prepared_file_on_several_ranks(town: PreparedGraph, tmp_path: Path, ranks: int) -> None:
    path = tmp_path / "town.prepared"
    groute_py.write_graph(town, path)

    def work(channel: Any) -> list[Result | None]:
        answer = []
        for options in ({}, {"algorithm": "delta-stepping"}):
            supply = GraphSource(path).supply(channel)
            answer.append(SourceSolver(supply, channel, Options(device="cpu", **options)).sssp(21))
        return answer

    for result, method in zip(
        on_ranks(ranks, work)[0], ("contraction", "delta-stepping"), strict=True
    ):
        assert result is not None
        assert choice(result)[0] == method
        np.testing.assert_array_equal(result.distances, scipy_distances(ROAD, 21))


def test_what_other_ranks_get(town: PreparedGraph) -> None:
    """All but the hierarchy."""
    here = preparing.Preparation("asked for", "", town.hierarchy, town.hierarchy.type)
    there = pickle.loads(pickle.dumps(here))
    assert (there.why, there.type, there.hierarchy) == ("asked for", np.int32, None)
    assert there.choice == here.choice


def test_where_it_is_contracted() -> None:
    """The modules that contract are found by name."""
    assert set(registry.CONTRACTION) == {"cpu", "cuda"}
