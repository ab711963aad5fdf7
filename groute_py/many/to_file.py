"""Rows that go to a file as they are solved, written by the ranks that solve them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock
from groute_py.many.apsp import ManySources, Progress, Spans, answer_of, deliver, in_rounds, part_of
from groute_py.many.precision import rounding_of
from groute_py.many.rows import SourceRows
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.forms import RowEnds, write_output
from groute_py.many.storage.row_files import RowFiles
from groute_py.many.storage.row_writer import ArrayPlace, MappedRowWriter
from groute_py.many.storage.store import Store
from groute_py.system.trace import span

UNIT = "rows"
"""The units of a store of rows."""


class StoredRows:
    """The rows of an output on rank 0; see `groute_py.many.apsp.Sink`."""

    def __init__(self, store: Store, files: RowFiles, ends: RowEnds) -> None:
        self._store, self._files, self._ends = store, files, ends

    def take(self, positions: NDArray[np.int64], block: RowBlock) -> None:
        with self._store.writing():
            self._files.take(positions, block)

    def mark(self, positions: NDArray[np.int64]) -> None:
        """Write down that rows which other ranks have written are complete."""
        with self._store.writing():
            self._files.mark(positions)

    def places(self) -> list[ArrayPlace]:
        """Where other ranks of the host find the files."""
        with self._store.writing():
            return self._files.neighbour_places

    def finish(self) -> None:
        """Make the output of the rows, and remove the folder.

        Raises:
            RunError: the disk is full, or fails; the rows stay. Or another run has begun.
        """
        with self._store.writing():
            self._files.close()  # some disks say only now that they are full; NFS keeps open files
            write_output(self._files, self._ends)
        self._store.finish()


def save(
    channel: Channel, job: ManySources, path: Path, progress: Progress | None = None
) -> SourceRows | None:
    """All rows in an ``.npy`` file, mapped from it on rank 0; None elsewhere. Collective.

    Raises:
        InputError: another run is working on the file, or as `deliver`.
        RunError: the disk is full, or fails; or as `deliver`.
    """
    with closing(Store(path, UNIT)) as store:
        label = save_rows(channel, job, store, progress)
    if channel.rank > 0:
        return None
    return answer_of(job, np.load(path, mmap_mode="r"), None, label)


def save_rows(
    channel: Channel,
    job: ManySources,
    store: Store,
    progress: Progress | None = None,
    points: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Solve from the sources whose rows are missing, and make the output of all rows. Collective.

    Args:
        channel: connects the ranks.
        job: the same on every rank.
        store: of `UNIT`, not begun.
        progress: is given the rows that are done, and how many there are.
        points: as for `RowEnds`.

    Returns:
        What they were solved on.

    Raises:
        InputError, RunError: as `Store.begin` and `deliver`, or the disk is full.
    """
    with span("lay out"):
        rows = begin_rows(channel, job, store, points)
    label = _write_rows(channel, job, store, rows, progress)
    with span("finish"):
        on_root(channel, lambda: _on_root(rows).finish())
    return label


def begin_rows(
    channel: Channel,
    job: ManySources,
    store: Store,
    points: Mapping[str, Sequence[str]] | None = None,
) -> StoredRows | None:
    """Lay out the rows of an output, or go on with them. On rank 0; None elsewhere. Collective."""
    types = {"distances": job.graph.weights.dtype}
    if types["distances"].kind != "f":
        types["distances"] = np.dtype(np.int64)
    if job.options.predecessors:
        types["predecessors"] = np.dtype(np.int32)
    files = RowFiles(store.path, types, (len(job.sources), job.width))
    store.begin(channel, lambda: _run(job), len(job.sources), files)
    if channel.rank > 0:
        return None
    ends = RowEnds(
        job.whole.numbering, job.sources, job.targets, points or {}, job.whole.attribution
    )
    return StoredRows(store, files, ends)


def _run(job: ManySources) -> dict[str, Any]:
    choices = {"algorithm": job.options.algorithm, "paths": job.options.predecessors}
    if job.graph.weights.dtype.kind == "f":
        choices["rounding of sums"] = rounding_of(job.choice.algorithm)
    ends = {"sources": job.sources}
    if job.targets is not None:
        ends["targets"] = job.targets
    return run_of(job.whole.digest, ends, choices)


def _write_rows(
    channel: Channel,
    job: ManySources,
    store: Store,
    rows: StoredRows | None,
    progress: Progress | None,
) -> str:
    """Write the missing rows: each rank its own if all of them see the files, else rank 0 all."""
    if channel.size == 1:
        return deliver(channel, job, store.missing, rows, progress)
    places = on_root(channel, lambda: _on_root(rows).places())
    with ExitStack() as files:
        with collective(channel), span("open"):
            writer = _open_writer(places)
        if writer is not None:
            files.enter_context(closing(writer))
        writers = channel.gather(writer is not None)
        if writer is None or not all(writers):
            return deliver(channel, job, store.missing, rows, progress)
        own = part_of(job, store.missing, channel.rank, channel.size)

        def hand_over(block: RowBlock | None, spans: Spans) -> None:
            with collective(channel), store.writing(), span("write"):
                if block is not None:
                    writer.take(own[block.first : block.first + block.count], block)
            with collective(channel), span("mark"):
                if rows is not None:
                    rows.mark(_positions(job, store.missing, spans))

        label = in_rounds(channel, job, store.missing, hand_over, progress)
        with collective(channel), store.writing():
            writer.close()  # some disks say only now that they are full
        return label


def _on_root(rows: StoredRows | None) -> StoredRows:
    assert rows is not None
    return rows


def _open_writer(places: list[ArrayPlace]) -> MappedRowWriter | None:
    """A writer of this rank, if it sees the files."""
    try:
        return MappedRowWriter(places)
    except OSError:
        return None


def _positions(job: ManySources, missing: NDArray[np.int64], spans: Spans) -> NDArray[np.int64]:
    """The sources whose rows all ranks have written in a round."""
    parts = [
        part_of(job, missing, rank, len(spans))[taken[0] : sum(taken)]
        for rank, taken in enumerate(spans)
        if taken is not None
    ]
    return np.concatenate(parts)
