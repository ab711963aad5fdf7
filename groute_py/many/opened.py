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
from groute_py.engine.memory.gpus import estimate, free_gpu_bytes
from groute_py.engine.option import GRAPH_KEYWORDS, chosen, shared_options
from groute_py.engine.option_values import SHORTEST
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.errors import RunError, everywhere, too_late
from groute_py.graph.csr import Graph
from groute_py.graph.direction import Direction
from groute_py.graph.facts import Size
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.many.carry import Carrier
from groute_py.many.choose import with_device
from groute_py.many.labels import LABELS
from groute_py.many.parts import Parts
from groute_py.source.graph_source import GraphSource
from groute_py.source.whole import GraphSupply
from groute_py.system.clock import span
from groute_py.system.environment import local_rank
from groute_py.system.memory_limits import room_for
from groute_py.system.threads import limited_to

if TYPE_CHECKING:
    from groute_py.many.apsp import Ends, ManySources
    from groute_py.many.delivery import Progress
    from groute_py.many.storage.store import Store

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Work(NamedTuple):
    """A function that takes a job's progress, and the store that saves its parts for --resume."""

    progress: Progress | None = None
    keep: Store | None = None


NO_WORK = Work()  # no progress is reported, and nothing is saved


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


class Opened(Parts):
    """A graph on all ranks, for one job or many.

    Several threads of a single rank may share it; they work one after another.
    """

    def __init__(self, source: GraphSource, channel: Channel, options: Options) -> None:
        super().__init__(source, channel, options)
        self._why_released = ""  # on rank 0
        self._lock, self._thread, self.is_closed = threading.Lock(), 0, False

    @property
    def change_error(self) -> RunError | None:
        """The error of a job that found the graph's file written to; on rank 0."""
        return None if self._file is None else self._file.error

    def answer(self, job: Job[T], work: Work = NO_WORK) -> T | None:
        """Answer a question on rank 0; None elsewhere. Collective."""
        with self.alone():
            with collective(self.channel):
                if self.options.objective != SHORTEST:
                    self.options.refuse_objective(job.shared_arguments()["function"])
                job.check(self.options)
            if self.channel.size > 1:
                arguments = job.shared_arguments() | shared_options(self.options)
                refuse_difference(self.channel, arguments)
            return job.run(self, work)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out during the block, and check before and after it.

        The block uses as many threads as the options say.
        """
        with self._locked(), limited_to(self.options.threads):
            if self.is_closed:
                raise everywhere(RunError("this solver is closed; open the graph again"))
            self._check_file()
            yield
            self._check_file()

    def following(self, forward: Graph | None, options: Options) -> Opened:
        """Return one of another graph on rank 0, which stands in for the same file."""
        opened = Opened(source_of(forward, options), self.channel, options)
        opened.keeps_order, opened.origin, opened.order = self.keeps_order, self.origin, self.order
        opened._file, opened._is_watched = self._file, self._is_watched
        return opened

    def choose_device(self) -> None:
        """Let one rank solve a small graph on its cores, unless the shares are loaded already."""
        if self._source_solver is None and self.channel.size == 1:
            self.options = with_device(self.plain_graph(), self.options)

    def many_sources(
        self,
        ends: Callable[[], Ends],
        options: Options,
        direction: Direction | None = None,
        destination: str = "nowhere",
        *,
        contracts: bool = True,
    ) -> ManySources:
        """Choose the method for rows between the ends that rank 0 has. Collective.

        Unless ``contracts``, labels are tried before the graph is contracted.
        """
        from groute_py.many.apsp import prepare

        with span("method"):
            rows = self._row_graphs.get(self.direction if direction is None else direction)
            resident = rows is not None and rows.resident(options) is not None
            if not all(self.channel.gather(resident)):
                self.make_room()
            rows = self.row_graph(direction, contracts=contracts)
            why = "; ".join(filter(None, (self.why_prepared, self._why_released)))
            many = prepare(self.channel, rows, ends, options, destination, why)
            if many.choice.algorithm != LABELS and not contracts:
                return self.many_sources(ends, options, direction, destination)
            self._why_released = ""
            return many

    def from_root_vertex(
        self,
        name: str,
        make: Callable[[], Graph],
        solve: Callable[[SourceSolver, int], T],
        **how: Any,
    ) -> T:
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
            return solve(solver, solver.facts.vertex_count - 1)

    def carrier(self, direction: Direction | None = None) -> Carrier | None:
        """Return what sums columns along paths, None without any; as `graph`."""
        if not self.options.carry:
            return None
        graph, name = self.graph(direction), f"carrier {direction}"
        return self.memo(name, lambda: Carrier(graph, self.options.carry))

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
            self.is_closed = True
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
        size = on_root(self.channel, lambda: Size.of(self.plain_graph(self.supply_direction)))
        if any(self.channel.gather(_is_short_of(size, self.options, self.channel.rank))):
            self._why_released = "what earlier jobs had left made room"
            self.drop()

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


def open_for(function: str, graph: Any, keywords: Mapping[str, Any], **fixed: Any) -> Opened:
    """Return a graph for one call of a function of Python; nothing is read yet. Collective."""
    of_graph = {name: keywords.get(name, default) for name, (_, default) in GRAPH_KEYWORDS.items()}
    of_options = {name: value for name, value in keywords.items() if name not in of_graph}
    options = Options(**chosen(Options, function, of_options), **fixed)
    channel = connect(of_graph.pop("comm"))
    with collective(channel):
        options.check(function)
    ignored = of_graph.pop("ignore_columns")
    columns = Columns(**of_graph, ignore=ignored, profile=options.profile)
    return Opened(source_of(graph, options, columns), channel, options)


def source_of(
    graph: Any, options: Options, columns: Columns = BY_TITLE, **more: Any
) -> GraphSource:
    """Return how a graph is read for some options; ``more`` are fields of `GraphSource`."""
    columns = columns._replace(carry=tuple(options.carry))
    how = {"turns": options.turns, "prepare": options.keeps_prepared}
    how["objective"] = options.objective
    return GraphSource(graph, columns, Direction(options.reverse), **how, **more)


def _is_short_of(size: Size, options: Options, rank: int) -> bool:
    """Return whether this rank has too little memory for one more graph of a size."""
    wide = np.dtype(np.int64)
    needed = estimate(size, 1, wide)
    available = room_for(needed.host)
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
