"""Rows that go to a file as they are solved, written by the ranks that solve them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock
from groute_py.errors import InputError, RunError, everywhere, quote
from groute_py.io.npz import save_arrays
from groute_py.io.optional_libraries import library
from groute_py.many.apsp import ManySources, Spans
from groute_py.many.delivery import Progress, deliver, in_rounds
from groute_py.many.rows import SourceRows
from groute_py.many.storage.folder import check_folder
from groute_py.many.storage.row_files import ArrayPlace, MappedRowWriter, RowFiles
from groute_py.many.storage.store import Store
from groute_py.results import tables
from groute_py.results.answer import arrays_about
from groute_py.results.tables import Attributes, TableColumns
from groute_py.system.atomic_file import check_writable, put, replacing
from groute_py.system.clock import span

UNIT = "rows"  # the units of a store of rows


class StoredRows:
    """The rows of an output, whose files are rank 0's; a `Sink` there."""

    def __init__(self, job: ManySources, store: Store, attributes: Attributes) -> None:
        if job.graph.scale is not None and job.graph.scale.sums:
            problem = f"objective {job.options.objective}: lengths are in the answer, not in a file"
            raise everywhere(InputError(problem))
        types = {"distances": job.type}
        if job.options.predecessors:
            types["predecessors"] = np.dtype(np.int32)
        self._files = RowFiles(store.path, types, (len(job.sources), job.width))
        self._job, self._store, self._attributes = job, store, attributes

    def begin(self, channel: Channel) -> None:
        """Lay out the rows, or go on with them. Collective."""
        job, options = self._job, self._job.options
        run = partial(job.run, algorithm=options.algorithm, paths=options.predecessors)
        self._store.begin(channel, run, len(job.sources), self._files)

    def take(self, numbers: NDArray[np.int64], block: RowBlock) -> None:
        with self._store.writing():
            self._files.take(numbers, block)

    def mark(self, numbers: NDArray[np.int64]) -> None:
        """Write down that rows which other ranks have written are complete."""
        with self._store.writing():
            self._files.mark(numbers)

    def places(self) -> list[ArrayPlace]:
        """Return where other ranks of the host find the files."""
        with self._store.writing():
            return self._files.neighbour_places

    def finish(self) -> None:
        """Make the output of the rows, and remove the folder, if no row is missing."""
        try:
            with self._store.writing():
                self._files.close()  # some disks are full only now; NFS keeps open files
                if self._store.part is None or self._files.are_complete():
                    write_output(self._files, self._job, self._attributes)
        except RunError:
            if self._store.part is None or self._files.path("distances").exists():
                raise  # else the process of another part has made the output this moment
        self._store.finish()


def save(
    channel: Channel, job: ManySources, path: Path, progress: Progress | None = None
) -> SourceRows | None:
    """Return all rows, mapped on rank 0 from an ``.npy`` file; None elsewhere. Collective."""
    with closing(Store(path, UNIT)) as store:
        label = save_rows(channel, job, store, progress)
    if channel.rank > 0:
        return None
    return job.answer(np.load(path, mmap_mode="r"), None, label)


def save_rows(
    channel: Channel,
    job: ManySources,
    store: Store,
    progress: Progress | None = None,
    attributes: Attributes | None = None,
) -> str:
    """Solve from the sources whose rows are missing, and make the output of all rows. Collective.

    Returns what they were solved on. ``store`` is of `UNIT` and has not begun.
    """
    rows = StoredRows(job, store, attributes or {})
    if store.part is not None and len(store.part.units(len(job.sources))) == 0:
        return deliver(channel, job, store.missing, None)
    with span("lay out"):
        rows.begin(channel)
    label = _write_rows(channel, job, store, rows, progress)
    with span("finish"):
        on_root(channel, rows.finish)
    return label


def _write_rows(
    channel: Channel, job: ManySources, store: Store, rows: StoredRows, progress: Progress | None
) -> str:
    """Write the missing rows: each rank its own if all of them see the files, else rank 0 all."""
    with ExitStack() as files:
        writer = None
        if channel.size > 1:
            places = on_root(channel, rows.places)
            with collective(channel), span("open"):
                writer = _open_writer(places)
            if writer is not None:
                files.enter_context(closing(writer))
        writers = channel.gather(writer is not None)
        if writer is None or not all(writers):
            sink = rows if channel.rank == 0 else None
            return deliver(channel, job, store.missing, sink, progress)
        own = job.part(store.missing, channel.rank, channel.size)

        def hand_over(block: RowBlock | None, spans: Spans) -> None:
            with collective(channel), store.writing(), span("write"):
                if block is not None:
                    writer.take(own[block.first : block.first + block.count], block)
            with collective(channel), span("mark"):
                if channel.rank == 0:
                    rows.mark(np.concatenate(list(job.parts(store.missing, spans))))

        label = in_rounds(channel, job, store.missing, hand_over, progress)
        with collective(channel), store.writing():
            writer.close()  # some disks say only now that they are full
        return label


def _open_writer(places: list[ArrayPlace]) -> MappedRowWriter | None:
    """Return a writer of this rank, if it sees the files."""
    try:
        return MappedRowWriter(places)
    except OSError:
        return None


SUFFIXES = (".npy", ".npz", ".zarr")  # the forms of whole arrays, by suffix

SMALL = ("sources", "targets", "first_id", "ids", "attribution")
"""The arrays beside the rows."""

ZARR_BYTES = 16 << 20  # bytes of a chunk of whole rows
PAIRS_AT_ONCE = 1 << 20  # about how many lines of a table are made in one go


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
        tables.write_table(path, _pairs(job, attributes, files.arrays()), job.row_graph.attribution)


def _beside(job: ManySources) -> dict[str, Any]:
    """Return the arrays beside the rows."""
    targets = {} if job.targets is None else {"targets": job.targets}
    return {"sources": job.sources, **targets, **arrays_about(job.row_graph)}


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
        part = tables.of_pairs(job.row_graph.numbering, job.sources[rows], job.targets, *lines)
        numbers = np.arange(len(job.sources))[rows]
        part |= tables.beside_pairs(attributes, numbers, len(job.targets))
        part = part if job.options.cutoff is None else tables.of_reached(part)
        yield tables.with_units(part, job.row_graph.units)
