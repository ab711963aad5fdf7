"""Matrices between zones in files: ``.npz``, and OMX (github.com/osPlanning/omx)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.io.npz import save_arrays
from groute_py.io.optional_libraries import library
from groute_py.system.atomic_file import check_writable, replacing, translating_errors
from groute_py.system.memory_limits import check_room

SUFFIXES = (".npz", ".omx")

MAPPING = "zones"  # the name of the array, or of OMX's mapping, that has the ids of zones


def check_matrices(path: Path) -> None:
    """Raise an error now if no matrices could be written later."""
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"{path}: unknown suffix {quote(path.suffix)}; matrices are {', '.join(SUFFIXES)}"
        )
    if path.suffix == ".omx":
        _openmatrix()
    check_writable(path)


def write_matrices(
    path: Path, zones: NDArray[Any], matrices: Mapping[str, NDArray[np.float64]]
) -> None:
    """Write matrices, shape (z, z), by their names, with the ids of zones; atomically."""
    with translating_errors(path), replacing(path) as file:
        if path.suffix == ".npz":
            save_arrays(file, {MAPPING: zones, **matrices})
        else:
            file.write(_omx_of(zones, matrices))


def read_omx(path: Path, name: str | None) -> tuple[list[Any] | None, NDArray[np.float64]]:
    """Read a matrix of an OMX file, and the ids of its zones if the file has a mapping."""
    omx = _openmatrix()
    if not path.is_file():
        raise FormatError(path, "no such file")
    try:
        opened = omx.open_file(str(path), "r")
    except (OSError, RuntimeError, ValueError) as problem:
        raise FormatError(path, "is no OMX file, or is damaged") from problem
    with closing(opened) as file:
        names = file.list_matrices()
        if (name or names[0] if len(names) == 1 else name) not in names:
            choices = ", ".join(names) or "none"
            raise FormatError(path, f"name one of its matrices, as {path.name}:NAME: {choices}")
        table = file[name or names[0]]
        if len(table.shape) != 2 or table.shape[0] != table.shape[1]:
            raise FormatError(
                path, f"matrix {quote(table.name)} of shape {table.shape} is no square"
            )
        check_room(16 * table.shape[0] ** 2, f"{path}: matrix {table.name}")
        matrix = np.asarray(table[:])
        if matrix.dtype.kind not in "iuf":
            raise FormatError(path, f"matrix {quote(table.name)} has no numbers")
        mappings = file.list_mappings()
        ids = np.asarray(file.map_entries(mappings[0])).tolist() if mappings else None
    if ids is not None and len(ids) != len(matrix):
        raise FormatError(path, f"names {len(ids)} zones of {len(matrix)} in {quote(mappings[0])}")
    return ids, matrix.astype(np.float64)


def _omx_of(zones: NDArray[Any], matrices: Mapping[str, NDArray[np.float64]]) -> bytes:
    """An OMX file, made in memory."""
    if not len(zones):
        raise InputError("an OMX file has no room for matrices of no zone; write .npz")
    how = {"driver": "H5FD_CORE", "driver_core_backing_store": 0}
    with closing(_openmatrix().open_file("matrices.omx", "w", **how)) as file:
        for name, matrix in matrices.items():
            file[name] = matrix
        if zones.dtype.kind in "iu":
            file.create_mapping(MAPPING, zones.tolist())
        image: bytes = file.get_file_image()
    return image


def _openmatrix() -> Any:
    return library("openmatrix", "OMX", "omx")
