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

from groute_py.comm.agree import all_leave, at_root, collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.connect import connect
from groute_py.device.registry import kind_of
from groute_py.engine.algorithms.methods import CONTRACTION
from groute_py.engine.memory.gpus import estimate, free_gpu_bytes
from groute_py.engine.option import chosen, shared_options
from groute_py.engine.options import Options
from groute_py.engine.preparing import BEFORE, contract
from groute_py.engine.solver import SourceSolver
from groute_py.errors import RunError, everywhere, too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Size
from groute_py.graph.turns.expanded import layout_of
from groute_py.hierarchy.prepared import PreparedFile
from groute_py.hierarchy.problems import UnsuitableError
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.many.carry import Carrier
from groute_py.many.choose import with_device
from groute_py.source.base import Supply
from groute_py.source.graph_source import GraphSource
from groute_py.source.shared import SharedFile, on_every_rank
from groute_py.source.whole import GraphSupply
from groute_py.system.clock import span
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import available_bytes

if TYPE_CHECKING:
    from mpi4py import MPI

    from groute_py.device.base import Device
    from groute_py.io.graph_file import MappedFile
    from groute_py.many.apsp import Ends, ManySources, Progress
    from groute_py.many.row_graph import RowGraph
    from groute_py.many.storage.store import Store
    from groute_py.results.result import Result

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Work(NamedTuple):
    """A function that takes a job's progress, and the store that saves its parts for --resume."""

    progress: Progress | None = None
    keep: Store | None = None


NO_WORK = Work()
"""No progress is reported, and nothing is saved."""


class Job(Protocol[T_co]):
    """A question about an open graph."""

    def shared_arguments(self) -> dict[str, Any]:
        """Return the arguments that every rank has to pass alike, by their names in messages.

        Ranks that differ would wait for each other for ever, so `Opened.answer` refuses such a call
        first. ``function`` comes first, with the name of the public function. Long arguments that
        only rank 0 reads, such as many sources, may be left out: they would be sent for the
        comparison alone. One source and its targets are few, and are compared.
        """

    def check(self, options: Options) -> None:
        """Raise `InputError` for what is wrong whatever the graph is."""

    def run(self, opened: Opened, work: Work) -> T_co | None:
        """Answer on rank 0; None elsewhere. Collective."""


