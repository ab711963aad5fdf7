"""Many sources over all ranks: each has the whole graph and takes an even part of the sources.

Rows come to rank 0, which keeps them in memory or in a file; or each rank reduces its own, or
writes them itself (`groute_py.many.to_file`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root
from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock
from groute_py.device.summary import Wanted
from groute_py.engine.options import Options
from groute_py.errors import InputError, NegativeCycleError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Facts, facts_of
from groute_py.hierarchy.prepared import hierarchy_of
from groute_py.many.choose import Choice, choose, why_apart
from groute_py.many.reduce import OwnRows, Reduction, slices
from groute_py.many.row_graph import KeptRowGraph, RowGraph
from groute_py.many.rows import SourceRows
from groute_py.many.solve import Solving, heights
from groute_py.many.sources import checked
from groute_py.many.storage.store import Store
from groute_py.memory.host import refuse_beyond
from groute_py.results.result import public_distances
from groute_py.system.trace import count, span
from groute_py.turns.layout import Layout

Progress = Callable[[int, int], None]
"""Takes how many rows are done, and of how many; may raise what ends the job.

`in_rounds`, and so `deliver`, calls it on all ranks together: it may be collective there. `reduce`
calls it on each rank when that has rows, and bounds call it within a collective block: there it
must not be.
"""

Spans = list[tuple[int, int] | None]
"""By rank, the first of its part of the sources that a block is of, and how many; None if none."""


class Sink(Protocol):
    """Where rows go, on rank 0."""

    def take(self, positions: NDArray[np.int64], block: RowBlock) -> None:
        """Rows of the sources at some positions."""


@dataclass(frozen=True, eq=False)
class ManySources:
    """Many sources of one graph, on every rank.

    Attributes:
        whole: the graph.
        height: Johnson's potentials where weights may be negative.
        sources: int64, shape (k,).
        options: what is asked for.
        choice: the method.
        targets: int64, shape (t,), whose columns of the rows are wanted; None for all vertices.
        kept: what stays for the next job on the graph.
        by_place: whether whole rows have a column for each place of an expansion by turns.
    """

    whole: RowGraph
    height: NDArray[Any] | None
    sources: NDArray[np.int64]
    options: Options
    choice: Choice
    targets: NDArray[np.int64] | None
    kept: KeptRowGraph
    by_place: bool = False

    @property
    def graph(self) -> Graph:
        """The graph as it is solved."""
        return self.whole.graph

    @property
    def layout(self) -> Layout:
        """Of the vertices in ``graph``, which turns may have expanded."""
        return self.whole.layout

    @property
    def facts(self) -> Facts:
        """Of the graph without the expansion by turns."""
        return self.layout.facts(facts_of(self.graph))

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where the rows begin, in the graph that is solved."""
        return self.layout.begins(self.sources)

    @property
    def columns(self) -> NDArray[np.int64] | None:
        """Which columns of the rows are wanted there, shape (width,); None for all."""
        if self.targets is not None:
            return self.layout.ends(self.targets)
        return self.layout.all_ends() if self.layout.is_expanded and not self.by_place else None

    @property
    def width(self) -> int:
        """Entries of a row."""
        if self.targets is not None:
            return len(self.targets)
        return self.graph.vertex_count if self.by_place else self.layout.vertex_count


class Ends(NamedTuple):
    """The vertices between which a job's distances are, on rank 0.

    Attributes:
        sources: int64, shape (k,); None for all vertices.
        targets: int64, shape (t,), whose columns alone are wanted; None for all vertices.
    """

    sources: NDArray[np.int64] | None
    targets: NDArray[np.int64] | None = None


def prepare(
    channel: Channel,
    kept: KeptRowGraph,
    ends: Callable[[], Ends],
    options: Options,
    destination: str = "nowhere",
    why: str = "",
) -> ManySources:
    """Choose the method for rows of a graph that every rank has. Collective.

    Args:
        channel: connects the ranks.
        kept: the graph, and what an earlier job on it has left.
        ends: gives the sources and targets; called on rank 0.
        options: the same on every rank, but for what may differ by rank.
        destination: of whole rows, as for `groute_py.many.estimates.estimates`.
        why: the reason for the graph's hierarchy or against one, on rank 0.

    Raises:
        InputError, SetupError: what is asked for cannot be done, or differs between ranks.
        NegativeCycleError: a source reaches one.
    """
    apart = kept.apart(options.device, lambda: why_apart(channel, options))
    one = kept.graph
    assert one is not None

    def found() -> Asked:
        ready = kept.in_place(options)
        asked = asked_of(one, *ends(), options, channel.size, apart, ready, destination)
        if not why:
            return asked
        reason = f"{asked.choice.reason}; {why}"
        return asked._replace(choice=replace(asked.choice, reason=reason))

    asked = on_root(channel, found)
    ends_of = asked.sources, options, asked.choice, asked.targets
    return ManySources(one, asked.height, *ends_of, kept)


