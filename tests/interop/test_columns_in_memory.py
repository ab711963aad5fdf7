"""Columns of tables in memory, and attributes of NetworkX that hold weights."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from support.graphs import arcs_by_id

import groute_py
from groute_py import GraphError, InputError
from groute_py.interop.networkx import graph_from_networkx, weight_of
from groute_py.interop.tables import graph_from_table, table_graph
from groute_py.io.tables.columns import Columns


@pytest.mark.parametrize("ends", [[1, None], [1.0, np.nan], ["a", None]])
def test_a_row_without_an_end(ends: list[Any]) -> None:
    with pytest.raises(GraphError, match="row 2 has no vertex in column 'from'"):
        graph_from_table(pd.DataFrame({"from": ends, "to": ["b", "c"]}))


def test_directions_that_are_lists() -> None:
    table = pd.DataFrame({"u": [1, 2], "v": [2, 3], "oneway": [True, [True, False]]})
    with pytest.raises(GraphError, match="row 2: column oneway says"):
        graph_from_table(table)


@pytest.mark.parametrize("weight", ["3 km", "1,234"])
def test_weights_of_a_table_that_are_words(weight: str) -> None:
    with pytest.raises(GraphError, match=f"column 'km' holds '{weight}'"):
        graph_from_table({"from": [1], "to": [2], "km": [weight]})


def test_a_type_that_numpy_lacks() -> None:
    polars = pytest.importorskip("polars")
    table = {"from": [1], "to": [2], "km": polars.Series([10**20], dtype=polars.Int128)}
    with pytest.raises(GraphError, match="column 'km' cannot be read"):
        graph_from_table(polars.DataFrame(table))


class TestNetworkX:
    """The attribute that holds weights."""

    @staticmethod
    def graph(**attributes: Any) -> Any:
        return nx.DiGraph([("a", "b", attributes), ("b", "c", {})])

    @pytest.mark.parametrize("name", ["weight", "length", "distance", "cost", "travel_time"])
    def test_the_one_that_there_is(self, name: str) -> None:
        result = groute_py.sssp(self.graph(**{name: 7}), "a", device="cpu")
        assert result is not None
        assert result.distances.tolist() == [0, 7, 8]  # an edge without it counts 1

    def test_weight_comes_first(self) -> None:
        assert weight_of(self.graph(length=4, weight=9, cost=3)) == "weight"

    def test_two_candidates(self) -> None:
        with pytest.raises(GraphError, match="travel_time or length; choose one with weight="):
            groute_py.sssp(self.graph(travel_time=4, length=9), 0, device="cpu")
        result = groute_py.bfs(self.graph(cost=4, length=9), "a", weight="cost", device="cpu")
        assert result is not None
        rows = groute_py.apsp(self.graph(cost=4, length=9), weight="cost", device="cpu")
        assert rows is not None
        assert rows.distances[0].tolist() == [0, 4, 5]

    def test_none_of_that_name(self) -> None:
        with pytest.raises(GraphError, match="'km'; attributes there are: 'cost', 'lanes'"):
            groute_py.sssp(self.graph(cost=4, lanes=2), 0, weight="km", device="cpu")
        with pytest.raises(GraphError, match="attributes there are: none"):
            groute_py.sssp(self.graph(), 0, weight="km", device="cpu")

    def test_columns_are_none_of_its(self) -> None:
        with pytest.raises(InputError, match=r"a NetworkX graph has no columns by name.* tail 'u'"):
            groute_py.sssp(self.graph(), 0, tail="u", device="cpu")

    def test_the_backend_keeps_the_rule_of_networkx(self) -> None:
        graph = self.graph(length=7)
        ours = nx.single_source_dijkstra_path_length(graph, "a", backend="groute")
        assert ours == nx.single_source_dijkstra_path_length(graph, "a") == {"a": 0, "b": 1, "c": 2}
        assert graph_from_networkx(graph).weights.tolist() == [1, 1]


def test_integers_that_pandas_made_floats() -> None:
    frame = pd.DataFrame({"u": [1, 2], "v": [2, 3], "directed": [1.0, 0.0]})
    assert arcs_by_id(graph_from_table(frame)) == [(1, 2, 1), (2, 3, 1), (3, 2, 1)]
    frame = pd.DataFrame({"u": [1, 2], "v": [2, 3], "cost": [1.0, np.nan], "reverse_cost": [2, 3]})
    with pytest.raises(GraphError, match="row 2 has nan in column 'cost'; weights must be finite"):
        table_graph(frame, Columns())
    frame = pd.DataFrame({"u": [9, 1], "v": [2, 3], "cost": [1, 2], "reverse_cost": [np.inf, 3]})
    with pytest.raises(GraphError, match="row 1 has inf in column 'reverse_cost'"):
        table_graph(frame, Columns())
    frame = pd.DataFrame({"u": [9, 8, 1], "v": [2, 1, 3], "km": [1, 2, np.nan]})
    with pytest.raises(GraphError, match="row 3 has nan in column 'km'"):
        table_graph(frame, Columns())


def test_objects_that_are_numbers() -> None:
    """Integers and decimals, such as SQL and JSON give."""
    rows = {"source": [1, 2], "target": [Decimal(2), Decimal(3)], "cost": [Decimal("5.5"), 6]}
    graph = graph_from_table(pd.DataFrame(rows, dtype=object))
    assert arcs_by_id(graph) == [(1, 2, 5.5), (2, 3, 6.0)]
    rows["cost"] = [2**60 + 1, Decimal("0.5")]
    with pytest.raises(GraphError, match=r"beyond 2\^53 beside decimals or gaps"):
        graph_from_table(pd.DataFrame(rows, dtype=object))


def test_ends_in_the_index() -> None:
    """The index of edges that OSMnx makes."""
    rows = {"u": [1, 2], "v": [2, 3], "key": [0, 0], "osmid": [7, 8], "length": [5.5, 6.5]}
    edges = pd.DataFrame(rows).set_index(["u", "v", "key"])
    assert arcs_by_id(graph_from_table(edges)) == [(1, 2, 5.5), (2, 3, 6.5)]
    assert arcs_by_id(graph_from_table(edges, tail="v", head="u")) == [(2, 1, 5.5), (3, 2, 6.5)]
