"""A graph that stays loaded on the devices of all ranks, for one solve or many."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np

from groute_py.arguments import as_index
from groute_py.comm.agree import on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.device.base import Device
from groute_py.engine.loading import LoadedGraph, load_graph
from groute_py.engine.options import Options
from groute_py.engine.reporting import report
from groute_py.engine.solving import Query, Solving
from groute_py.engine.statistics import Stopwatch
from groute_py.errors import (
    GrouteError,
    InputError,
    NegativeCycleError,
    everywhere,
    quote,
    quoted,
)
from groute_py.graph.facts import Facts
from groute_py.graph.ids import Numbering
from groute_py.results.result import Result
from groute_py.results.statement import Statement
from groute_py.results.with_turns import in_vertices
from groute_py.source.base import Supply
from groute_py.turns.expanded import layout_of
from groute_py.turns.layout import Layout


class SourceSolver:
    """A graph on the devices of all ranks, for solves from one source after another.

    With several ranks all of them open it, solve and close together: it and its methods are
    collective, and the calls must come in the same order. As a context manager it is closed at the
    end of the block.

    Args:
        supply: the graph, wherever it lies; with ``options.reverse`` its arcs are turned round, and
            with ``options.turns`` it is expanded.
        channel: connects the ranks.
        options: the same on every rank.

    Raises:
        InputError, SetupError: the same one on every rank.
    """

    def __init__(self, supply: Supply, channel: Channel, options: Options) -> None:
        self._channel = channel
        self._graph = load_graph(supply, channel, options)
        self._solving = Solving(self._graph)
        self._layout, self._numbering = _vertices_in(supply, self._graph)

    def sssp(
        self, source: int, targets: Sequence[int] = (), *, brings_tree: bool = True
    ) -> Result | None:
        """Shortest paths from ``source``.

        Args:
            source: a vertex, counted from 0.
            targets: vertices; the solve ends when all of them are final, and leaves vertices
                farther than the farthest of them unreached. With negative weights no early end is
                possible, and all vertices are solved.
            brings_tree: whether predecessors that are found are brought to the result too.

        Returns:
            What `groute_py.sssp` returns: the result on rank 0, None elsewhere.

        Raises:
            InputError: the source or a target is not a vertex, or differs between ranks.
            NegativeCycleError: one can be reached from the source.
            TimeLimitError: the time limit passed.
            RunError: a distance does not fit in 64 bits.
        """
        with self.turned_back():
            return self._solve(source, targets, brings_tree=brings_tree)

    def within(self, source: int, limit: float) -> Result | None:
        """As `sssp`, without a tree; vertices that are farther than a limit stay unreached."""
        with self.turned_back():
            return self._solve(source, (), brings_tree=False, cutoff=limit, finds_tree=False)

    @contextmanager
    def turned_back(self) -> Iterator[None]:
        """Let a negative cycle that the block raises be one of the graph as it was given."""
        try:
            yield
        except NegativeCycleError as error:
            found = self._layout.cycle(error)
            raise (found.reversed() if self._graph.plan.options.reverse else found) from None

    @property
    def facts(self) -> Facts:
        """Counts and weights of the graph."""
        return self._layout.facts(self._graph.plan.facts)

    @property
    def numbering(self) -> Numbering | None:
        """The ids of the vertices on rank 0, None elsewhere."""
        return self._numbering

    @property
    def attribution(self) -> str:
        """Whom answers have to name, on rank 0; "" for nobody."""
        return self._graph.geography.attribution

    @property
    def device(self) -> Device:
        """This rank's device, which holds its share."""
        return self._graph.device

    @property
    def gpu(self) -> str | None:
        """The UUID of this rank's GPU, None on a CPU."""
        return self._graph.device.uuid

    def proves(self, statement: Statement) -> bool:
        """Whether this rank's device finds an answer right; False says nothing."""
        return self._graph.device.proves(statement)

    def close(self) -> None:
        """Free the devices; nothing can be solved afterwards. Collective."""
        self._graph.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: object, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close, unless this rank fails while others go on, which ends the job."""
        is_everywhere = isinstance(error, GrouteError) and error.on_all_ranks
        if error is None or self._channel.size == 1 or is_everywhere:
            self.close()

    def _solve(
        self,
        source: int,
        targets: Sequence[int],
        *,
        brings_tree: bool = True,
        cutoff: float = math.inf,
        finds_tree: bool = True,
    ) -> Result | None:
        graph, channel, watch = self._graph, self._channel, Stopwatch()
        if graph.mode.linked is not None:
            graph.mode.linked.wake()
        source, targets = self._checked(source, targets)
        begin = self._layout.begins(np.array([source], np.int64))
        ends = self._layout.ends(np.array(targets, np.int64))
        own_source, *own = graph.own_of([*begin.tolist(), *ends.tolist()])
        wanted = np.array([v for v in own if v is not None], np.int64) if targets else None
        deadline = time.monotonic() + graph.plan.time_limit_s
        query = Query(own_source, wanted, deadline, min(cutoff, graph.plan.cutoff), finds_tree)
        before = channel.bytes_sent.copy()
        channel.gather(None)  # so that no rank's time holds another's last download
        outcome = self._solving.solve(query, watch)
        sent = channel.bytes_sent - before
        tree = brings_tree and graph.plan.options.predecessors
        result = report(graph, begin.item(), outcome, watch, sent, predecessors=tree)
        if result is None or self._numbering is None:
            return None
        return in_vertices(result, self._layout, source, self._numbering)

    def _checked(self, source: int, targets: Sequence[int]) -> tuple[int, list[int]]:
        """The ends of a solve, the same on every rank."""
        asked = {"method": "sssp"}
        try:
            source, targets = ends = ends_of(source, targets)
        except InputError as problem:
            refuse_difference(
                self._channel, {**asked, "source": quote(source), "targets": quote(targets)}
            )
            raise everywhere(problem) from problem.__cause__
        refuse_difference(self._channel, {**asked, "source": source, "targets": targets})
        self._check_vertices("source", [source])
        self._check_vertices("target", targets)
        return ends

    def _check_vertices(self, role: str, vertices: Sequence[int]) -> None:
        count, first = self.facts.vertex_count, self.facts.first_id
        for vertex in vertices:
            if not 0 <= vertex < count:
                raise everywhere(
                    InputError(
                        f"{role} {vertex + first} is not a vertex of {quoted(self.facts.name)}; "
                        f"vertices are {first}..{count - 1 + first}"
                    )
                )


def _vertices_in(supply: Supply, graph: LoadedGraph) -> tuple[Layout, Numbering | None]:
    """Where the vertices lie, and their ids on rank 0. Collective."""
    facts, turns = graph.plan.facts, graph.plan.options.turns

    def found() -> Layout | None:
        return None if turns is None else layout_of(supply.graph())

    if (layout := on_root(graph.channel, found)) is None:
        return Layout(facts.vertex_count, facts.arc_count), graph.numbering
    return layout, supply.graph().numbering if graph.channel.rank == 0 else None


def ends_of(source: Any, targets: Any) -> tuple[int, list[int]]:
    """A source and targets as Python integers.

    Raises:
        InputError: one of them is no integer.
    """
    problem = f"targets {quote(targets)}: a sequence of integers is expected"
    if isinstance(targets, str):
        raise InputError(problem)
    try:
        several = list(targets)
    except TypeError:  # as of an array without dimensions
        raise InputError(problem) from None
    return _index_of("source", source), [_index_of("target", target) for target in several]


def _index_of(role: str, vertex: Any) -> int:
    """A vertex as a Python integer."""
    try:
        return as_index(vertex)
    except TypeError as problem:
        way_out = ""
        if isinstance(vertex, str):
            way_out = f"; graph.numbering.index_of({quote(vertex)}) is that of an id"
        elif role == "source" and isinstance(vertex, Iterable):
            way_out = "; for several sources take apsp"
        raise InputError(
            f"{role} {quote(vertex)} is no index of a vertex, which is an integer{way_out}"
        ) from problem
