"""Rasters in files: arrays as ``.npy``, and GeoTIFF by rasterio."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import hypot
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.io.arc_weights import read_array
from groute_py.io.optional_libraries import library
from groute_py.system.atomic_file import check_writable, replacing, translating_errors

SUFFIXES = (".npy", ".tif", ".tiff")


class RasterFile(NamedTuple):
    """The cells of a raster, and where they lie if its file says so."""

    values: NDArray[Any]  # (rows, columns); cells without data are NaN
    cell_size: tuple[float, float] | None = None  # width and height
    place: dict[str, Any] | None = None  # coordinates for rasterio: ``crs``, ``transform``


def check_raster_file(path: Path) -> None:
    """Raise `InputError` for the name of a file that is no raster."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; take {' '.join(SUFFIXES)}")


def read_raster(path: Path) -> RasterFile:
    """Read a raster; of a GeoTIFF the first band.

    Raises:
        FormatError: the file is not what its suffix says.
        SetupError: it is a GeoTIFF, and rasterio is not installed.
    """
    check_raster_file(path)
    if path.suffix == ".npy":
        return RasterFile(read_array(path, "the raster"))
    with _geotiff(path) as rasterio, rasterio.open(path) as file:
        band, transform = file.read(1, masked=True), file.transform
        place = {"crs": file.crs, "transform": transform}
    values = band.data
    if np.ma.is_masked(band):
        values = values.astype(np.result_type(values.dtype, np.float32))
        values[band.mask] = np.nan
    size = hypot(transform.a, transform.d), hypot(transform.b, transform.e)
    return RasterFile(values, size, place)


def check_output(path: Path) -> None:
    """Raise an error if no raster can be written there."""
    check_raster_file(path)
    check_writable(path)
    if path.suffix != ".npy":
        library("rasterio", "GeoTIFF", "rasters")


def write_raster(path: Path, values: NDArray[Any], nodata: float, like: RasterFile) -> None:
    """Write cells with the coordinates of a raster; the file is complete or absent.

    ``nodata`` is the value of cells without an answer.
    """
    with translating_errors(path), replacing(path) as stream:
        if path.suffix == ".npy":
            np.save(stream, values)
            return
        rows, columns = values.shape
        shape = {"height": rows, "width": columns, "count": 1, "dtype": values.dtype}
        form = {"driver": "GTiff", "nodata": nodata, "compress": "deflate", "BIGTIFF": "IF_SAFER"}
        with _geotiff(path) as rasterio, rasterio.MemoryFile() as memory:
            with memory.open(**shape, **form, **(like.place or {})) as file:
                file.write(values, 1)
            stream.write(memory.getbuffer())


@contextmanager
def _geotiff(path: Path) -> Iterator[Any]:
    """Lend rasterio for a file, perhaps one without coordinates, and translate its errors."""
    rasterio = library("rasterio", "GeoTIFF", "rasters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        try:
            yield rasterio
        except (rasterio.errors.RasterioError, rasterio.errors.RasterioIOError) as problem:
            raise FormatError(path, f"is no GeoTIFF that GDAL can use: {problem}") from None
