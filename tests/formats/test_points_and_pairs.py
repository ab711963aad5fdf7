"""Files of points and pairs: the titles that tables of edges and vertices know, and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groute_py import FormatError, InputError
from groute_py.graph.ids import Numbering
from groute_py.io.pairs import read_pairs_in
from groute_py.io.points import is_points_file, read_point_pairs, read_points

NUMBERS = Numbering(3, first=1)
NAMES = Numbering(3, ids=np.array(["u", "v", "w"]))


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("name,lon,lat\na,7.0,43.0\n", ("lon", "lat")),
        ("name,longitude,latitude\na,7.0,43.0\n", ("lon", "lat")),
        ("Latitude;Name;Longitude\n43.0;a;7.0\n", ("lon", "lat")),
        ("stop_lon,stop_lat,name\n7.0,43.0,a\n", ("lon", "lat")),
        ("name\tx_coord\ty_coord\na\t7\t43\n", ("x", "y")),
        ("name,x,y,lon,lat\na,1,2,7,43\n", None),
        ("name,x,lat\na,1,2\n", None),
    ],
)
def test_points(tmp_path: Path, text: str, titles: tuple[str, str] | None) -> None:
    path = tmp_path / "places.tsv"
    path.write_text(text)
    if titles is None:
        with pytest.raises(FormatError, match="expected the titles lon,lat or x,y"):
            read_points(path)
        return
    points = read_points(path)
    assert points.titles == titles
    assert points.coordinates.tolist() == [[7, 43]]
    if "name" in text:
        assert points.names == ["a"]


def features(*places: Any, **properties: list[Any]) -> str:
    columns = zip(*properties.values(), strict=True)
    rows = [dict(zip(properties, row, strict=True)) for row in columns]
    listed = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": place}, "properties": row}
        for place, row in zip(places, rows or [None] * len(places), strict=True)
    ]
    return json.dumps({"type": "FeatureCollection", "features": listed})


def test_points_of_geojson(tmp_path: Path) -> None:
    path = tmp_path / "homes.geojson"
    path.write_text(
        features([7, 43.5], [8, 44, 120.0], name=["a", None], people=[3, 4], is_in=[True, 0])
    )
    points = read_points(path)
    assert points.coordinates.tolist() == [[7, 43.5], [8, 44]]
    assert points.titles is None
    assert points.attributes["name"].tolist() == ["a", None]
    assert points.attributes["people"].dtype == np.int64
    assert points.attributes["is_in"].tolist() == ["true", "0"]
    path.write_text(features([7, 43.5], [8, 44]))
    assert read_points(path).names == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,lon,lat", "is no GeoJSON"),
        ("[]", "is no GeoJSON: expected a JSON object, got list"),
        ("{}", "expected a FeatureCollection of points"),
        (features(), "has no points"),
        (features([7]), "feature 1 is no Point of two numbers"),
        (features([7, 43], [7, None]), "feature 2 is no Point"),
        (features([7, 10**400]), "is no GeoJSON|feature 1 is no Point"),
        ('{"features": [3]}', "feature 1 is no Point"),
        (features([7, 43]).replace("Point", "LineString"), "feature 1 is no Point"),
    ],
)
def test_what_is_no_geojson_of_points(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "homes.geojson"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"homes\.geojson: .*({says})"):
        read_points(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_points(tmp_path / "none.geojson")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.zst", "a.geojson"])
def test_names_of_files_of_points(name: str) -> None:
    assert is_points_file(name)


@pytest.mark.parametrize(
    "titles",
    [
        "source_lon,source_lat,target_lon,target_lat",
        "from_longitude,from_latitude,to_longitude,to_latitude",
        "origin_x,origin_y,destination_x,destination_y",
    ],
)
def test_pairs_of_points(tmp_path: Path, titles: str) -> None:
    (tmp_path / "p.csv").write_text(f"{titles}\n1,2,3,4\n")
    pairs = read_point_pairs(tmp_path / "p.csv")
    assert pairs is not None
    assert [points.coordinates.tolist() for points in pairs[:2]] == [[[1, 2]], [[3, 4]]]


@pytest.mark.parametrize(
    ("name", "text", "pairs"),
    [
        ("p.csv", "1,3\n2,1\n", [[0, 2], [1, 0]]),
        ("p.csv", "source,target\n1,3\n", [[0, 2]]),
        ("p.csv", "Source,Target\n1,3\n", [[0, 2]]),
        ("p.csv", "from,to\n1,3\n", [[0, 2]]),
        ("p.csv", "source,target,trips\n1,3,10\n", [[0, 2]]),
        ("p.csv", "trips;to_node_id;from_node_id\n10;3;1\n", [[0, 2]]),
        ("p.tsv", "from\tto\n1\t3\n", [[0, 2]]),
    ],
)
def test_pairs(tmp_path: Path, name: str, text: str, pairs: list[list[int]]) -> None:
    (tmp_path / name).write_text(text)
    assert read_pairs_in(tmp_path / name, NUMBERS, "g").tolist() == pairs


def test_a_pair_of_vertices_that_titles_have(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("u,v\nv,w\n")
    assert read_pairs_in(tmp_path / "p.csv", NAMES, "g").tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("1,3,10\n", 1, "write titles above other columns"),
        ("source,target,trips\n1,3\n", 2, "expected a source and a target, got '1,3'"),
        ("from,to,source,target\n1,3,1,3\n", 1, "may be from and to, or source and target"),
    ],
)
def test_pairs_that_are_not_clear(tmp_path: Path, text: str, line: int, says: str) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(FormatError, match=says) as caught:
        read_pairs_in(tmp_path / "p.csv", NUMBERS, "g")
    assert caught.value.line == line