def collect(
    channel: Channel, job: ManySources, progress: Progress | None = None
) -> SourceRows | None:
    """All rows in rank 0's memory; None elsewhere. Collective.

    Raises:
        InputError: they do not fit, with the numbers; or the graph does not fit on the device.
        RunError: a distance does not fit in 64 bits.
    """
    on_root(channel, lambda: _refuse_memory(job))
    sink = Collected(job) if channel.rank == 0 else None
    everything = np.arange(len(job.sources))
    label = deliver(channel, job, everything, sink, progress)
    return None if sink is None else sink.rows(label)


def deliver(
    channel: Channel,
    job: ManySources,
    positions: NDArray[np.int64],
    sink: Sink | None,
    progress: Progress | None = None,
) -> str:
    """Solve from the sources at some positions, and give the rows to rank 0's sink. Collective.

    Returns:
        What they were solved on.
    """

    def hand_over(block: RowBlock | None, spans: Spans) -> None:
        with span("download"):
            rows = gathered(channel, block, job.width, predecessors=job.options.predecessors)
        with collective(channel), span("write"):
            if sink is not None:
                _take(sink, job, positions, spans, rows)

    return in_rounds(channel, job, positions, hand_over, progress)


def in_rounds(
    channel: Channel,
    job: ManySources,
    positions: NDArray[np.int64],
    hand_over: Callable[[RowBlock | None, Spans], None],
    progress: Progress | None,
) -> str:
    """Solve from the sources at some positions, each rank for its part, a block at a time.

    Collective, and so is what hands blocks over.

    Args:
        channel: connects the ranks.
        job: the same on every rank.
        positions: of sources.
        hand_over: is given this rank's block, if it has one more, and what every rank has.
        progress: is given the rows that are done, and how many there are.

    Returns:
        What they were solved on.
    """
    own = part_of(job, positions, channel.rank, channel.size)
    with collective(channel):
        solving = _solving(job, channel)
    done = 0
    with closing(solving.blocks(job.begins[own], job.columns)) as blocks:
        while True:
            with collective(channel), span("rows"):
                block = next(blocks, None)
            with span("wait"):  # for the slowest rank
                own_span = None if block is None else (block.first, len(block.distances))
                spans = channel.gather(own_span)
            if all(span is None for span in spans):
                return solving.label
            hand_over(block, spans)
            done += sum(span[1] for span in spans if span is not None)
            count("rows", done)
            if progress is not None:
                progress(done, len(positions))


def reduce(
    channel: Channel,
    job: ManySources,
    wanted: Wanted,
    *,
    progress: Progress | None = None,
    store: Store | None = None,
) -> tuple[Reduction, str] | None:
    """What is wanted of all rows, and what they were solved on, on rank 0. Collective.

    With ``store``, which has begun, it goes on with an earlier run, and is saved now and then.
    """
    found, total = Reduction.of(len(job.sources), job.graph.weights.dtype), len(job.sources)
    missing = np.arange(total) if store is None else store.missing
    if store is not None:
        store.load_into(channel, found.arrays)
    positions = part_of(job, missing, channel.rank, channel.size)
    with collective(channel):
        solving = _solving(job, channel)
    work = job.graph.vertex_count + job.graph.arc_count
    with closing(solving.summaries(job.begins[positions], wanted)) as summaries:
        rows = OwnRows(summaries, positions, found)
        for stop in slices(channel, len(positions), store, job.choice.device, work):
            with collective(channel):
                if store is not None:
                    store.withdraw()
                for done in rows.advance(stop):
                    count("rows", done)
                    if progress is not None:
                        # an estimate, as all ranks do about as many
                        most = total if done == len(positions) else total - 1
                        progress(min(total - len(missing) + done * channel.size, most), total)
            _add_other_ranks(channel, rows, found)
            with collective(channel):
                if store is not None and stop is not None and channel.rank == 0:
                    store.replace(np.flatnonzero(found.reached >= 0), **found.arrays)
    return (found, solving.label) if channel.rank == 0 else None


class Collected:
    """Rows in memory."""

    def __init__(self, job: ManySources) -> None:
        self._job = job
        shape = len(job.sources), job.width
        kind = job.graph.weights.dtype if job.graph.weights.dtype.kind == "f" else np.int64
        self._distances: NDArray[Any] = np.empty(shape, kind)
        self._parents = np.empty(shape, np.int32) if job.options.predecessors else None

    def take(self, positions: NDArray[np.int64], block: RowBlock) -> None:
        self._distances[positions] = public_distances(block.distances)
        if self._parents is not None:
            assert block.predecessors is not None
            self._parents[positions] = block.predecessors

    def rows(self, label: str) -> SourceRows:
        """All of them."""
        return answer_of(self._job, self._distances, self._parents, label)


def answer_of(
    job: ManySources, distances: NDArray[Any], parents: NDArray[np.int32] | None, label: str
) -> SourceRows:
    """The answer to a job, whose rows were solved on what ``label`` says."""
    choice = job.choice
    statistics = {"algorithm": choice.algorithm, "reason": choice.reason, "device": label}
    rows = job.sources, distances, parents
    about = bool(job.whole.direction.value), job.whole.attribution, job.whole.numbering
    return SourceRows(*rows, statistics, *about)


