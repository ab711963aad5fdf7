"""Where vertices lie, from tables of vertices and `.co` files, kept by ``convert``."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from support.command import Run

from groute_py import FormatError, Graph, InputError
from groute_py.io.coordinates import coordinates_for
from groute_py.io.graph_file import read_graph

ROADS = "from,to,km\n30,10,4\n10,20,5\n"
TABLES = {
    "id,lon,lat\n20,2,52\n10,1,51\n30,3,53\n": "plain",
    "name;Y;X;node_id;\nhome;52;2;20;\nwork;53;3;30;\npub;51;1;10;\n": "another order",
    "osmid\tlongitude\tlatitude\n10\t1\t51\n30\t3\t53\n99\t9\t9\n20\t2\t52\n": "more vertices",
}
PLACES = [[1, 51], [2, 52], [3, 53]]


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    path = tmp_path / "roads.csv"
    path.write_text(ROADS)
    return path


@pytest.mark.parametrize("text", TABLES, ids=TABLES.get)
def test_tables(text: str, roads: Path, tmp_path: Path) -> None:
    (tmp_path / "vertices.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert coordinates_for(read_graph(roads), tmp_path / "vertices.csv.gz").tolist() == PLACES


def test_parquet(roads: Path, tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "vertices.parquet"
    parquet.write_table(arrow.table({"id": [30, 10, 20], "x": [3, 1, 2], "y": [53, 51, 52]}), path)
    assert coordinates_for(read_graph(roads), path).tolist() == PLACES
    path.write_bytes(b"PAR1 rubbish PAR1")
    with pytest.raises(FormatError, match=r"vertices\.parquet"):
        coordinates_for(read_graph(roads), path)


def test_names(tmp_path: Path) -> None:
    graph = Graph.from_arrays([0, 1, 1], [1], [5]).changed(ids=np.array(["home", "ünï"]))
    (tmp_path / "v.tsv").write_text("id\tx\ty\nünï\t1\t2\nhome\t-1\t0.5\n")
    assert coordinates_for(graph, tmp_path / "v.tsv").tolist() == [[-1, 0.5], [1, 2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no column of ids in no titles"),
        (b"id,x\n10,1\n", "no column of coordinates in id, x; expected x and y, or lon and lat"),
        (b"id,x,lon,y,lat\n10,1,1,1,1\n", "several columns of coordinates"),
        (b"id,node,x,y\n10,1,1,1\n", "several columns of ids"),
        (b"id,x,y\n10,1,1\n20,2,2\n", "no row for vertex 30 of roads"),
        (b"id,x,y\n10,1,1\n20,2,2\n30,3,3\n20,2,2\n", "two rows for vertex 20"),
        (b"id,x,y\n10,1,1\n20,2\n30,3,3\n", r"vertices\.csv:3: expected 3 fields, got 2"),
        (b"id,x,y\n10,1,1\n\n20,2,east\n", r":4: expected numbers for places, got 'east'"),
        (b"id,x,y\n10,1,1\n20,2,nan\n30,3,3\n", r":3: expected numbers for places, got 'nan'"),
        (b'id,x,y,z\n10,1,1,"a\nb"\n20,2,nan,c\n', r":4: expected numbers for places"),
        (b'id,x,y,z\n10,1,1,"a\nb"\n20,2\n', r"vertices\.csv:4: expected 4 fields, got 2"),
        (b'id,x,y\n10,1,1\n20,2,"2\n', r":3: unexpected end of data"),
        (b"id,x,y\n10,1,1\nten,1,1\n", r":3: expected integers for ids, .* got 'ten'"),
        (b"id,x,y\n10,1,1\n1.5,1,1\n", r":3: expected integers for ids, .* got '1.5'"),
        (b"id,x,y\n\xff,1,1\n", r":2: expected text in UTF-8"),
        (b"\xff,x,y\n10,1,1\n", r":1: expected text in UTF-8"),
        (b"id,x,y\n99999999999999999999,1,1\n", r":2: expected integers for ids"),
    ],
)
def test_wrong_tables(text: bytes, message: str, roads: Path, tmp_path: Path) -> None:
    (tmp_path / "vertices.csv").write_bytes(text)
    with pytest.raises(FormatError, match=message):
        coordinates_for(read_graph(roads), tmp_path / "vertices.csv")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("id", [10.0, 20.9, 30.0], r"parquet:2: expected integers for ids, .* got 20\.9"),
        (
            "id",
            [10.0, 2.0**53, 30.0],
            r"parquet:2: expected integers .* got 9007199254740992",
        ),
        ("id", [10.0, float("nan"), 30.0], r"parquet:2: expected integers for ids, .* got nan"),
        ("id", [10, None, 30], r"parquet:2: expected integers for ids, .* got None"),
        ("x", [1.0, None, 3.0], r"parquet:2: expected numbers for places, got None"),
        ("x", [[1.0], [2.0], [3.0]], r"parquet:1: expected numbers for places"),
        ("X", [1, 2, 3], r"parquet: has several columns of coordinates"),
    ],
)
def test_wrong_parquet(
    column: str, values: list[object], message: str, roads: Path, tmp_path: Path
) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = {"id": [10, 20, 30], "x": [1, 2, 3], "y": [51, 52, 53]} | {column: values}
    parquet.write_table(arrow.table(table), tmp_path / "vertices.parquet")
    with pytest.raises(FormatError, match=message):
        coordinates_for(read_graph(roads), tmp_path / "vertices.parquet")


def test_convert(roads: Path, tmp_path: Path, run: Run) -> None:
    table, target = tmp_path / "vertices.csv", tmp_path / "roads.csr"
    table.write_text(next(iter(TABLES)))
    run("convert", roads, target, "--coordinates", table)
    assert coordinates_for(read_graph(target)).tolist() == PLACES
    assert "x y from [1.0, 51.0] to [3.0, 53.0]" in run("info", target).stdout
    with pytest.raises(InputError, match=r"would hold no coordinates; write \.csr"):
        run("convert", roads, tmp_path / "roads.gr", "--coordinates", table)


def test_convert_with_a_file_beside(tmp_path: Path, run: Run) -> None:
    (tmp_path / "town.gr").write_text("p sp 2 1\na 1 2 5\n")
    (tmp_path / "town.co").write_text("p aux sp co 2\nv 1 -7 4\nv 2 3 9\n")
    run("convert", tmp_path / "town.gr", tmp_path / "town.csr")
    places = coordinates_for(read_graph(tmp_path / "town.csr"))
    assert np.allclose(places, [[-7e-6, 4e-6], [3e-6, 9e-6]], rtol=1e-12, atol=0)
    (tmp_path / "town.co").write_text("v 1 -7 4\n")
    done = run("convert", tmp_path / "town.gr", tmp_path / "town.csr")
    assert "coordinates are left out: " in done.stderr
    assert read_graph(tmp_path / "town.csr").coordinates is None
    with pytest.raises(FormatError, match="one line for each vertex"):
        run(
            *("convert", tmp_path / "town.gr", tmp_path / "town.csr"),
            *("--coordinates", tmp_path / "town.co"),
        )


def test_convert_of_a_plane(tmp_path: Path, run: Run) -> None:
    """Only ``--planar`` keeps the numbers; as millionths of a degree some would be nowhere."""
    town, target = tmp_path / "town.gr", tmp_path / "town.csr"
    town.write_text("p sp 2 1\na 1 2 5\n")
    (tmp_path / "town.co").write_text("p aux sp co 2\nv 1 -7 4\nv 2 3 600000000\n")
    run("convert", town, target, "--planar")
    assert coordinates_for(read_graph(target)).tolist() == [[-7, 4], [3, 6e8]]
    done = run("convert", town, target)
    assert "coordinates are left out: vertex 2 lies at (3e-06, 600)" in done.stderr
    with pytest.raises(InputError, match="say so by --planar"):
        run("convert", town, target, "--coordinates", tmp_path / "town.co")
    with pytest.raises(InputError, match="would hold no coordinates"):
        run("convert", town, tmp_path / "town.mtx", "--planar")
    (tmp_path / "town.co").unlink()
    with pytest.raises(InputError, match="--planar is for coordinates in a file"):
        run("convert", town, target, "--planar")
