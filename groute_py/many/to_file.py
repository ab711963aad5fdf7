"""Rows that go to a file as they are found, written by the ranks that find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock
from groute_py.many.apsp import Job, Progress, Spans, answer_of, deliver, in_rounds, part_of
from groute_py.many.precision import rounding_of
from groute_py.many.rows import SourceRows
from groute_py.many.storage.claim import folder_of, keeping
from groute_py.many.storage.mapped_rows import MappedRowWriter
from groute_py.many.storage.partial import NO_POINTS, KeptRows
from groute_py.many.storage.record import run_of
from groute_py.many.storage.row_writer import ArrayPlace
from groute_py.system.trace import span


def kept_rows(
    job: Job,
    path: Path,
    *,
    resume: bool,
    points: Mapping[str, Sequence[str]] = NO_POINTS,
) -> KeptRows:
    """The rows of an output; on rank 0.

    Args:
        job: whose rows.
        path: of the output.
        resume: go on with what an earlier run has left.
        points: as for `KeptRows`.

    Raises:
        InputError, RunError: as for `KeptRows`.
    """
    choices = {"algorithm": job.request.algorithm, "paths": job.request.predecessors}
    if job.graph.weights.dtype.kind == "f":
        choices["rounding of sums"] = rounding_of(job.choice.algorithm)
    ends = {"sources": job.sources}
    if job.targets is not None:
        ends["targets"] = job.targets
    return KeptRows(
        path,
        job.numbering,
        job.graph.weights.dtype,
        job.sources,
        run_of(job.digest, ends, choices),
        predecessors=job.request.predecessors,
        resume=resume,
        targets=job.targets,
        points=points,
        attribution=job.attribution,
    )


def save(
    channel: Channel, job: Job, path: Path, progress: Progress | None = None
) -> SourceRows | None:
    """All rows in an ``.npy`` file, mapped from it on rank 0; None elsewhere. Collective.

    Raises:
        InputError: another run is working on the file, or as `deliver`.
        RunError: the disk is full, or fails; or as `deliver`.
    """
    kept: list[KeptRows] = []

    def begin() -> NDArray[np.int64]:
        kept.append(kept_rows(job, path, resume=False))
        return kept[0].missing

    with span("lay out"):
        missing = on_root(channel, begin)
    with ExitStack() as claim:
        for own in kept:
            claim.callback(own.close)
        label = write_rows(channel, job, missing, kept[0] if kept else None, progress)
        with span("finish"):
            on_root(channel, lambda: kept[0].finish())
    if channel.rank > 0:
        return None
    return answer_of(job, np.load(path, mmap_mode="r"), None, label)


def write_rows(
    channel: Channel,
    job: Job,
    missing: NDArray[np.int64],
    kept: KeptRows | None,
    progress: Progress | None = None,
) -> str:
    """Solve from the sources whose rows are missing, and write these; collective.

    Each rank writes its own rows if all of them see the files, else rank 0 writes all.

    Args:
        channel: connects the ranks.
        job: the same on every rank.
        missing: positions of sources.
        kept: takes the rows, on rank 0; None elsewhere.
        progress: is given the rows that are done, and how many there are.

    Returns:
        What they were solved on.

    Raises:
        RunError: the disk is full, or fails; or as `deliver`.
    """
    if channel.size == 1:
        return deliver(channel, job, missing, kept, progress)
    places, folder = on_root(channel, lambda: _found(kept))
    with ExitStack() as files:
        with collective(channel), span("open"):
            writer = _opened(places)
        if writer is not None:
            files.enter_context(closing(writer))
        writers = channel.gather(writer is not None)
        if writer is None or not all(writers):
            return deliver(channel, job, missing, kept, progress)
        own = part_of(job, missing, channel.rank, channel.size)

        def hand_over(block: RowBlock | None, spans: Spans) -> None:
            with collective(channel), keeping(folder, "rows"), span("write"):
                if block is not None:
                    writer.take(own[block.first : block.first + block.count], block)
            with collective(channel), span("mark"):
                if kept is not None:
                    kept.mark(_positions(job, missing, spans))

        label = in_rounds(channel, job, missing, hand_over, progress)
        with collective(channel), keeping(folder, "rows"):
            writer.close()  # some disks say only now that they are full
        return label


def _found(kept: KeptRows | None) -> tuple[list[ArrayPlace], Path]:
    """Where the files and the folder of an output are; on rank 0."""
    assert kept is not None
    with keeping(folder_of(kept.path), "rows"):
        return kept.places, folder_of(kept.path)


def _opened(places: list[ArrayPlace]) -> MappedRowWriter | None:
    """A writer of this rank, if it sees the files."""
    try:
        return MappedRowWriter(places)
    except OSError:
        return None


def _positions(job: Job, missing: NDArray[np.int64], spans: Spans) -> NDArray[np.int64]:
    """Of the sources whose rows all ranks have written in a round."""
    parts = [
        part_of(job, missing, rank, len(spans))[taken[0] : sum(taken)]
        for rank, taken in enumerate(spans)
        if taken is not None
    ]
    return np.concatenate(parts)