def _take(
    sink: Sink,
    job: ManySources,
    positions: NDArray[np.int64],
    spans: Spans,
    rows: list[RowBlock | None],
) -> None:
    """Give the sink a block of each rank that has one: ``spans`` has its first row and its rows."""
    for rank, (taken, block) in enumerate(zip(spans, rows, strict=True)):
        if taken is not None and block is not None:
            theirs = part_of(job, positions, rank, len(spans))
            sink.take(theirs[taken[0] : sum(taken)], block)


def _add_other_ranks(channel: Channel, rows: OwnRows, found: Reduction) -> None:
    """Let rank 0 have what other ranks have found since the last time."""
    parts = channel.gather(rows.handed_over() if channel.rank > 0 else None)
    for part in parts if channel.rank == 0 else ():
        if part is not None:
            found.add(*part)


def _solving(job: ManySources, channel: Channel) -> Solving:
    return job.kept.solving(job.graph, job.height, job.options, job.choice, channel)


def part_of(
    job: ManySources, positions: NDArray[np.int64], rank: int, ranks: int
) -> NDArray[np.int64]:
    """The positions whose sources a rank solves for.

    In turn; those whose rows of one matrix it has; or as many as the others one after the other,
    where all sources take equally long, so that a rank's rows lie together in a file.
    """
    if job.choice.algorithm == "floyd" and ranks > 1:
        from groute_py.device.cuda.multi_source.floyd.ranks import owner_of

        owners = owner_of(job.begins[positions], job.graph.vertex_count, ranks)
        part: NDArray[np.int64] = positions[owners == rank]
        return part
    if job.choice.algorithm == "sweep":
        return np.array_split(positions, ranks)[rank]
    return positions[rank::ranks]


def _refuse_memory(job: ManySources) -> None:
    """Refuse rows that do not fit in memory, before any work."""
    width = 8 + 4 * job.options.predecessors
    if job.graph.weights.dtype == np.float32:
        width -= 4
    needed, what = len(job.sources) * job.width * width, f"rows of {job.width:,} vertices"
    advice = "let them stream to a file, solve from fewer sources, or reduce them"
    refuse_beyond(needed, f"{len(job.sources):,} {what}", advice)


class Asked(NamedTuple):
    """What of a job is not of the graph; see `ManySources`."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64] | None
    choice: Choice
    height: NDArray[Any] | None


def asked_of(
    one: RowGraph,
    sources: NDArray[np.int64] | None,
    targets: NDArray[np.int64] | None,
    options: Options,
    ranks: int,
    apart: str | None,
    in_place: Choice | None = None,
    destination: str = "nowhere",
) -> Asked:
    """What all ranks are to do; made on rank 0.

    ``in_place`` and ``destination`` are as for `choose`.
    """
    layout, whole = one.layout, one.graph
    facts, count = one.facts, layout.vertex_count
    if count == 0:
        raise InputError(f"{quoted(facts.name)} has no vertices, so there is no source")
    every = np.arange(count) if sources is None else sources
    every = checked(every.astype(np.int64, copy=False), count, facts.name)
    if targets is not None:
        targets = checked(targets, count, facts.name, "target")
    prepared = hierarchy_of(whole) is not None
    asked = options, facts, len(every), ranks, apart
    choice = choose(*asked, prepared=prepared, in_place=in_place, destination=destination)
    if not facts.has_negative:
        return Asked(every, targets, choice, None)
    try:
        height = heights(whole, one.given, options, layout.begins(every))
    except NegativeCycleError as error:
        found = layout.cycle(error)
        raise one.direction.of_cycle(found) from None
    return Asked(every, targets, choice, height)


def gathered(
    channel: Channel, block: RowBlock | None, width: int, *, predecessors: bool
) -> list[RowBlock | None]:
    """Every rank's block on rank 0, whose rows count from 0; a list of None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        block: this rank's, if it has one.
        width: entries of a row.
        predecessors: whether blocks have them.
    """
    if channel.size == 1:
        return [block]
    distances = _rows_of_ranks(channel, None if block is None else block.distances, width)
    parents: list[Any] = [None] * channel.size
    if predecessors:
        parents = _rows_of_ranks(channel, None if block is None else block.predecessors, width)
    return [
        None if part is None else RowBlock(0, part, tree)
        for part, tree in zip(distances, parents, strict=True)
    ]


def _rows_of_ranks(channel: Channel, rows: NDArray[Any] | None, width: int) -> list[Any]:
    """Arrays of one row after the other may be of another type on each rank: they go as bytes."""
    dtypes = channel.gather(None if rows is None else rows.dtype)
    flat = np.empty(0, np.uint8) if rows is None else np.ascontiguousarray(rows).reshape(-1)
    parts = channel.collect(flat.view(np.uint8))
    if parts is None:
        return [None] * channel.size
    return [
        None if dtype is None else part.view(dtype).reshape(-1, width)
        for dtype, part in zip(dtypes, parts, strict=True)
    ]
