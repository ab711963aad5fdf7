"""Outputs of rows, by the suffix of their file: ``.npy``, ``.npz``, ``.zarr``, or a table."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groute_py.errors import InputError, quote
from groute_py.io.npz import save_arrays
from groute_py.io.optional_libraries import library
from groute_py.many.storage.folder import check_folder
from groute_py.many.storage.row_files import RowFiles
from groute_py.results.tables import Attributes, TableColumns, beside_pairs, of_pairs, write_table
from groute_py.system.atomic_file import check_writable, put, replacing

if TYPE_CHECKING:
    from groute_py.many.apsp import ManySources

SUFFIXES = (".npy", ".npz", ".zarr")
"""The forms of whole arrays, by suffix."""

SMALL = ("sources", "targets", "first_id", "ids", "attribution")
"""The arrays beside the rows."""

ZARR_BYTES = 16 << 20
"""Bytes of a chunk of whole rows."""

PAIRS_AT_ONCE = 1 << 20
"""About how many lines of a table are made in one go."""


def check_output(path: Path, *, predecessors: bool, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raise `InputError` or `SetupError` for an output that cannot be written in the end."""
    if path.suffix not in suffixes:
        names = ", ".join(suffixes)
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; rows are saved as {names}")
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


def write_output(files: RowFiles, job: ManySources, attributes: Attributes) -> None:
    """Make the output of the files of all rows, which are closed."""
    path = files.output
    if path.suffix == ".npy":
        put(files.path("distances"), path)
    elif path.suffix == ".npz":
        with replacing(path) as file:
            save_arrays(file, _beside(job) | files.arrays())
    elif path.suffix == ".zarr":
        _write_zarr(path, files.draft, _beside(job) | files.arrays())
    else:
        write_table(path, _pairs(job, attributes, files.arrays()), job.row_graph.attribution)


def _beside(job: ManySources) -> dict[str, Any]:
    """Return the arrays beside the rows."""
    whole, arrays = job.row_graph, dict[str, Any](sources=job.sources)
    if job.targets is not None:
        arrays["targets"] = job.targets
    arrays["first_id"] = np.int64(whole.numbering.first)
    if whole.numbering.ids is not None:
        arrays["ids"] = whole.numbering.ids
    if whole.attribution:
        arrays["attribution"] = np.array(whole.attribution)
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


def _pairs(
    job: ManySources, attributes: Attributes, arrays: dict[str, Any]
) -> Iterator[TableColumns]:
    """Yield a line for each source and target, some sources at a time."""
    assert job.targets is not None
    step = max(PAIRS_AT_ONCE // len(job.targets), 1)
    before = arrays.get("predecessors")
    for start in range(0, len(job.sources), step):
        rows = slice(start, start + step)
        lines = arrays["distances"][rows], None if before is None else before[rows]
        part = of_pairs(job.row_graph.numbering, job.sources[rows], job.targets, *lines)
        numbers = np.arange(len(job.sources))[rows]
        yield part | beside_pairs(attributes, numbers, len(job.targets))
