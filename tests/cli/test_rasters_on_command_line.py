"""``groute-py cost-distance``: rasters in files, paths, what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command

from groute_py import InputError, cost_distance
from groute_py.errors import FormatError, SetupError

FRICTION = np.array([[1, 1, 1, 1], [9, np.nan, np.nan, 1], [1, 1, 1, 1], [-1, 0, -1, 5]])


def run(*words: object) -> dict[str, Any]:
    return as_json(run_command(*words, "--json"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("friction.npy", FRICTION)
    return tmp_path


def test_as_in_python(folder: Path) -> None:
    words = ("--sources", "0,0", "--sources", "2,2", "--cell-size", "30", "--device", "cpu")
    files = ("-o", "out.npy", "--allocation", "near.npy", "--back-direction", "back.npy")
    answer = run("cost-distance", "friction.npy", *words, *files, "--target", "0,3", "-t", "1,1")
    how: dict[str, Any] = {"allocation": True, "back_direction": True, "device": "cpu"}
    expected = cost_distance(FRICTION, [(0, 0), (2, 2)], cell_size=30, **how)
    for name, file in (("distance", "out"), ("allocation", "near"), ("back_direction", "back")):
        np.testing.assert_array_equal(np.load(f"{file}.npy"), getattr(expected, name))
    far = float(expected.distance[0, 3])
    assert answer["paths"] == [
        {"target": [0, 3], "distance": far, "path": expected.path(0, 3).tolist()},
        {"target": [1, 1], "distance": None, "path": []},
    ]
    assert [answer[name] for name in ("rows", "columns", "sources", "reached")] == [4, 4, 2, 11]
    assert answer["greatest_distance"] == expected.distance[np.isfinite(expected.distance)].max()


def test_sources_of_a_raster_neighbours_and_cutoff(folder: Path) -> None:
    marks = np.zeros(FRICTION.shape, np.int8)
    marks[2, 0] = 7
    np.save("marks.npy", marks)
    words = ("--sources", "marks.npy", "--neighbours", "4", "--cutoff", "3", "--device", "cpu")
    run("cost-distance", "friction.npy", *words, "-o", "out.npy", "--cell-size", "1,2")
    how: dict[str, Any] = {"neighbours": 4, "cutoff": 3, "cell_size": (1, 2), "device": "cpu"}
    expected = cost_distance(FRICTION, [(2, 0)], **how).distance
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_geotiff(folder: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    place = {"transform": rasterio.Affine(30, 0, 500_000, 0, -20, 6_600_000), "crs": "EPSG:32633"}
    shape = {"driver": "GTiff", "height": 4, "width": 4, "count": 1, "dtype": "int16"}
    values = np.where(FRICTION > 0, FRICTION, -7).astype(np.int16)
    with rasterio.open("friction.tif", "w", nodata=-7, **shape, **place) as file:
        file.write(values, 1)
    words = ("-s", "0,0", "--device", "cpu", "--allocation", "near.tif", "-o", "out.tif")
    run("cost-distance", "friction.tif", *words)
    how: dict[str, Any] = {"cell_size": (30, 20), "allocation": True, "device": "cpu"}
    expected = cost_distance(FRICTION.astype(np.float32), [(0, 0)], **how)
    for path, cells, nodata in (
        ("out.tif", expected.distance, np.inf),
        ("near.tif", expected.allocation, -1),
    ):
        with rasterio.open(path) as file:
            np.testing.assert_array_equal(file.read(1), cells)
            assert (file.transform, file.crs) == (place["transform"], place["crs"])
            assert (file.nodata, file.dtypes) == (nodata, (str(cells.dtype),))
    Path("friction.tif").rename("OLD.TIF")
    run("cost-distance", "OLD.TIF", *words)
    Path("broken.tif").write_text("II* no")
    with pytest.raises(FormatError, match=r"broken\.tif: is no GeoTIFF"):
        run("cost-distance", "broken.tif", "-s", "0,0", "-o", "x.npy")
    with rasterio.open("scaled.tif", "w", **shape, **place) as file:
        file.write(values, 1)
        file.scales = (0.1,)
    with pytest.raises(FormatError, match=r"a scale and an offset, \(0\.1, 0\.0\); write the real"):
        run("cost-distance", "scaled.tif", "-s", "0,0", "-o", "x.npy")


def test_geotiff_without_rasterio(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rasterio", None)
    for words in (("in.tif", "-o", "out.npy"), ("friction.npy", "-o", "out.tif")):
        with pytest.raises(SetupError, match=r"pip install rasterio, or groute-py\[rasters\]"):
            run("cost-distance", *words, "-s", "0,0")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["-s", "0,0"], "nothing is asked for; name an --output, or a --target"),
        (["-s", "1,1", "-o", "out.npy"], r"sources lie on barriers \(1\)"),
        (["-s", "9,1", "-o", "out.npy"], r"sources: \(9, 1\) is outside"),
        (["-s", "9", "-o", "out.npy"], "--sources '9': give ROW,COLUMN"),
        (["-s", "0,0", "-s", "no.npy", "-o", "out.npy"], "--sources 'no.npy': give ROW,COLUMN"),
        (["-s", "no.npy", "-o", "out.npy"], "no.npy: cannot be read: No such file"),
        (["-s", "pipe.npy", "-o", "out.npy"], "pipe.npy: is not a regular file"),
        (["-s", "flat.npy", "-o", "out.npy"], r"flat.npy has the shape \(3,\)"),
        (["-s", "0,0", "-o", "out.csv"], "unknown suffix '.csv'; take .npy .tif .tiff"),
        (["-s", "0,0", "-o", "no/out.npy"], "does not exist"),
        (["-s", "0,0", "-o", "friction.npy"], "is both FRICTION and --output"),
        (["-s", "0,0", "-o", "a.npy", "--allocation", "a.npy"], "both --output and --allocation"),
        (["-s", "0,0", "-t", "4,0"], r"--target: \(4, 0\) is outside"),
        (["-s", "0,0", "-t", "x,0"], "--target 'x,0': give ROW,COLUMN"),
        (["-s", "0,0", "-t", "0,1", "--neighbours", "6"], "neighbours must be 4 or 8, not 6"),
        (["-s", "0,0", "-t", "0,1", "--cell-size", "a"], "--cell-size 'a': give LENGTH"),
        (["-s", "0,0", "-t", "0,1", "--cell-size", "0"], "cell_size must be positive"),
        (["-s", "0,0", "-t", "0,1", "--cell-size", "1e-320"], "is out of the range of float64"),
        (["-s", "0,0", "-t", "0,1", "--cutoff", "nan"], "cutoff must be a number, not NaN"),
    ],
)
def test_bad_input(folder: Path, words: list[str], problem: str) -> None:
    np.save("flat.npy", np.ones(3))
    os.mkfifo("pipe.npy")
    with pytest.raises(InputError, match=problem):
        run("cost-distance", "friction.npy", *words, "--device", "cpu")
    assert sorted(path.name for path in folder.iterdir()) == [
        "flat.npy",
        "friction.npy",
        "pipe.npy",
    ]


def test_what_people_see(folder: Path) -> None:
    done = run_command("cost-distance", "friction.npy", "-s", "0,0", "-t", "0,2", "--device", "cpu")
    assert "path to [0, 2], length 2.0:\n  [0, 0] → [0, 1] → [0, 2]" in done.output
