"""Rasters in files: arrays as ``.npy``, and GeoTIFF by rasterio."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.io.arc_weights import map_array
from groute_py.io.compression import refuse_pipes
from groute_py.io.optional_libraries import library
from groute_py.system.atomic_file import check_writable, replacing, translating_errors
from groute_py.system.memory_limits import check_room

SUFFIXES = (".npy", ".tif", ".tiff")


class RasterFile(NamedTuple):
    """A raster in a file, whose cells are not read yet, and where they lie if the file says so."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    cell_size: tuple[float, float] | None = None  # width and height
    place: dict[str, Any] | None = None  # coordinates for rasterio: ``crs``, ``transform``

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Return some rows; cells without data are NaN."""
        rows, columns = last - first, math.prod(self.shape[1:])
        check_room(rows * columns * self.dtype.itemsize, f"{self.path}: the raster")
        if _is_array(self.path):
            return np.array(map_array(self.path)[first:last])
        if rows == 0:
            return np.empty((0, columns), self.dtype)
        with _geotiff(self.path) as rasterio, rasterio.open(self.path) as file:
            band = file.read(1, window=((first, last), (0, columns)), masked=True)
        if not np.ma.is_masked(band):
            return np.asarray(band.data)
        values = band.data.astype(np.result_type(self.dtype, np.float32))
        values[band.mask] = np.nan
        return np.asarray(values)


def is_raster_file(path: Path) -> bool:
    """Return True for the name of a raster."""
    return path.suffix.lower() in SUFFIXES


def _is_array(path: Path) -> bool:
    return path.suffix.lower() == ".npy"


def check_raster_file(path: Path) -> None:
    """Raise `InputError` for the name of a file that is no raster."""
    if not is_raster_file(path):
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; take {' '.join(SUFFIXES)}")


def open_raster(path: Path) -> RasterFile:
    """Find a raster; of a GeoTIFF the first band.

    Raises:
        FormatError: the file is not what its suffix says.
        SetupError: it is a GeoTIFF, and rasterio is not installed.
    """
    check_raster_file(path)
    refuse_pipes(path)
    if _is_array(path):
        mapped = map_array(path)
        return RasterFile(path, mapped.shape, mapped.dtype)
    with _geotiff(path) as rasterio, rasterio.open(path) as file:
        shape, dtype, transform = file.shape, np.dtype(file.dtypes[0]), file.transform
        place, scale = {"crs": file.crs, "transform": transform}, (file.scales[0], file.offsets[0])
    if scale != (1, 0):
        remedy = "write the real ones by gdal_translate -unscale -ot Float32"
        raise FormatError(path, f"has values with a scale and an offset, {scale}; {remedy}")
    size = math.hypot(transform.a, transform.d), math.hypot(transform.b, transform.e)
    return RasterFile(path, shape, dtype, size, place)


def check_output(path: Path) -> None:
    """Raise an error if no raster can be written there."""
    check_raster_file(path)
    check_writable(path)
    if not _is_array(path):
        library("rasterio", "GeoTIFF", "rasters")


def write_raster(path: Path, values: NDArray[Any], nodata: float, like: RasterFile) -> None:
    """Write cells with the coordinates of a raster; the file is complete or absent.

    ``nodata`` is the value of cells without an answer.
    """
    with translating_errors(path), replacing(path) as stream:
        if _is_array(path):
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
            cause = problem.__cause__ or problem
            raise FormatError(path, f"is no GeoTIFF that GDAL can use: {cause}") from None
