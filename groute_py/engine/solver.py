"""A graph that stays loaded on the devices of all ranks, for one solve or many."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import numpy as np

from groute_py.comm.agree import all_leave, on_root
from groute_py.comm.base import Channel
from groute_py.device.base import Device
from groute_py.engine.loading import LoadedGraph, load_graph
from groute_py.engine.options import Options
from groute_py.engine.reporting import report
from groute_py.engine.solving import Query, SourceSolving
from groute_py.engine.statistics import Stopwatch
from groute_py.errors import NegativeCycleError
from groute_py.graph.ids import Numbering
from groute_py.results.result import Result
from groute_py.results.with_turns import in_vertices
from groute_py.source.base import Supply
from groute_py.turns.expanded import layout_of
from groute_py.turns.layout import Layout


class SourceSolver:
    """A graph on the devices of all ranks, for solves from one source after another.

    It and its methods are collective. The arcs of ``supply`` are reversed with ``options.reverse``,
    and it is expanded with ``options.turns``. ``numbering`` and ``attribution``, the credit that
    answers have to show, are those of rank 0.
    """

    def __init__(self, supply: Supply, channel: Channel, options: Options) -> None:
        self._channel = channel
        self._graph = graph = load_graph(supply, channel, options)
        self._solving = SourceSolving(graph)
        self._layout, self.numbering = _vertices_in(supply, graph)
        self.facts = self._layout.facts(graph.plan.facts)
        self.attribution = graph.geography.attribution

    @property
    def device(self) -> Device:
        """This rank's device, which holds its share."""
        return self._graph.device

    def sssp(
        self,
        source: int,
        targets: Sequence[int] = (),
        *,
        brings_tree: bool = True,
        finds_tree: bool = True,
        cutoff: float = math.inf,
    ) -> Result | None:
        """Return shortest paths from a vertex, counted from 0, on rank 0; None elsewhere.

        The solve ends when all ``targets`` are final, and leaves vertices farther than the farthest
        of them unreached; with negative weights no early end is possible. Vertices beyond
        ``cutoff`` stay unreached, as beyond that of the options. If the options want predecessors,
        ``finds_tree`` says whether to find them, and ``brings_tree`` whether these come to the
        result, not to the devices alone.
        """
        graph, channel, watch = self._graph, self._channel, Stopwatch()
        options = graph.plan.options
        if graph.mode.linked is not None:
            graph.mode.linked.wake()
        begin = self._layout.begins(np.array([source], np.int64))
        ends = self._layout.ends(np.array(targets, np.int64))
        own_source, *own = graph.own_of([*begin.tolist(), *ends.tolist()])
        own_targets = np.array([v for v in own if v is not None], np.int64) if targets else None
        deadline = time.monotonic() + (options.time_limit_s or math.inf)
        limit = cutoff if options.cutoff is None else min(cutoff, options.cutoff)
        query = Query(own_source, own_targets, deadline, limit, finds_tree)
        before = channel.bytes_sent.copy()
        channel.gather(None)  # so that no rank's time holds another's last download
        try:
            outcome = self._solving.solve(query, watch)
        except NegativeCycleError as error:
            cycle = self._layout.cycle(error)
            raise (cycle.reversed() if options.reverse else cycle) from None
        sent = channel.bytes_sent - before
        tree = brings_tree and finds_tree and options.predecessors
        result = report(graph, begin.item(), outcome, watch, sent, predecessors=tree)
        if result is None or self.numbering is None:
            return None
        return in_vertices(result, self._layout, source, self.numbering)

    def close(self) -> None:
        """Free the devices; nothing can be solved afterwards. Collective."""
        self._graph.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: object, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if all_leave(error, self._channel):
            self.close()


def _vertices_in(supply: Supply, graph: LoadedGraph) -> tuple[Layout, Numbering | None]:
    """Return where the vertices lie, and their ids on rank 0. Collective."""
    facts, turns = graph.plan.facts, graph.plan.options.turns
    layout = on_root(graph.channel, lambda: None if turns is None else layout_of(supply.graph()))
    if layout is None:
        return Layout(facts.vertex_count, facts.arc_count), graph.numbering
    return layout, supply.graph().numbering if graph.channel.rank == 0 else None
