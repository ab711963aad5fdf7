"""Outputs of rows, by the suffix of their file: ``.npy``, ``.npz``, ``.zarr``, or a table."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote
from groute_py.graph.ids import Numbering
from groute_py.io.npz import save_arrays
from groute_py.io.optional_libraries import library
from groute_py.many.storage.folder import check_folder
from groute_py.many.storage.row_files import RowFiles
from groute_py.results.tables import Column, Part, of_pairs, write_table
from groute_py.system.atomic_file import check_writable, put, replacing

SUFFIXES = (".npy", ".npz", ".zarr")
"""The forms of whole arrays, by suffix."""

SMALL = ("sources", "targets", "first_id", "ids", "attribution")
"""The arrays beside the rows."""

ZARR_BYTES = 16 << 20
"""Bytes of a chunk of whole rows."""

PAIRS_AT_ONCE = 1 << 20
"""About how many lines of a table are made in one go."""


class RowEnds(NamedTuple):
    """The ends of all rows.

    Attributes:
        numbering: between vertices and the file's ids.
        sources: int64, shape (k,).
        targets: int64, shape (t,), whose columns alone are there; None for all vertices.
        points: for which ends stand, by ``source`` and ``target``: k or t names, or none.
        attribution: the credit, if there is one; an ``.npy`` file has no place for it.
    """

    numbering: Numbering
    sources: NDArray[np.int64]
    targets: NDArray[np.int64] | None
    points: Mapping[str, Sequence[str]]
    attribution: str


def check_output(path: Path, *, predecessors: bool, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raise `InputError` or `SetupError` for an output that cannot be written in the end."""
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
    check_writable(path)
    check_folder(path)


def write_output(files: RowFiles, ends: RowEnds) -> None:
    """Make the output of the files of all rows, which are closed.

    Raises:
        OSError: the disk is full, or fails.
    """
    path = files.output
    if path.suffix == ".npy":
        put(files.path("distances"), path)
    elif path.suffix == ".npz":
        with replacing(path) as file:
            save_arrays(file, _beside(ends) | files.arrays())
    elif path.suffix == ".zarr":
        _write_zarr(path, files.draft, _beside(ends) | files.arrays())
    else:
        write_table(path, _pairs(ends, files.arrays()), ends.attribution)


def _beside(ends: RowEnds) -> dict[str, Any]:
    """The arrays beside the rows."""
    arrays: dict[str, Any] = {"sources": ends.sources}
    if ends.targets is not None:
        arrays["targets"] = ends.targets
    arrays["first_id"] = np.int64(ends.numbering.first)
    if ends.numbering.ids is not None:
        arrays["ids"] = ends.numbering.ids
    if ends.attribution:
        arrays["attribution"] = np.array(ends.attribution)
    return arrays


def _write_zarr(path: Path, draft: Path, arrays: dict[str, Any]) -> None:
    """Write a Zarr group: arrays of whole rows, and the smaller arrays as attributes.

    It is made in the folder ``draft``; what lies there is removed.
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
        rows = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=chunks)
        for start in range(0, len(values), step):
            rows[start : start + step] = values[start : start + step]
    draft.replace(path)


def _pairs(ends: RowEnds, arrays: dict[str, Any]) -> Iterator[Part]:
    """A line for each source and target, some sources at a time."""
    assert ends.targets is not None
    points = {role: np.array(names, object) for role, names in ends.points.items()}
    step = max(PAIRS_AT_ONCE // len(ends.targets), 1)
    before = arrays.get("predecessors")
    for start in range(0, len(ends.sources), step):
        rows = slice(start, start + step)
        lines = arrays["distances"][rows], None if before is None else before[rows]
        part = of_pairs(ends.numbering, ends.sources[rows], ends.targets, *lines)
        if "source" in points:
            part["source_point"] = Column(np.repeat(points["source"][rows], len(ends.targets)))
        if "target" in points:
            part["target_point"] = Column(np.tile(points["target"], len(ends.sources[rows])))
        yield part
