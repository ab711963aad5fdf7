"""Delivery of the rows of many sources, a block of each rank at a time.

Rows come to rank 0, which keeps them in memory or gives them to a `Sink`. By `in_rounds` each rank
may also reduce its own (`groute_py.many.reduce`), or write them (`groute_py.many.to_file`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock
from groute_py.engine.memory.host import refuse_beyond
from groute_py.many.apsp import ManySources, Spans
from groute_py.many.carry import with_sums
from groute_py.many.labels import LABELS
from groute_py.many.put_rows import bring_rows
from groute_py.many.rows import SourceRows
from groute_py.results.distances import put_public
from groute_py.system.clock import count, span
from groute_py.system.memory_limits import ANSWERS

Progress = Callable[[int, int], None]
"""Takes how many rows are done, and of how many; may raise what ends the job.

`in_rounds`, and so `deliver`, calls it on all ranks together: it may be collective there. `reduce`
calls it on each rank when that has rows, and bounds call it within a collective block: there it
must not be.
"""


class Sink(Protocol):
    """A destination of rows, on rank 0."""

    def take(self, numbers: NDArray[np.int64], block: RowBlock) -> None:
        """Take the rows of the sources of some numbers."""


def collect(
    channel: Channel, job: ManySources, progress: Progress | None = None
) -> SourceRows | None:
    """Return all rows in rank 0's memory, where they have to fit; None elsewhere. Collective."""
    on_root(channel, lambda: _refuse_memory(job))
    stays = channel.size == 1 and job.columns is None and not job.sums
    stays = stays and job.graph.scale is None
    job = replace(job, on_gpu=stays)
    sink = Collected(job) if channel.rank == 0 else None
    label = deliver(channel, job, np.arange(len(job.sources)), sink, progress)
    if sink is None:
        return None
    return with_sums(job.answer(sink.distances, sink.parents, label), sink.carried)


class Collected:
    """Rows in memory; a `Sink`."""

    def __init__(self, job: ManySources) -> None:
        shape = len(job.sources), job.width
        self._are_lent = job.choice.algorithm != LABELS  # else blocks stay as they are
        self.distances = (ANSWERS if self._are_lent else np).empty(shape, job.type)
        self.parents = ANSWERS.empty(shape, np.int32) if job.options.predecessors else None
        self.carried: dict[str, NDArray[Any]] = {}
        self._shape = shape

    def take(self, numbers: NDArray[np.int64], block: RowBlock) -> None:
        if self._are_lent or block.count < len(self.distances):
            bring_rows(put_public, self.distances, numbers, block.distances)
        else:
            self.distances = block.distances
        if self.parents is not None:
            assert block.predecessors is not None
            bring_rows(np.copyto, self.parents, numbers, block.predecessors)
        for name, sums in block.carried.items():
            self.carried.setdefault(name, np.empty(self._shape, sums.dtype))[numbers] = sums


def deliver(
    channel: Channel,
    job: ManySources,
    numbers: NDArray[np.int64],
    sink: Sink | None,
    progress: Progress | None = None,
) -> str:
    """Give the rows of the sources of some numbers to rank 0's sink. Collective.

    Returns what they were solved on.
    """

    def hand_over(block: RowBlock | None, spans: Spans) -> None:
        with span("download"):
            rows = _gathered(channel, block, job)
        with collective(channel), span("write"):
            if sink is not None:
                for some, theirs in zip(job.parts(numbers, spans), rows, strict=True):
                    sink.take(some, theirs)

    return in_rounds(channel, job, numbers, hand_over, progress)


def in_rounds(
    channel: Channel,
    job: ManySources,
    numbers: NDArray[np.int64],
    hand_over: Callable[[RowBlock | None, Spans], None],
    progress: Progress | None,
) -> str:
    """Solve from the sources of some numbers, each rank for its part, a block at a time.

    Collective, and so is ``hand_over``, which is given this rank's block, if it has one more, and
    the spans of all ranks. Returns what they were solved on.
    """
    own = job.part(numbers, channel.rank, channel.size)
    with collective(channel):
        solving = job.rows(channel)
    done = 0
    begun = solving.blocks(job.begins[own], job.columns, on_gpu=job.on_gpu)
    with closing(begun) as blocks:
        while True:
            with collective(channel), span("rows"):
                block = next(blocks, None)
                block = None if block is None else job.finished(block)
            with span("wait"):  # for the slowest rank
                own_span = None if block is None else (block.first, len(block.distances))
                spans = channel.gather(own_span)
            if all(span is None for span in spans):
                return solving.label
            hand_over(block, spans)
            done += sum(span[1] for span in spans if span is not None)
            count("rows", done)
            if progress is not None:
                progress(done, len(numbers))


def _gathered(channel: Channel, block: RowBlock | None, job: ManySources) -> list[RowBlock]:
    """Return the blocks of the ranks that have one, on rank 0; none elsewhere. Collective."""
    if channel.size == 1:
        return [] if block is None else [block]

    def gather(rows: NDArray[Any] | None) -> list[Any]:
        return _rows_of_ranks(channel, rows, job.width)

    distances = gather(None if block is None else block.distances)
    parents: list[Any] = [None] * channel.size
    if job.options.predecessors:
        parents = gather(None if block is None else block.predecessors)
    names = job.sums
    sums = [gather(None if block is None else block.carried[name]) for name in names]
    ranks = zip(distances, parents, *sums, strict=True)
    return [
        RowBlock(0, rows, tree, dict(zip(names, more, strict=True)))
        for rows, tree, *more in ranks
        if rows is not None
    ]


def _rows_of_ranks(channel: Channel, rows: NDArray[Any] | None, width: int) -> list[Any]:
    """Gather rows, which may be of another type on each rank, as bytes."""
    dtypes = channel.gather(None if rows is None else rows.dtype)
    flat = np.empty(0, np.uint8) if rows is None else np.ascontiguousarray(rows).reshape(-1)
    parts = channel.collect(flat.view(np.uint8))
    if parts is None:
        return [None] * channel.size
    return [
        None if dtype is None else part.view(dtype).reshape(-1, width)
        for dtype, part in zip(dtypes, parts, strict=True)
    ]


def _refuse_memory(job: ManySources) -> None:
    """Refuse rows that do not fit in memory, before any work."""
    width = 8 + 4 * job.options.predecessors + 8 * len(job.options.carry)
    if job.graph.weights.dtype == np.float32:
        width -= 4
    needed, what = len(job.sources) * job.width * width, f"rows of {job.width:,} vertices"
    advice = "let them stream to a file, solve from fewer sources, or reduce them"
    refuse_beyond(needed, f"{len(job.sources):,} {what}", advice)
