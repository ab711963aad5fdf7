"""Distances to a vertex by the hierarchy of a prepared graph, which is of both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.graphs import scipy_distances
from support.local_ranks import on_ranks
from support.prepared_town import ROAD, choice
from support.reference import check_path, nearest_of, turned_round

import groute_py
from groute_py import PreparedGraph, Result
from groute_py.engine import preparing
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph.direction import Direction
from groute_py.source.graph_source import GraphSource

RANKS = [1, 2, 3, 4]

ONE_WAY = ROAD.with_weights(np.random.default_rng(3).integers(0, 50, ROAD.arc_count))
"""Of which the ways back weigh otherwise, and some weigh 0."""


@pytest.fixture(scope="module")
def there() -> PreparedGraph:
    result = groute_py.prepare(ONE_WAY, device="cpu")
    assert result is not None
    return result


class TestReversed:
    """What a hierarchy answers of the distances to a vertex; nothing is contracted anew."""

    @pytest.fixture(autouse=True)
    def _contracts_nothing(self, there: PreparedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(preparing, "prepare_graph", None)

    WANTED = np.array([scipy_distances(turned_round(ONE_WAY), v) for v in (21, 5, 390)])

    @pytest.mark.parametrize("ranks", RANKS)
    def test_one_source(self, there: PreparedGraph, ranks: int) -> None:
        def work(channel: Any) -> Result | None:
            supply = GraphSource(there, direction=Direction.BACKWARD).supply(channel)
            return SourceSolver(supply, channel, Options(device="cpu", reverse=True)).sssp(21)

        result = on_ranks(ranks, work)[0]
        assert result is not None
        assert choice(result) == ("contraction", "its hierarchy was there")
        np.testing.assert_array_equal(result.distances, self.WANTED[0])
        groute_py.verify(ONE_WAY, result)
        for vertex in np.flatnonzero(result.reached)[::40].tolist():
            check_path(ONE_WAY, result.path_to(vertex), result.distances[vertex])

    def test_many(self, there: PreparedGraph) -> None:
        sources, targets = [21, 5, 390], [0, 21, 77, 399]
        how: Any = {"reverse": True, "predecessors": True, "algorithm": "sweep", "device": "cpu"}
        rows = groute_py.apsp(there, sources=sources, **how)
        matrix = groute_py.matrix(there, sources, targets, **how)
        assert rows is not None
        assert matrix is not None
        np.testing.assert_array_equal(rows.distances, self.WANTED)
        np.testing.assert_array_equal(matrix.distances, self.WANTED[:, targets])
        end = int(np.flatnonzero(rows.distances[1] < groute_py.UNREACHED)[-1])
        check_path(ONE_WAY, rows.path(5, end), self.WANTED[1, end])

    def test_routes(self, there: PreparedGraph) -> None:
        ends = np.flatnonzero(self.WANTED[2] < groute_py.UNREACHED)[[0, 40]].tolist()
        pairs = [(21, 0), (390, ends[0]), (390, ends[1])]
        lengths = self.WANTED[[0, 2, 2], [0, *ends]]
        routes = groute_py.route(there, pairs, reverse=True, device="cpu")
        assert routes is not None
        np.testing.assert_array_equal(routes.distances, lengths)
        assert routes.statistics["algorithm"] == "upward search"
        ways = groute_py.route(there, pairs, paths=True, reverse=True, device="cpu")
        assert ways is not None
        assert ways.paths is not None
        np.testing.assert_array_equal(ways.distances, lengths)
        for end, path, length in zip(ends, ways.paths[1:], lengths[1:], strict=True):
            assert (path[0], path[-1]) == (end, 390)
            check_path(ONE_WAY, path.tolist(), length)

    def test_nearest(self, there: PreparedGraph) -> None:
        facilities = [21, 5, 390]
        for to_facility, graph in ((True, turned_round(ONE_WAY)), (False, ONE_WAY)):
            one = groute_py.nearest(there, facilities, to_facility=to_facility, device="cpu")
            assert one is not None
            assert one.statistics["algorithm"] == "contraction"
            owners, distances = nearest_of(graph, facilities)
            np.testing.assert_array_equal(one.facilities, owners)
            np.testing.assert_array_equal(one.distances, distances)
        result = groute_py.nearest(there, facilities, k=2, to_facility=True, device="cpu")
        assert result is not None
        np.testing.assert_array_equal(result.distances, np.sort(self.WANTED, axis=0)[:2].T)

    def test_a_solver(self, there: PreparedGraph) -> None:
        with groute_py.open(there, device="cpu") as solver, solver.reversed() as turned:
            result = turned.sssp(5)
            with turned.reversed() as again:
                back = again.sssp(5)
        assert result is not None
        assert back is not None
        assert choice(result)[0] == choice(back)[0] == "contraction"
        np.testing.assert_array_equal(result.distances, self.WANTED[1])
        np.testing.assert_array_equal(back.distances, scipy_distances(ONE_WAY, 5))
