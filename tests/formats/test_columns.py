"""What the columns of a table mean: the same in CSV, Parquet, pandas, Polars, Arrow and dicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.graphs import arcs_by_id

from groute_py import Graph, InputError, read_graph
from groute_py.interop.tables import graph_from_table

Table = dict[str, list[Any]]
Arcs = list[tuple[Any, Any, Any]]


def csv(table: Table, folder: Path, suffix: str = ".csv", separator: str = ",") -> Path:
    pd.DataFrame(table).to_csv(folder / f"g{suffix}", index=False, sep=separator)
    return folder / f"g{suffix}"


def parquet(table: Table, folder: Path) -> Path:
    pq.write_table(pa.table(table), folder / "g.parquet")
    return folder / "g.parquet"


def from_file(write: Callable[..., Path], *more: str) -> Callable[..., Graph]:
    def read(table: Table, folder: Path, **named: Any) -> Graph:
        named["undirected"] = not named.pop("directed", True)
        return read_graph(write(table, folder, *more), cache=False, **named)

    return read


def of_form(form: Callable[[Table], Any]) -> Callable[..., Graph]:
    return lambda table, folder, **named: graph_from_table(form(table), **named)


def polars(name: str) -> Callable[[Table], Any]:
    return lambda table: getattr(pytest.importorskip("polars"), name)(table)


SOURCES = {
    "csv": from_file(csv),
    "tabs": from_file(csv, ".tsv", "\t"),
    "semicolons": from_file(csv, ".txt", ";"),
    "parquet": from_file(parquet),
    "pandas": of_form(pd.DataFrame),
    "arrow": of_form(pa.table),
    "dict": of_form(dict),
    "polars": of_form(polars("DataFrame")),
    "lazy polars": of_form(polars("LazyFrame")),
}


@pytest.fixture(params=SOURCES)
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Graph]:
    source = SOURCES[request.param]
    return lambda table, **named: source(table, tmp_path, **named)


TABLES: dict[str, tuple[Table, Arcs]] = {
    "GMNS": (
        {
            "link_id": [1, 2, 3],
            "from_node_id": [10, 20, 10],
            "to_node_id": [20, 30, 30],
            "directed": [1, 0, 1],
            "length": [0.5, 0.7, 2.5],
            "free_speed": [60, 50, 80],
        },
        [(10, 20, 0.5), (10, 30, 2.5), (20, 30, 0.7), (30, 20, 0.7)],
    ),
    "booleans": (
        {"from": [1, 2], "to": [2, 3], "directed": [True, False]},
        [(1, 2, 1), (2, 3, 1), (3, 2, 1)],
    ),
    "AequilibraE": (
        {
            "link_id": [7, 8, 9],
            "a_node": [1, 2, 3],
            "b_node": [2, 3, 4],
            "direction": [1, 0, -1],
            "distance": [120.5, 80.25, 9.0],
            "modes": ["c", "c", "ct"],
        },
        [(1, 2, 120.5), (2, 3, 80.25), (3, 2, 80.25), (4, 3, 9.0)],
    ),
    "pgRouting": (
        {
            "id": [1, 2, 3, 4],
            "source": [5, 6, 7, 8],
            "target": [6, 7, 8, 5],
            "cost": [2.5, 1.5, -1.0, -1.0],
            "reverse_cost": [3.5, -1.0, 4.0, -2.0],
        },
        [(5, 6, 2.5), (6, 5, 3.5), (6, 7, 1.5), (8, 7, 4.0)],
    ),
    "Gephi": (
        {
            "Source": ["a", "b"],
            "Target": ["b", "c"],
            "Type": ["Directed", "Undirected"],
            "Id": [0, 1],
            "Label": ["x", "y"],
            "Weight": [2.0, 3.5],
        },
        [("a", "b", 2.0), ("b", "c", 3.5), ("c", "b", 3.5)],
    ),
    "GTFS": (
        {
            "from_stop_id": ["S1", "S2"],
            "to_stop_id": ["S2", "S3"],
            "transfer_type": [2, 2],
            "min_transfer_time": [120, 60],
        },
        [("S1", "S2", 120), ("S2", "S3", 60)],
    ),
    "OSMnx": (
        {
            "osmid": [55, 56],
            "oneway": [True, False],
            "reversed": [False, False],
            "length": [12.5, 20.0],
            "key": [0, 0],
            "v": [102, 103],
            "u": [101, 102],
        },
        [(101, 102, 12.5), (102, 103, 20.0)],
    ),
    "OpenStreetMap": (
        {"u": [1, 2, 3], "v": [2, 3, 4], "oneway": ["yes", "no", "-1"], "km": [5, 6, 7]},
        [(1, 2, 5), (2, 3, 6), (3, 2, 6), (4, 3, 7)],
    ),
    "GTFS pathways": (
        {"pathway_id": [1, 2], "from_stop_id": ["a", "b"], "to_stop_id": ["b", "c"],
         "is_bidirectional": [1, 0], "traversal_time": [5, 6]},
        [("a", "b", 5), ("b", "a", 5), ("b", "c", 6)],
    ),
    "GMNS links": (
        {"link_id": [1, 2, 3], "from_node_id": [1, 2, 3], "to_node_id": [2, 3, 4],
         "dir_flag": [1, 0, -1], "length": [5, 6, 7]},
        [(1, 2, 5), (2, 3, 6), (3, 2, 6), (4, 3, 7)],
    ),
    "weights of arcs back": (
        {"a_node": [1, 2], "b_node": [2, 3], "cost": [4, 5], "rcost": [6, -1]},
        [(1, 2, 4), (2, 1, 6), (2, 3, 5)],
    ),
    "letters": (
        {"from": ["a", "b", "c"], "to": ["b", "c", "d"], "DIR": ["F", "B", "T"]},
        [("a", "b", 1), ("b", "c", 1), ("c", "b", 1), ("d", "c", 1)],
    ),
    "two ways": (
        {"from": [1, 2], "to": [2, 3], "two_way": ["yes", "no"]},
        [(1, 2, 1), (2, 1, 1), (2, 3, 1)],
    ),
    "STRING": (
        {"protein1": ["p1", "p2"], "protein2": ["p2", "q"], "combined_score": [490, 800]},
        [("p1", "p2", 490), ("p2", "q", 800)],
    ),
    "Neo4j": (
        {":START_ID(City)": ["a", "b"], "weight:int": [3, 4], ":END_ID(City)": ["b", "c"],
         ":TYPE": ["ROAD", "ROAD"]},
        [("a", "b", 3), ("b", "c", 4)],
    ),
    "ids alone": (
        {"link_id": [1, 2], "from_node_id": [10, 20], "to_node_id": [20, 30]},
        [(10, 20, 1), (20, 30, 1)],
    ),
    "a key alone": ({"source": [3, 4], "target": [4, 5], "key": [0, 7]}, [(3, 4, 1), (4, 5, 1)]),
    "capitals": ({"NODE_TO": [2], "Node_From": [1], "Travel_Time": [9]}, [(1, 2, 9)]),
    "travel times of two ways": (
        {"a_node": [1, 2], "b_node": [2, 3], "direction": [0, -1],
         "travel_time_ab": [4, 5], "travel_time_ba": [6, 7]},
        [(1, 2, 4), (2, 1, 6), (3, 2, 7)],
    ),
    "no time of a way that is closed": (
        {"a_node": [10, 20, 30], "b_node": [20, 30, 40], "direction": [0, 1, -1],
         "travel_time_ab": [60, 84, None], "travel_time_ba": [70, None, 5]},
        [(10, 20, 60), (20, 10, 70), (20, 30, 84), (40, 30, 5)],
    ),
    "times both ways without a direction": (
        {"a_node": [1, 2], "b_node": [2, 3], "time_ab": [4, 5], "time_ba": [6, 7]},
        [(1, 2, 4), (2, 1, 6), (2, 3, 5), (3, 2, 7)],
    ),
    "GMNS with the direction of shapes": (
        {"link_id": [1, 2, 3], "from_node_id": [1, 2, 2], "to_node_id": [2, 1, 3],
         "directed": [1, 1, 1], "dir_flag": [1, -1, 1], "length": [10, 10, 5]},
        [(1, 2, 10), (2, 1, 10), (2, 3, 5)],
    ),
    "Geofabrik": (
        {"from_node": [1, 3, 3], "to_node": [2, 2, 4], "oneway": ["F", "T", "B"],
         "length": [1, 2, 7]},
        [(1, 2, 1), (2, 3, 2), (3, 4, 7), (4, 3, 7)],
    ),
    "Geofabrik without two ways": (
        {"from_node": [1, 3], "to_node": [2, 2], "oneway": ["F", "T"], "length": [1, 2]},
        [(1, 2, 1), (2, 3, 2)],
    ),
    "HERE": (
        {"from_node": [1, 3, 3, 4], "to_node": [2, 2, 4, 5], "oneway": ["FT", "TF", "N", "B"],
         "length": [1, 2, 9, 1]},
        [(1, 2, 1), (2, 3, 2), (4, 5, 1), (5, 4, 1)],
    ),
    "TomTom": (
        {"from_node": [1, 3, 3], "to_node": [2, 2, 4], "oneway": ["FT", "TF", None],
         "length": [1, 2, 9]},
        [(1, 2, 1), (2, 3, 2), (3, 4, 9), (4, 3, 9)],
    ),
    "PostgreSQL": (
        {"from_node": [1, 3], "to_node": [2, 2], "oneway": ["f", "t"], "length": [1, 2]},
        [(1, 2, 1), (2, 1, 1), (3, 2, 2)],
    ),
    "a loop": ({"u": [1, 1], "v": [1, 2], "directed": [0, 0]}, [(1, 1, 1), (1, 2, 1), (2, 1, 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, (_, arcs) in TABLES.items() if arcs])
def test_known_titles(read: Callable[..., Graph], name: str) -> None:
    table, arcs = TABLES[name]
    graph = read(table)
    assert arcs_by_id(graph) == arcs
    assert graph.vertex_count == len({*table_ends(table, graph)})


def table_ends(table: Table, graph: Graph) -> list[Any]:
    assert graph.reading is not None
    columns = graph.reading.columns
    return [*table[columns["tail"]], *table[columns["head"]]]


@pytest.mark.parametrize(
    ("weight", "arcs"),
    [
        ("cost", [(1, 2, 2.5), (2, 1, 2.5), (2, 3, 1.5)]),
        ("cost_s", [(1, 2, 8), (2, 1, 9), (2, 3, 8)]),
        ("length_m", [(1, 2, 111), (2, 1, 111), (2, 3, 222)]),
    ],
)
def test_weights_of_osm2pgrouting(read: Callable[..., Graph], weight: str, arcs: Arcs) -> None:
    """Each weight has its own arcs back, or those that ``one_way`` says."""
    table = {
        "gid": [1, 2], "tag_id": [102, 102], "length": [0.001, 0.002], "length_m": [111, 222],
        "name": ["A", "B"], "source": [1, 2], "target": [2, 3], "cost": [2.5, 1.5],
        "reverse_cost": [2.5, -1.5], "cost_s": [8, 8], "reverse_cost_s": [9, -8],
        "one_way": [2, 1], "maxspeed_forward": [50, 50],
    }  # fmt: skip
    assert arcs_by_id(read(table, weight=weight)) == arcs


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"u": [1], "v": [2], "length": [3], "travel_time": [4]}, "length or travel_time"),
        ({"from": [1], "to": [2], "weight": [3], "cost": [4]}, "weights may be weight or cost"),
        ({"u": [1], "v": [2], "source": [3], "target": [4]}, "tails and heads may be u and v, or"),
        ({"link_id": [1], "x": [2], "y": [3]}, "x and y say where vertices lie.* --coordinates"),
        ({"Node": [1], "X": [2], "Y": [3]}, "X and Y say where vertices lie.* --coordinates"),
        ({"u": [1, 2], "v": [2, 3], "oneway": ["FT", "N"]}, "says 'N'; expected FT, TF or B"),
        ({"u": [1, 2], "v": [2, 3], "oneway": ["yes", "TF"]}, "says 'yes'; expected FT, TF or B"),
        (
            {
                "a_node": [1, 2],
                "b_node": [2, 3],
                "direction": [0, 0],
                "time_ab": [5, 6],
                "time_ba": [None, 7],
            },
            "finite",
        ),
        ({"a": [1], "b": [2], "c": [3], "km": [4]}, "tails and heads is not clear in a, b, c, km"),
        ({"b": [1], "source": [2], "km": [3]}, "tails and heads is not clear in b, source, km"),
        ({"from": [1], "to": [2], "x": [3], "y": [4]}, "which column holds weights is not clear"),
        ({"id": [1], "from": [2], "to": [3], "x": [4]}, "which column holds weights is not clear"),
        ({"source": [1], "target": [2], "rating": [3], "time": [4]}, "weights is not clear"),
        ({"u": [1], "v": [2], "directed": [2]}, "expected 1 or true .* --undirected"),
        ({"u": [1], "v": [2], "direction": [5]}, "says '5'; expected 1, 0 .* --undirected"),
        ({"u": [1], "v": [2], "km": [3], "reverse_cost": [4]}, "weights are km.* --undirected"),
        ({"u": [1], "v": [2], "directed": [1], "oneway": [0]}, "both say .* --undirected"),
        (
            {"Source": ["a"] * 2, "Target": ["b", "c"], "Type": ["Directed", "Mutual"]},
            "column Type says 'Mutual'; expected Directed or Undirected.* --undirected",
        ),
    ],
)
def test_what_cannot_be_known(read: Callable[..., Graph], table: Table, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(table)


def test_options_choose(read: Callable[..., Graph]) -> None:
    table = {"id": [5, 6], "p": [1, 2], "q": [2, 3], "length": [3, 4], "time": [7, 8]}
    named = {"tail": "q", "head": "p", "weight": "time"}
    assert arcs_by_id(read(table, **named)) == [(2, 1, 7), (3, 2, 8)]
    assert read(table, **named).reading.columns == named
    with pytest.raises(InputError, match="no column 'speed'; it has"):
        read(table, tail="q", head="p", weight="speed")
    with pytest.raises(InputError, match="cannot hold both"):
        read(table, tail="q", head="q")
    with pytest.raises(InputError, match="cannot hold weights and"):
        read(table, tail="q", head="p", weight="p")


def test_columns_are_ignored(read: Callable[..., Graph]) -> None:
    table = {"u": [1, 2], "v": [2, 3], "km": [4, 5], "reverse_cost": [6, 7], "oneway": ["?", "1"]}
    graph = read(table, ignore_columns=["reverse_cost", "oneway"])
    assert arcs_by_id(graph) == [(1, 2, 4), (2, 3, 5)]
    assert arcs_by_id(read(table | {"oneway": [0, 1]}, ignore_columns="reverse_cost")) == [
        (1, 2, 4), (2, 1, 4), (2, 3, 5),
    ]  # fmt: skip
    with pytest.raises(InputError, match="no column 'cost'; it has"):
        read(table, ignore_columns=["cost"])


def test_undirected_passes_over_directions(read: Callable[..., Graph]) -> None:
    table = {"u": [1, 2], "v": [2, 3], "km": [4, 5], "direction": ["?", "1"]}
    arcs = [(1, 2, 4), (2, 1, 4), (2, 3, 5), (3, 2, 5)]
    assert arcs_by_id(read(table, directed=False)) == arcs


def test_the_same_vertices(read: Callable[..., Graph]) -> None:
    """Ids from 1 have no vertex 0, and ids with gaps no vertices between."""
    graph = read({"from": [1, 2], "to": [2, 3], "km": [4, 5]})
    assert (graph.vertex_count, graph.first_id, graph.ids) == (3, 1, None)
    graph = read({"from": [-7, 20], "to": [20, 10**12], "km": [4, 5]})
    assert graph.ids is not None
    assert (graph.vertex_count, graph.ids.tolist()) == (3, [-7, 20, 10**12])