class Opened:
    """A graph on all ranks, for one job or many.

    Nothing is read before a job needs it. Several threads of a single rank may share it; they work
    one after another.
    """

    def __init__(self, source: GraphSource, channel: Channel, options: Options) -> None:
        self.source, self.channel, self.options = source, channel, options
        self.keeps_order = not options.reverse
        self.why_prepared = self._why_released = ""  # on rank 0
        self._lock, self._thread, self._closed = threading.Lock(), 0, False
        self._file: MappedFile | None = None
        self._is_watched = False
        self._supply: Supply | None = None
        self.supply_direction = self.direction
        self._source_solver: SourceSolver | None = None
        self._graph: Graph | None = None
        self._row_graphs: dict[Direction, RowGraph] = {}
        self._memos: dict[str, Any] = {}

    @property
    def direction(self) -> Direction:
        """The direction of the paths from a source of this graph."""
        return Direction(self.options.reverse)

    @property
    def change_error(self) -> RunError | None:
        """The error of a job that found the graph's file written to; on rank 0."""
        return None if self._file is None else self._file.error

    def answer(self, job: Job[T], work: Work = NO_WORK) -> T | None:
        """Answer a question on rank 0; None elsewhere. Collective."""
        with self.alone():
            with collective(self.channel):
                job.check(self.options)
            refuse_difference(self.channel, job.shared_arguments() | shared_options(self.options))
            return job.run(self, work)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out during the block, and check before and after it."""
        with self._locked():
            if self._closed:
                raise everywhere(RunError("this solver is closed; open the graph again"))
            self._check_file()
            yield
            self._check_file()

    def supply(self) -> Supply:
        """Return the graph's supply; a first call takes the forward graph. Collective."""
        return self.first_supply(Direction.FORWARD, whole=True)

    def first_supply(self, direction: Direction, *, whole: bool) -> Supply:
        """Return the supply of the first call, whatever a later one asks for. Collective."""
        if self._supply is None:
            if not self._is_watched:
                self._file = self.source.watched(self.channel)
                self._is_watched = self.channel.broadcast(self._file is not None)
            source = self.source  # `replace` would lose its cached `file`
            if direction is not source.direction:
                source = replace(source, direction=direction)
            self._supply, self.supply_direction = (
                source.supply(self.channel, whole=whole),
                direction,
            )
        return self._supply

    @property
    def source_solver(self) -> SourceSolver:
        """The shares of all ranks, for solves from one source; collective when first used."""
        if self._source_solver is None:
            renumbers = self.options.renumbers
            supply = self.first_supply(self.direction, whole=renumbers)
            if self.supply_direction is not self.direction:
                supply = on_root(self.channel, lambda: GraphSupply(self.graph(self.direction)))
            if self.channel.size > 1 or renumbers:
                self.options = self.options.with_coordinates(self.source.what)
            self._source_solver = SourceSolver(supply, self.channel, self.options)
        return self._source_solver

    def forward(self) -> Graph:
        """Return the forward graph, with its own weights; on rank 0, once there is a supply."""
        assert self._supply is not None
        if self.supply_direction is Direction.FORWARD:
            return self._supply.graph()
        # only `following` makes a backward supply that keeps the order, of the forward graph
        if self.keeps_order:
            graph: Graph = self.source.what
            return graph
        return self._supply.graph().reversed()

    def following(self, forward: Graph | None, options: Options) -> Opened:
        """Return one of another graph on rank 0, which stands in for the same file."""
        opened = Opened(source_of(forward, options), self.channel, options)
        opened.keeps_order = self.keeps_order
        opened._file, opened._is_watched = self._file, self._is_watched
        return opened

    def graph(self, direction: Direction | None = None) -> Graph:
        """Return the whole graph in host memory; on rank 0, once there is a supply."""
        if self._graph is None:
            self._graph = self._read()
        sense = self.direction if direction is None else direction
        if sense is self.supply_direction:
            return self._graph
        return self.memo(f"graph {sense.name}", self._graph.reversed)

    def choose_device(self) -> None:
        """Let one rank solve a small graph on its cores, unless the shares are loaded already."""
        if self._source_solver is None and self.channel.size == 1:
            self.options = with_device(self.graph(), self.options)

    def device(self, direction: Direction) -> Device | None:
        """Return the device that has the shares of a direction, if they are loaded."""
        if self._source_solver is None or direction is not self.direction:
            return None
        return self._source_solver.device

    def many_sources(
        self,
        ends: Callable[[], Ends],
        options: Options,
        direction: Direction | None = None,
        destination: str = "nowhere",
    ) -> ManySources:
        """Choose the method for rows between the ends that rank 0 has. Collective."""
        from groute_py.many.apsp import prepare

        with span("method"):
            rows = self._row_graphs.get(self.direction if direction is None else direction)
            resident = rows is not None and rows.resident(options) is not None
            if not all(self.channel.gather(resident)):
                self.make_room()
            rows = self.row_graph(direction)
            why = "; ".join(filter(None, (self.why_prepared, self._why_released)))
            self._why_released = ""
            return prepare(self.channel, rows, ends, options, destination, why)

    def row_graph(self, direction: Direction | None = None) -> RowGraph:
        """Return the whole graph on every rank, in the form for solves of rows. Collective.

        A graph in a native or a prepared file is mapped by the ranks that see it.
        """
        from groute_py.many.row_graph import RowGraph

        row_direction = self.direction if direction is None else direction
        if row_direction not in self._row_graphs:
            supply = self.supply()

            def file() -> PreparedFile | SharedFile | None:
                self.graph(self.supply_direction)  # its contraction may replace the supply's file
                return None if self.options.hops else supply.file()

            def make(graph: Graph) -> RowGraph:
                return RowGraph.of(graph, self.supply_direction, row_direction)

            seen = on_root(self.channel, file)
            first = at_root(self.channel, lambda: make(self.graph(self.supply_direction)))
            row_graph = on_every_rank(self.channel, first, seen, make)
            assert row_graph is not None
            self._row_graphs[row_direction] = row_graph
        return self._row_graphs[row_direction]

    def from_root_vertex(self, name: str, make: Callable[[], Graph], **how: Any) -> Result | None:
        """Solve from the last vertex of a graph that rank 0 makes, without turns. Collective.

        That vertex is the root, with arcs of weight 0 to several others. The options are those of
        the function ``name``, but for ``how``.
        """
        self.make_room()
        graph = at_root(self.channel, make)
        options = replace(self.options.restricted(name), turns=None, **how)
        if self.channel.size == 1 and graph is not None:
            options = with_device(graph, options)
        with SourceSolver(GraphSupply(graph), self.channel, options) as solver:
            return solver.sssp(solver.facts.vertex_count - 1)

    def carrier(self, direction: Direction | None = None) -> Carrier | None:
        """Return what sums columns along paths, None without any; as `graph`."""
        if not self.options.carry:
            return None
        graph, name = self.graph(direction), f"carrier {direction}"
        return self.memo(name, lambda: Carrier(graph, self.options.carry))

    def memo(self, name: str, make: Callable[[], T]) -> T:
        """Return what an earlier job made under a name, or make it."""
        if name not in self._memos:
            self._memos[name] = make()
        memo: T = self._memos[name]
        return memo

    def deadline(self) -> float:
        """Return `time.monotonic` at which a job that begins now is to give up."""
        return deadline_in(self.options.time_limit_s)

    def rank_watch(self, progress: Progress | None = None) -> Progress:
        """Return a progress function that ends a job at its deadline, each rank by itself."""
        deadline = self.deadline()

        def watch(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            refuse_late(deadline, done, total)

        return watch

    def collective_watch(
        self, deadline: float, progress: Progress | None = None
    ) -> Progress | None:
        """Return a progress function that ends a job at the deadline; both are collective."""
        if not any(self.channel.gather(math.isfinite(deadline))):
            return progress

        def watch(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            with collective(self.channel):
                refuse_late(deadline, done, total)

        return watch

    def close(self) -> None:
        """Free the devices when no other thread works any more; nothing is answered afterwards."""
        with self._locked():
            self._closed = True
            self.drop()
            self._file = None
            if self._source_solver is not None:
                self._source_solver.close()  # collective: an error of another rank may come of it

    def make_room(self) -> None:
        """Drop what earlier jobs made if there is no room for one more graph. Collective.

        The graph itself, the hierarchy and the shares stay.
        """
        if not any(self.channel.gather(bool(self._row_graphs or self._memos))):
            return
        size = on_root(self.channel, lambda: Size.of(self.graph(self.supply_direction)))
        if any(self.channel.gather(_is_short_of(size, self.options, self.channel.rank))):
            self._why_released = "what earlier jobs had left made room"
            self.drop()

    def drop(self) -> None:
        """Keep nothing but the graph and the shares. Collective."""
        memos, self._row_graphs, self._memos = self._memos, {}, {}
        for memo in memos.values():
            if isinstance(memo, SourceSolver):
                memo.close()

    def _read(self) -> Graph:
        """Read the whole graph, with its hierarchy if it is to be prepared; on rank 0."""
        assert self._supply is not None
        graph = self._supply.graph()
        if self.options.hops:
            return graph.with_unit_weights()
        if not self.options.keeps_prepared or layout_of(graph).is_expanded:
            return graph.to_host()
        if self._source_solver is None:  # else its loading has tried
            kind = kind_of(self.options.device, CONTRACTION.devices)
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


def open_for(
    function: str,
    graph: Any,
    keywords: Mapping[str, Any],
    columns: Columns,
    comm: MPI.Intracomm | None,
    **fixed: Any,
) -> Opened:
    """Return a graph for one call of a function of Python; nothing is read yet. Collective."""
    options, channel = Options(**chosen(Options, function, keywords), **fixed), connect(comm)
    with collective(channel):
        options.check(function)
    columns = columns._replace(profile=options.profile)
    return Opened(source_of(graph, options, columns), channel, options)


def source_of(
    graph: Any, options: Options, columns: Columns = BY_TITLE, **more: Any
) -> GraphSource:
    """Return how a graph is read for some options; ``more`` are fields of `GraphSource`."""
    columns = columns._replace(carry=tuple(options.carry))
    how = {"turns": options.turns, "prepare": options.keeps_prepared}
    return GraphSource(graph, columns, Direction(options.reverse), **how, **more)


def _is_short_of(size: Size, options: Options, rank: int) -> bool:
    """Return whether this rank has too little memory for one more graph of a size."""
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
    """Raise `TimeLimitError` after the deadline if something is left to be done."""
    if done < total and time.monotonic() > deadline:
        raise too_late(f"{done:,} of {total:,} sources were done")
