"""The forms that rows are saved in, by the suffix of their file: ``.npy``, ``.npz``, ``.zarr``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from groute_py.errors import InputError, quote
from groute_py.io.array_archive import save_arrays
from groute_py.io.optional_libraries import library
from groute_py.system.atomic_file import replacing

SUFFIXES = (".npy", ".npz", ".zarr")
"""The forms, by suffix."""

SMALL = ("sources", "targets", "first_id", "ids", "attribution")
"""The arrays beside the rows."""

ZARR_BYTES = 16 << 20
"""Of a chunk of whole rows."""


def check_form(path: Path, *, predecessors: bool, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raise `InputError` or `SetupError` for a path whose form is unknown or cannot be written."""
    if path.suffix not in suffixes:
        known = ", ".join(suffixes)
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; rows are saved as {known}")
    if path.suffix == ".npy" and predecessors:
        raise InputError(f"{path}: an .npy file holds one array, and predecessors are another")
    if path.suffix == ".parquet":
        library("pyarrow", "writing Parquet")
    if path.suffix == ".zarr":
        library("zarr", "writing Zarr")
        if os.path.lexists(path):
            raise InputError(f"{path} is there already; remove it, or name another")


def write_npz(path: Path, arrays: dict[str, Any]) -> None:
    """Write an archive of arrays, atomically."""
    with replacing(path) as file:
        save_arrays(file, arrays)


def write_zarr(path: Path, draft: Path, arrays: dict[str, Any]) -> None:
    """Write a Zarr group: arrays of whole rows, and the smaller arrays as attributes.

    Args:
        path: its folder, which is not there yet.
        draft: where it is made before it is renamed; what lies there is removed.
        arrays: by name.
    """
    shutil.rmtree(draft, ignore_errors=True)
    zarr = library("zarr", "writing Zarr")
    group = zarr.open_group(str(draft), mode="w")
    for name, array in arrays.items():
        values = np.asarray(array) if name in SMALL else array
        if values.ndim < 2:
            group.attrs[name] = values.tolist()
            continue
        step = max(min(ZARR_BYTES // max(values[:1].nbytes, 1), len(values)), 1)
        chunks = step, max(values.shape[1], 1)
        kept = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=chunks)
        for start in range(0, len(values), step):
            kept[start : start + step] = values[start : start + step]
    draft.replace(path)
