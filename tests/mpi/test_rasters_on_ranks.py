"""``groute-py cost-distance`` under mpirun: ranks read their rows, and rank 0 writes all."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands_on_ranks import Ended, run_on_ranks
from support.skips import needs_gpu

from groute_py import cost_distance

pytestmark = pytest.mark.mpi

SOURCES = [(0, 0), (60, 33), (39, 7)]

FILES = "-o @out.SUFFIX --allocation @near.SUFFIX --back-direction @back.SUFFIX"

LINES = {
    "array": f"@friction.npy -s 0,0 -s 60,33 -s 39,7 -t 70,1 {FILES} --json",
    "geotiff": f"@friction.tif -s @marks.npy {FILES}",
    "few rows": f"@row.npy -s 0,2 {FILES}",
    "a source on a barrier": f"@friction.npy -s 70,30 {FILES}",
    "no file": f"@missing.npy -s 0,0 {FILES}",
    "a damaged file": f"@damaged.tif -s 0,0 {FILES}",
    "no folder": "@friction.npy -s 0,0 -o @missing/out.npy",
}

SUFFIXES = {"array": "npy", "geotiff": "tif", "few rows": "few.npy"}


def friction_with_barriers() -> Any:
    friction = np.random.default_rng(8).uniform(1, 9, (80, 50)).astype(np.float32)
    friction[30:75, 30] = np.nan
    return friction


ON_GPUS = pytest.param((2, "cuda"), marks=needs_gpu)


def write_geotiff(path: Path, friction: Any) -> None:
    import rasterio

    shape = {"driver": "GTiff", "height": 80, "width": 50, "count": 1, "dtype": "float32"}
    place = {"transform": rasterio.Affine(2, 0, 0, 0, -3, 0), "crs": "EPSG:32633"}
    with rasterio.open(path, "w", nodata=-7, **shape, **place) as file:
        file.write(np.nan_to_num(friction, nan=-7), 1)
    path.with_name("damaged.tif").write_bytes(path.read_bytes()[:9000])


@pytest.fixture(scope="module", params=[(2, "cpu"), (4, "cpu"), ON_GPUS])
def on_ranks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Ended], Path]:
    """How each of `LINES` ended, and the folder of the files."""
    (ranks, device), folder = request.param, tmp_path_factory.mktemp("files")
    friction = friction_with_barriers()
    marks = np.zeros(friction.shape, np.int8)
    marks[tuple(np.transpose(SOURCES))] = 1
    for name, values in (("friction", friction), ("marks", marks), ("row", np.ones((1, 5)))):
        np.save(folder / f"{name}.npy", values)
    with suppress(ImportError):
        write_geotiff(folder / "friction.tif", friction)
    lines = [
        f"cost-distance {line} --device {device}".replace("SUFFIX", SUFFIXES.get(name, "npy"))
        for name, line in LINES.items()
    ]
    words = [line.replace("@", f"{folder}/").split() for line in lines]
    ended = run_on_ranks(words, ranks, tmp_path_factory.mktemp("ranks"))
    return dict(zip(LINES, ended, strict=True)), folder


def expected(friction: Any, sources: Any, **words: Any) -> Any:
    how: dict[str, Any] = {"allocation": True, "back_direction": True, "device": "cpu"}
    return cost_distance(friction, sources, **words, **how)


def test_arrays(on_ranks: tuple[dict[str, Ended], Path]) -> None:
    ended, folder = on_ranks
    assert ended["array"].code == 0, ended["array"].err
    right = expected(friction_with_barriers(), SOURCES)
    for file, values in (
        ("out", right.distance),
        ("near", right.allocation),
        ("back", right.back_direction),
    ):
        np.testing.assert_array_equal(np.load(folder / f"{file}.npy"), values, strict=True)
    (path,) = json.loads(ended["array"].out)["paths"]
    assert path["path"] == right.path(70, 1).tolist()


def test_geotiff(on_ranks: tuple[dict[str, Ended], Path]) -> None:
    rasterio = pytest.importorskip("rasterio")
    ended, folder = on_ranks
    assert ended["geotiff"].code == 0, ended["geotiff"].err
    right = expected(friction_with_barriers(), sorted(SOURCES), cell_size=(2, 3))
    with rasterio.open(folder / "out.tif") as out, rasterio.open(folder / "near.tif") as near:
        np.testing.assert_array_equal(out.read(1), right.distance)
        np.testing.assert_array_equal(near.read(1), right.allocation)
        assert out.transform == rasterio.Affine(2, 0, 0, 0, -3, 0)


def test_more_ranks_than_rows(on_ranks: tuple[dict[str, Ended], Path]) -> None:
    ended, folder = on_ranks
    assert ended["few rows"].code == 0, ended["few rows"].err
    assert np.load(folder / "out.few.npy").tolist() == [[2, 1, 0, 1, 2]]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a source on a barrier", "sources lie on barriers (1), such as (70, 30)"),
        ("no file", "missing.npy: cannot be read: No such file"),
        ("a damaged file", "damaged.tif: is no GeoTIFF that GDAL can use"),
        ("no folder", "missing does not exist"),
    ],
)
def test_what_is_refused(name: str, problem: str, on_ranks: tuple[dict[str, Ended], Path]) -> None:
    if name == "a damaged file":
        pytest.importorskip("rasterio")
    ended = on_ranks[0][name]
    assert ended.code == 2
    assert ended.err.count("groute-py: ") == 1
    assert problem in ended.err
