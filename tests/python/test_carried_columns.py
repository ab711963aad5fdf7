"""Columns of tables and networks that are summed along paths, and their names."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from support.command import run_command

import groute_py
from groute_py import GraphError, InputError

TABLE = """from,to,minutes,km,toll,oneway
a,b,4,2.5,1,yes
c,b,9,1.5,0,no
a,b,4,9,5,yes
"c",a,1,0.5,2,-1
"""
"""From a to c it is one minute, as the last row leads back; of two rows from a to b one counts."""


def as_file(folder: Path, suffix: str) -> Any:
    """The table in a file, or in memory where there is no suffix."""
    rows = list(csv.reader(TABLE.splitlines()))
    columns: dict[str, Any] = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
    kinds = {"minutes": int, "km": float, "toll": int}
    table = {title: list(map(kinds.get(title, str), columns[title])) for title in columns}
    path = folder / f"roads{suffix}"
    if suffix == ".csv":
        path.write_text(TABLE)
    elif suffix == ".parquet":
        arrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
        parquet.write_table(arrow.table(table), path)
    elif suffix == ".polars":
        return pytest.importorskip("polars").DataFrame(table).lazy()
    else:
        return table
    return str(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", "", ".polars"])
def test_columns_of_tables(tmp_path: Path, suffix: str) -> None:
    graph = as_file(tmp_path, suffix)
    how: Any = {"weight": "minutes", "device": "cpu"}
    result = groute_py.sssp(graph, "a", carry=["km", "toll"], **how)
    assert result is not None
    ids = result.numbering.ids_of(np.arange(3)).tolist()
    sums = {name: dict(zip(ids, of.tolist(), strict=True)) for name, of in result.carried.items()}
    assert sums == {"km": {"a": 0, "b": 2.5, "c": 0.5}, "toll": {"a": 0, "b": 1, "c": 2}}
    with pytest.raises((GraphError, InputError), match="no column 'fuel'"):
        groute_py.sssp(graph, "a", carry="fuel", **how)


def test_attributes_of_networks() -> None:
    network: Any = nx.MultiGraph()
    network.add_edge("a", "b", time=4, length=2.5)
    network.add_edge("a", "b", time=3, length=7)
    network.add_edge("b", "c", time=1, length=1)
    result = groute_py.sssp(network, "c", weight="time", carry="length", device="cpu")
    assert result is not None
    assert result.carried["length"].tolist() == [8, 1, 0]
    network.add_edge("c", "d", time=1)
    with pytest.raises(GraphError, match="length is None"):
        groute_py.sssp(network, "c", weight="time", carry="length", device="cpu")


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        (("sssp", "-s", "a"), "vertex,distance_min,predecessor,km"),
        (("matrix", "--from", "a", "--to", "all"), "source,target,distance_min,km"),
        (("route", "--from", "a", "--to", "all"), "source,target,distance_min,km"),
        (("nearest", "--facilities", "a"), "vertex,facility,distance_min,next,km"),
    ],
)
def test_commands(tmp_path: Path, words: tuple[str, ...], titles: str) -> None:
    graph, output = as_file(tmp_path, ".csv"), tmp_path / "answer.csv"
    more = ("--weight", "minutes", "--with", "km", "-o", output)
    run_command(words[0], graph, *words[1:], *more)
    first, *rows = output.read_text().splitlines()
    assert first == titles
    assert [row.rpartition(",")[2] for row in rows] == ["0.0", "2.5", "0.5"]


@pytest.mark.parametrize("form", ["table", "file", "networkx"])
def test_a_wrong_value_is_found_by_its_column(tmp_path: Path, form: str) -> None:
    streets: Any = {"from": ["a", "b"], "to": ["b", "c"], "minutes": [4, 3], "km": [1, np.nan]}
    if form == "file":
        streets = tmp_path / "streets.csv"
        streets.write_text("from,to,minutes,km\na,b,4,1\nb,c,3,long\n")
    elif form == "networkx":
        streets = nx.DiGraph()
        streets.add_edge("a", "b", minutes=4, km=1)
        streets.add_edge("b", "c", minutes=3)
    with pytest.raises(InputError, match="km"):
        groute_py.sssp(streets, "a", weight="minutes", carry="km", device="cpu")
    how: Any = {"weight": "minutes", "carry": None, "device": "cpu"}
    none = groute_py.sssp(streets, "a", **how)
    assert none is not None
    assert none.carried == {}


def test_a_graph_without_columns() -> None:
    graph = groute_py.Graph.from_arrays([0, 1, 1], [1], [4])
    with pytest.raises(InputError, match="leave out column 'km'"):
        groute_py.sssp(graph, 0, carry="km", device="cpu")
    with pytest.raises(InputError, match=r"leave out column \[4\]"):
        groute_py.sssp(graph, 0, weight=[4], device="cpu")


def test_no_title_hides_another() -> None:
    titles = ["carried_distance", "distance"]
    streets = {"from": ["a"], "to": ["b"], "km": [4], "distance": [1], "carried_distance": [2]}
    how: Any = {"weight": "km", "device": "cpu"}
    matrix = groute_py.matrix(streets, ["a"], ["b"], carry=titles, **how)
    assert matrix is not None
    line = matrix.to_frame(library="pyarrow").to_pylist()[0]
    assert list(line.values()) == ["a", "b", 4, 2, 1]


@pytest.mark.parametrize("wrong", [3, 2.5, True, b"km", ["km", 3], [None]])
def test_names_of_columns_are_text(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"carry \(--with\): .* is no name of a column"):
        groute_py.sssp(([0, 1, 1], [1], [4]), 0, carry=wrong, device="cpu")
