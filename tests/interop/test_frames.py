"""Answers as tables of pandas, Polars and Arrow: the same lines, in the graph's own ids."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import groute_py
from groute_py import InputError, centrality

ROADS = {
    "from": ["Oslo", "Oslo", "Voss", "Moss", "Lom"],
    "to": ["Voss", "Moss", "Bergen", "Voss", "Oslo"],
    "km": [300, 60, 100, 200, 350],
}
CORNERS = {name: (float(k), 0.5 * k) for k, name in enumerate(["Oslo", "Voss", "Moss", "Bergen"])}
LIBRARIES = ["pandas", "polars", "pyarrow"]


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    """The lines of any table; None where a value is missing, or an integer is not there."""
    if isinstance(table, pd.DataFrame):
        if table.index.name is not None:
            table = table.reset_index()
        lines = list(table.itertuples(index=False, name=None))
        return [tuple(None if pd.isna(v) or v == np.inf else v for v in line) for line in lines]
    if hasattr(table, "to_pylist"):
        return [tuple(line.values()) for line in table.to_pylist()]
    return list(table.iter_rows())


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


def expected() -> dict[str, dict[str, int]]:
    network = nx.DiGraph()
    network.add_weighted_edges_from(zip(*ROADS.values(), strict=True))
    return dict(nx.all_pairs_dijkstra_path_length(network))


@pytest.mark.parametrize("kind", [int, float])
def test_the_same_lines(library: str, kind: type) -> None:
    roads, lengths = ROADS | {"km": list(map(kind, ROADS["km"]))}, expected()
    names = sorted({*ROADS["from"], *ROADS["to"]})
    with groute_py.open(roads, device="cpu") as solver:
        tree = solver.sssp("Oslo")
        matrix = solver.matrix(["Oslo", "Moss"], ["Bergen", "Lom"])
        rows = solver.apsp(["Voss"])
        near = solver.nearest(["Voss", "Lom"])
        routes = solver.route([("Oslo", "Bergen"), ("Voss", "Oslo")], paths=True)
        reach = solver.isochrone(["Oslo"], [100, 270])
        scores = solver.harmonic(["Oslo"])
    assert None not in (tree, matrix, rows, near, routes, reach, scores)
    before = {"Voss": "Moss", "Moss": "Oslo", "Bergen": "Voss"}
    assert rows_of(tree.to_frame(library=library)) == [
        (name, lengths["Oslo"].get(name), before.get(name)) for name in names
    ]
    assert rows_of(matrix.to_frame(library=library)) == [
        (a, b, lengths[a].get(b)) for a in ("Oslo", "Moss") for b in ("Bergen", "Lom")
    ]
    assert rows_of(rows.to_frame(library=library)) == [
        ("Voss", b, lengths["Voss"].get(b)) for b in names
    ]
    owner = {"Lom": "Lom", "Voss": "Voss", "Bergen": "Voss", "Oslo": "Lom", "Moss": "Lom"}
    assert rows_of(near.to_frame(library=library))[:4] == [
        ("Bergen", "Voss", 100, "Voss"),
        ("Lom", "Lom", 0, None),
        ("Moss", "Lom", 410, "Oslo"),
        ("Oslo", "Lom", 350, "Lom"),
    ]
    assert {line[0]: line[1] for line in rows_of(near.to_frame(library=library))} == owner
    assert rows_of(routes.to_frame(library=library)) == [
        ("Oslo", "Bergen", 360, '["Oslo", "Moss", "Voss", "Bergen"]'),
        ("Voss", "Oslo", None, "[]"),
    ]
    assert rows_of(reach.to_frame(library=library)) == [
        ("Moss", 60, 100),
        ("Oslo", 0, 100),
        ("Voss", 260, 270),
    ]
    ((name, value),) = rows_of(scores.to_frame(library=library))
    assert (name, value) == ("Oslo", pytest.approx(sum(1 / d for d in (260, 60, 360))))


def test_scores_of_all_vertices_and_arcs(library: str) -> None:
    network = nx.DiGraph(zip(ROADS["from"], ROADS["to"], strict=True))
    unit = {"weighted": False, "device": "cpu"}
    vertices = centrality.betweenness(network, **unit)
    arcs = centrality.edge_betweenness(network, **unit)
    assert vertices is not None
    assert arcs is not None
    known = nx.betweenness_centrality(network, normalized=False)
    assert dict(rows_of(vertices.to_frame(library=library))) == pytest.approx(known)
    edges = nx.edge_betweenness_centrality(network, normalized=False)
    assert {line[:2]: line[2] for line in rows_of(arcs.to_frame(library=library))} == pytest.approx(
        edges
    )


def kind_of(answer: Any) -> str:
    return str(type(answer.to_frame()).__module__).partition(".")[0]


def table_in(library: str, columns: dict[str, Any]) -> Any:
    module = pytest.importorskip(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def test_answers_are_tables_of_the_library_that_came_in(library: str) -> None:
    with groute_py.open(table_in(library, ROADS), device="cpu", prepare=True) as solver:
        answers = [
            solver.sssp("Oslo"),
            solver.matrix(["Oslo"], ["Bergen"]),
            solver.apsp(["Voss"]),
            solver.nearest(["Voss"]),
            solver.route([("Oslo", "Bergen")]),
            solver.isochrone(["Oslo"], [100]),
            solver.harmonic(["Oslo"]),
            solver.betweenness(),
        ]
    turns = [("Oslo", "Voss", "Bergen", 1)]
    answers.append(groute_py.sssp(table_in(library, ROADS), "Oslo", device="cpu", turns=turns))
    assert {kind_of(answer) for answer in answers} == {library}
    assert isinstance(answers[0].to_frame(library="pandas"), pd.DataFrame)


def test_the_library_of_points_and_pairs(library: str) -> None:
    path = ([0, 1, 2, 2], [1, 2], [4, 4])
    spots = table_in(library, {"x": [9.0, 1.0], "y": [1.0, 0.0]})
    corners = np.array([[0.0, 0], [10, 0], [10, 10]])
    points = groute_py.Points(spots, corners, planar=True)
    assert kind_of(groute_py.matrix(path, points, [2], device="cpu")) == library
    assert kind_of(groute_py.nearest(path, points, device="cpu")) == library
    pairs = table_in(library, {"source": [0, 1], "target": [2, 2]})
    assert kind_of(groute_py.route(path, pairs, device="cpu")) == library


def test_the_library_of_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    result = groute_py.sssp(ROADS, "Oslo", device="cpu")
    assert kind_of(result) == "pandas"
    monkeypatch.delitem(sys.modules, "pandas")
    assert kind_of(result) == "polars"
    with pytest.raises(groute_py.InputError, match="library"):
        result.to_frame(library="excel")


def test_frames_of_cudf_are_made_of_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")

    class DataFrame(pd.DataFrame):
        """Stands for the class of cuDF."""

        @classmethod
        def from_arrow(cls, table: Any) -> DataFrame:
            assert isinstance(table, arrow.Table)
            return cls(table.to_pandas())

        def to_pandas(self) -> pd.DataFrame:
            return pd.DataFrame(self)

    DataFrame.__module__ = "cudf.core.dataframe"
    monkeypatch.setitem(sys.modules, "cudf", SimpleNamespace(DataFrame=DataFrame))
    answer = groute_py.matrix(DataFrame(ROADS), ["Oslo"], ["Bergen"], device="cpu")
    assert type(answer.to_frame()) is DataFrame
    assert rows_of(answer.to_frame()) == [("Oslo", "Bergen", 360)]


def test_an_empty_name_is_no_library() -> None:
    answer = groute_py.matrix(ROADS, ["Oslo"], ["Bergen"], device="cpu")
    with pytest.raises(InputError, match="library '' is unknown"):
        answer.to_frame(library="")


def test_arrow_streams_of_answers() -> None:
    arrow = pytest.importorskip("pyarrow")
    routes = groute_py.route(ROADS, [("Oslo", "Bergen")], device="cpu")
    assert routes is not None
    table = arrow.table(routes)
    assert table.to_pylist() == [{"source": "Oslo", "target": "Bergen", "distance_km": 360}]


def test_arrow_streams_of_graphs() -> None:
    arrow = pytest.importorskip("pyarrow")

    class Relation:
        """Has columns by name that are no arrays, as DuckDB's."""

        columns = tuple(ROADS)
        __arrow_c_stream__ = arrow.table(ROADS).__arrow_c_stream__

        def __getitem__(self, name: str) -> Relation:
            return self

    for graph in (Relation(), arrow.table(ROADS).to_reader()):
        answer = groute_py.matrix(graph, ["Oslo"], ["Bergen"], device="cpu")
        assert rows_of(answer.to_frame()) == [("Oslo", "Bergen", 360)]


def test_an_answer_is_printed_in_ten_lines() -> None:
    network = nx.grid_2d_graph(9, 9)
    network = nx.convert_node_labels_to_integers(network)
    result = groute_py.sssp(network, 0, device="cpu")
    matrix = groute_py.matrix(ROADS, ["Voss"], ["Bergen", "Oslo"], device="cpu")
    lines = str(result).splitlines()
    assert len(lines) <= 10
    assert lines[:3] == ["Result", "vertex  distance  predecessor", "0       0"]
    assert lines[-1] == "…"
    assert str(matrix).splitlines() == [
        "Matrix",
        "source  target  distance_km",
        "Voss    Bergen  100",
        "Voss    Oslo    inf",
    ]
