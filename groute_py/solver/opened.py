"""A graph that is open on all ranks: each part of it is made when a job first needs it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from groute_py.algorithms import contraction
from groute_py.comm.agree import all_leave, at_root, collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.device.registry import kind_of
from groute_py.engine.option import alike, chosen
from groute_py.engine.options import Options
from groute_py.engine.preparing import BEFORE, UnsuitableError, contract
from groute_py.engine.solver import SourceSolver
from groute_py.errors import RunError, everywhere, too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.size import Size
from groute_py.hierarchy.prepared import PreparedFile
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.memory.gpus import estimate, free_gpu_bytes
from groute_py.source.base import Supply
from groute_py.source.graph_source import GraphSource
from groute_py.source.shared import SharedFile, on_every_rank
from groute_py.source.whole import Whole
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import available_bytes
from groute_py.system.trace import span
from groute_py.turns.expanded import layout_of

if TYPE_CHECKING:
    from mpi4py import MPI

    from groute_py.device.base import Device
    from groute_py.io.mapped_file import MappedFile
    from groute_py.many.apsp import Ends, ManySources, Progress
    from groute_py.many.row_graph import KeptRowGraph, RowGraph
    from groute_py.many.storage.store import Store

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Work(NamedTuple):
    """How a job goes on: who watches it, and what keeps its parts for the next run."""

    progress: Progress | None = None
    keep: Store | None = None


NOTHING = Work()
"""Nobody watches, and nothing is kept."""


class Job(Protocol[T_co]):
    """A question about an open graph."""

    def alike(self) -> dict[str, Any]:
        """Return what has to be the same on every rank, the name of the job first."""

    def check(self, options: Options) -> None:
        """Raise `InputError` for what is wrong whatever the graph is."""

    def run(self, opened: Opened, work: Work) -> T_co | None:
        """Answer on rank 0; None elsewhere. Collective."""


class Opened:
    """A graph on all ranks, for one job or many.

    Nothing is read before a job needs it. Several threads of a single rank may share it; they work
    one after another.

    Args:
        source: the graph; its direction is that of the options.
        channel: connects the ranks.
        options: the same on every rank, but for what may differ by rank.

    Attributes:
        source, channel, options: as given.
        keeps_order: whether the forward graph has its arcs in the order that the user gave.
        supplied: the direction of the supply, and of what it is whole in host memory.
        why_prepared: on rank 0, why the whole graph has a hierarchy, or none although it was to.
    """

    def __init__(self, source: GraphSource, channel: Channel, options: Options) -> None:
        self.source, self.channel, self.options = source, channel, options
        self.keeps_order = not options.reverse
        self.why_prepared = self._released = ""  # on rank 0
        self._lock, self._thread, self._closed = threading.Lock(), 0, False
        self._file: MappedFile | None = None
        self._is_watched = False
        self._supply: Supply | None = None
        self.supplied = self.direction
        self._trees: SourceSolver | None = None
        self._whole: Graph | None = None
        self._rows: dict[Direction, KeptRowGraph] = {}
        self._parts: dict[str, Any] = {}

    @property
    def direction(self) -> Direction:
        """The direction of the paths from a source of this graph."""
        return Direction(self.options.reverse)

    @property
    def changed(self) -> RunError | None:
        """The error of a job that found the graph's file written to; on rank 0."""
        return None if self._file is None else self._file.error

    def answer(self, job: Job[T], work: Work = NOTHING) -> T | None:
        """Answer a question on rank 0; None elsewhere. Collective.

        Raises:
            GrouteError: of the job; or the graph is closed, or its file was written to.
        """
        with self.alone():
            with collective(self.channel):
                job.check(self.options)
            refuse_difference(self.channel, job.alike() | alike(self.options))
            return job.run(self, work)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out during the block, and check before and after it.

        Raises:
            RunError: the graph is closed, its file was written to, or a handler of a signal has
                interrupted a job.
        """
        with self._locked():
            if self._closed:
                raise everywhere(RunError("this solver is closed; open the graph again"))
            self._check_file()
            yield
            self._check_file()

    def supply(self, direction: Direction = Direction.FORWARD, *, whole: bool = True) -> Supply:
        """Return where the ranks get the graph from; it is found once. Collective.

        Args:
            direction: of the supply, if there is none yet.
            whole: whether rank 0 needs the whole graph anyway.
        """
        if self._supply is None:
            if not self._is_watched:
                self._file = self.source.watched(self.channel)
                self._is_watched = self.channel.broadcast(self._file is not None)
            source = self.source  # of which another one would look into its file anew
            if direction is not source.direction:
                source = replace(source, direction=direction)
            self._supply, self.supplied = source.supply(self.channel, whole=whole), direction
        return self._supply

    @property
    def trees(self) -> SourceSolver:
        """The shares of all ranks, for solves from one source; collective when first used."""
        if self._trees is None:
            renumbers = self.options.renumbers
            supply = self.supply(self.direction, whole=renumbers)
            if self.supplied is not self.direction:
                supply = on_root(self.channel, lambda: Whole(self.graph(self.direction)))
            if self.channel.size > 1 or renumbers:
                self.options = self.options.with_coordinates(self.source.what)
            self._trees = SourceSolver(supply, self.channel, self.options)
        return self._trees

    def given(self) -> Graph:
        """Return the forward graph, with its own weights; on rank 0, once there is a supply."""
        assert self._supply is not None
        if self.supplied is Direction.FORWARD:
            return self._supply.graph()
        if self.keeps_order:  # and so was opened anew, of a graph
            forward: Graph = self.source.what
            return forward
        return self._supply.graph().reversed()

    def following(self, forward: Graph | None, options: Options) -> Opened:
        """Return one of another graph on rank 0, which stands in for the same file."""
        opened = Opened(source_of(forward, options), self.channel, options)
        opened.keeps_order = self.keeps_order
        opened._file, opened._is_watched = self._file, self._is_watched
        return opened

    def graph(self, direction: Direction | None = None) -> Graph:
        """Return the whole graph in host memory; on rank 0, once there is a supply.

        Args:
            direction: None for that of the options.
        """
        if self._whole is None:
            self._whole = whole = self._read()
        else:
            whole = self._whole
        wanted = self.direction if direction is None else direction
        if wanted is self.supplied:
            return whole
        return self.part(f"graph {wanted.name}", whole.reversed)

    def place_little(self) -> None:
        """Let one rank solve a small graph on its cores, unless the shares are in place already."""
        from groute_py.many.choose import placed

        if self._trees is None and self.channel.size == 1:
            self.options = placed(self.graph(), self.options)

    def device(self, direction: Direction) -> Device | None:
        """Return the device that has the shares of a direction, if they are in place."""
        if self._trees is None or direction is not self.direction:
            return None
        return self._trees.device

    def rows(
        self,
        ends: Callable[[], Ends],
        options: Options,
        direction: Direction | None = None,
        destination: str = "nowhere",
    ) -> ManySources:
        """Choose how rows between vertices are solved for, on all ranks together. Collective.

        Args:
            ends: gives the sources and targets; called on rank 0.
            options: for the rows.
            direction: of the rows; None for that of this graph.
            destination: of whole rows.
        """
        from groute_py.many.apsp import prepare

        with span("method"):
            if not self._is_in_place(options, direction):
                self.make_room()
            rows = self.everywhere(direction)
            why = "; ".join(filter(None, (self.why_prepared, self._released)))
            self._released = ""
            return prepare(self.channel, rows, ends, options, destination, why)

    def _is_in_place(self, options: Options, direction: Direction | None) -> bool:
        """Whether rows are solved for without one more graph on a device; the same on all ranks."""
        rows = self._rows.get(self.direction if direction is None else direction)
        ready = rows is not None and rows.in_place(options) is not None
        return all(self.channel.gather(ready))

    def everywhere(self, direction: Direction | None = None) -> KeptRowGraph:
        """Return the whole graph as rows are solved on it, on every rank. Collective.

        A graph in a native or a prepared file is mapped by the ranks that see it.
        """
        from groute_py.many.row_graph import KeptRowGraph, RowGraph

        wanted = self.direction if direction is None else direction
        rows = self._rows.setdefault(wanted, KeptRowGraph())
        if rows.graph is None:
            supply = self.supply()

            def file() -> PreparedFile | SharedFile | None:
                self.graph(self.supplied)  # whose file may have changed with it
                return None if self.options.hops else supply.file()

            def made(graph: Graph) -> RowGraph:
                return RowGraph.of(graph, self.supplied, wanted)

            seen = on_root(self.channel, file)
            first = at_root(self.channel, lambda: made(self.graph(self.supplied)))
            rows.graph = on_every_rank(self.channel, first, seen, made)
        return rows

    def part(self, name: str, made: Callable[[], T]) -> T:
        """Return a part that a job has left, or make it; the name is that of the job."""
        if name not in self._parts:
            self._parts[name] = made()
        found: T = self._parts[name]
        return found

    def deadline(self) -> float:
        """Return `time.monotonic` at which a job that begins now is to give up."""
        return deadline_in(self.options.time_limit_s)

    def ended(self, progress: Progress | None = None) -> Progress:
        """Return what ends a job that begins now at its deadline, each rank by itself.

        Args:
            progress: is called too.
        """
        deadline = self.deadline()

        def watch(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            refuse_late(deadline, done, total)

        return watch

    def until(self, deadline: float, progress: Progress | None = None) -> Progress | None:
        """Return what ends a job at the deadline, between two blocks. Collective, also when called.

        Args:
            deadline: of this rank.
            progress: is called too.
        """
        if not any(self.channel.gather(math.isfinite(deadline))):
            return progress

        def watch(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            with collective(self.channel):
                refuse_late(deadline, done, total)

        return watch

    def close(self) -> None:
        """Free the devices when no other thread works any more; nothing is answered afterwards.

        Raises:
            RunError: a handler of a signal has interrupted a job.
        """
        with self._locked():
            self._closed = True
            self.drop()
            self._file = None
            if self._trees is not None:
                self._trees.close()  # collective: an error of another rank may come of it

    def make_room(self) -> None:
        """Let go of what jobs have left if there is no room for one more graph. Collective.

        The graph itself, the hierarchy and the shares stay.
        """
        if not (self._rows or self._parts):
            return
        size = on_root(self.channel, lambda: _size_of(self.graph(self.supplied)))
        if any(self.channel.gather(_is_short_of(size, self.options, self.channel.rank))):
            self._released = "what earlier jobs had left made room"
            self.drop()

    def drop(self) -> None:
        """Keep nothing but the graph and the shares. Collective."""
        rows, self._rows = self._rows, {}
        for kept in rows.values():
            kept.drop()
        parts, self._parts = self._parts, {}
        for part in parts.values():
            if isinstance(part, SourceSolver):
                part.close()

    def _read(self) -> Graph:
        """Read the whole graph, with its hierarchy if it is to be prepared; on rank 0."""
        assert self._supply is not None
        graph = self._supply.graph()
        if self.options.hops:
            return graph.with_unit_weights()
        if not self.options.keeps_prepared or layout_of(graph).is_expanded:
            return graph.to_host()
        if self._trees is None:  # else its loading has tried
            kind = kind_of(self.options.device, contraction.ALGORITHM.devices)
            try:
                limit = self.options.memory_limit
                self.why_prepared = contract(self._supply, kind, limit)
            except UnsuitableError as problem:
                self.why_prepared = f"not contracted: {problem}"
        elif self._supply.hierarchy() is not None:
            self.why_prepared = BEFORE
        return self._supply.graph().to_host()

    def _check_file(self) -> None:
        """Raise `RunError` if the graph's file was written to; collective."""
        if self._is_watched:
            with collective(self.channel):
                if self._file is not None:
                    self._file.check()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other threads out during the block."""
        if self._thread == threading.get_ident():
            raise RunError("this solver is solving already; a handler of a signal cannot use it")
        with self._lock:
            self._thread = threading.get_ident()
            try:
                yield
            finally:
                self._thread = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: object, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if all_leave(error, self.channel):
            self.close()


def opened_by(
    function: str,
    graph: Any,
    given: Mapping[str, Any],
    columns: Columns,
    comm: MPI.Intracomm | None,
    **fixed: Any,
) -> Opened:
    """Return a graph for one call of a function of Python; nothing is read yet. Collective.

    Args:
        function: its name.
        graph: as for `groute_py.sssp`.
        given: its keywords that are options.
        columns, comm: as for `groute_py.sssp`.
        fixed: options that the function does not take.
    """
    options, channel = Options(**chosen(Options, function, given), **fixed), connect(comm)
    with collective(channel):
        options.check(function)
    return Opened(source_of(graph, options, columns), channel, options)


def source_of(
    graph: Any, options: Options, columns: Columns = BY_TITLE, **more: Any
) -> GraphSource:
    """Return how a graph is read for some options; ``more`` are fields of `GraphSource`."""
    kept = {"turns": options.turns, "prepare": options.keeps_prepared}
    return GraphSource(graph, columns, Direction(options.reverse), **kept, **more)


def _size_of(graph: Graph) -> Size:
    return Size(graph.vertex_count, graph.arc_count)


def _is_short_of(size: Size, options: Options, rank: int) -> bool:
    """Whether this rank has too little memory for one more graph of a size."""
    wide = np.dtype(np.int64)
    needed, available = estimate(size, 1, wide), available_bytes()
    if available is not None and needed.host > available:
        return True
    if kind_of(options.device) != "cuda":
        return False
    return needed.most > free_gpu_bytes(options.memory_limit, local_rank(rank))


def deadline_in(limit_s: float | None) -> float:
    """Return `time.monotonic` at which to give up after some seconds; None for never."""
    return math.inf if limit_s is None else time.monotonic() + limit_s


def refuse_late(deadline: float, done: int, total: int) -> None:
    """Raise `TimeLimitError` behind the deadline if something is left to be done."""
    if done < total and time.monotonic() > deadline:
        raise too_late(f"{done:,} of {total:,} sources were done")
