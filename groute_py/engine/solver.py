"""A graph that stays loaded on the devices of all ranks, for one solve or many."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import zip_longest
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import all_leave, on_root
from groute_py.comm.base import Channel
from groute_py.device.base import NO_PARENT, Device, unreached
from groute_py.engine.late import DeviceResult, LateResult, Scattered
from groute_py.engine.loading import LoadedGraph, load_graph
from groute_py.engine.options import Options
from groute_py.engine.solving import Outcome, Query, SourceSolving
from groute_py.engine.statistics import RankReport, Stopwatch, figures_from
from groute_py.errors import NegativeCycleError, quoted
from groute_py.graph.ids import Numbering
from groute_py.graph.turns.expanded import Layout, layout_of
from groute_py.partition.order import Order
from groute_py.results.distances import public_distances
from groute_py.results.result import Result, in_vertices
from groute_py.source.base import Supply
from groute_py.system import memory_limits


class Neighbourhood(NamedTuple):
    """The states within a distance of a source."""

    states: NDArray[np.int64]  # (r,), ascending, in the graph as it was solved
    distances: NDArray[Any]  # (r,)
    statistics: dict[str, Any]


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
        graph, watch = self._graph, Stopwatch()
        options = graph.plan.options
        begin, outcome, sent = self._solve(source, targets, watch, cutoff, finds_tree=finds_tree)
        tree = brings_tree and finds_tree and options.predecessors
        ends_early = len(targets) > 0 or math.isfinite(self._limit(cutoff))
        with watch.phase("download"):
            kind, arrays, late_arcs = _answer(graph, predecessors=tree, ends_early=ends_early)
        figures = figures_of(graph, outcome, watch, sent, late_arcs)
        if arrays is None or graph.numbering is None or self.numbering is None:
            return None
        about = graph.plan.facts.first_id, graph.numbering.ids, options.reverse, *graph.geography
        result = kind(begin, *arrays, figures, *about)
        answer = in_vertices(result, self._layout, source, self.numbering)
        vars(answer)["numbering"] = self.numbering  # which knows the library of a table
        return answer

    def reach(self, source: int, cutoff: float) -> Neighbourhood | None:
        """Return what lies within a distance of a vertex, counted from 0, on rank 0; else None."""
        graph, watch = self._graph, Stopwatch()
        _, outcome, sent = self._solve(source, (), watch, cutoff, finds_tree=False)
        with watch.phase("download"):
            states, distances = graph.device.reach()
            if first := graph.cut.share.first:  # new memory for a sum takes longer than the copy
                states = first + states
            parts = graph.channel.collect(states)
            values = graph.channel.collect(distances)
        figures = figures_of(graph, outcome, watch, sent)
        if parts is None or values is None:
            return None
        states, distances = graph.cut.order.in_input(_joined(parts)), _joined(values)
        if graph.cut.order.order is not None:
            by_number = np.argsort(states)
            states, distances = states[by_number], distances[by_number]
        return Neighbourhood(states, distances, figures)

    def _solve(
        self,
        source: int,
        targets: Sequence[int],
        watch: Stopwatch,
        cutoff: float,
        *,
        finds_tree: bool,
    ) -> tuple[int, Outcome, NDArray[np.int64]]:
        """Leave an answer on the devices; return where it begins, and the bytes sent to each rank.

        The outcome stands between them. Collective.
        """
        graph, channel = self._graph, self._channel
        options = graph.plan.options
        if graph.mode.linked is not None:
            graph.mode.linked.wake()
        ends = [source, *targets]
        if self._layout.is_expanded:
            ends[:1] = self._layout.begins(np.array([source], np.int64)).tolist()
            ends[1:] = self._layout.ends(np.array(targets, np.int64)).tolist()
        own_source, *own = graph.own_of(ends)
        own_targets = np.array([v for v in own if v is not None], np.int64) if targets else None
        deadline = time.monotonic() + (options.time_limit_s or math.inf)
        query = Query(own_source, own_targets, deadline, self._limit(cutoff), finds_tree)
        before = channel.bytes_sent.copy()
        channel.gather(None)  # so that no rank's time holds another's last download
        try:
            outcome = self._solving.solve(query, watch)
        except NegativeCycleError as error:
            cycle = self._layout.cycle(error)
            raise (cycle.reversed() if options.reverse else cycle) from None
        return ends[0], outcome, channel.bytes_sent - before

    def _limit(self, cutoff: float) -> float:
        bound = self._graph.plan.options.bound
        return cutoff if bound is None else min(cutoff, bound)

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


DISTANCE_BYTES, TREE_BYTES = 12, 24
"""Bytes of rank 0 for a vertex: its distance as it comes, and in the result; with predecessors that
in the result, and the predecessor as it comes, and in the result."""


def _answer(
    graph: LoadedGraph, *, predecessors: bool, ends_early: bool
) -> tuple[Callable[..., Result], tuple[Any, Any] | None, Callable[[], int] | None]:
    """Return the kind of the result, and distances and predecessors on rank 0; collective.

    The last value counts arcs of reached vertices later, if the answer stays on the device.
    """
    if not graph.plan.options.download:
        distances, parents, arcs_reached = graph.device.detach(predecessors=predecessors)
        return DeviceResult, (distances, parents), arcs_reached
    if ends_early and (near := _near(graph, predecessors=predecessors)):
        return LateResult, near, None
    _check_room(graph, predecessors=predecessors)
    order = graph.cut.order
    return Result, collect(graph.channel, graph.device, order, predecessors=predecessors), None


def _near(graph: LoadedGraph, *, predecessors: bool) -> tuple[Any, Any] | None:
    """Return arrays for `LateResult`, if one rank's device lists few reached vertices."""
    if graph.channel.size > 1 or graph.cut.order.order is not None:
        return None
    if (near := graph.device.near(predecessors=predecessors)) is None:
        return None
    count, vertices = graph.plan.facts.vertex_count, near.vertices
    nothing = unreached(near.distances.dtype)
    tree = Scattered(count, vertices, near.parents, NO_PARENT) if predecessors else None
    return Scattered(count, vertices, near.distances, nothing), tree


def figures_of(
    graph: LoadedGraph,
    outcome: Outcome,
    watch: Stopwatch,
    bytes_sent: NDArray[np.int64],
    late_arcs: Callable[[], int] | None = None,
) -> Any:
    """Return the statistics of a solve, those of all ranks on rank 0; collective.

    ``bytes_sent`` are those by the channel to each rank during the solve, shape (ranks,). With
    ``late_arcs``, which counts arcs of reached vertices on the only rank, return what makes them.
    """
    device = graph.device
    by_kernels = device.counters.sent[: len(bytes_sent)]
    report = RankReport(
        device=f"{device.name}: {device.label}",
        counters=device.counters,
        seconds={**graph.watch.seconds, **watch.seconds},
        bytes_sent=[int(a) + b for a, b in zip_longest(bytes_sent, by_kernels, fillvalue=0)],
        arcs_reached=0 if late_arcs else device.arcs_reached(),
    )
    bound = outcome.bound if math.isfinite(outcome.bound) else None
    about = graph.traits | {"votes": outcome.votes, "bound": bound}
    if late_arcs is not None:
        return lambda: figures_from([report._replace(arcs_reached=late_arcs())], **about)
    reports = graph.channel.gather(report)
    return figures_from(reports, **about) if graph.channel.rank == 0 else {}


def collect(
    channel: Channel, device: Device, order: Order, *, predecessors: bool
) -> tuple[NDArray[Any], NDArray[np.int64] | None] | None:
    """Return distances and predecessors of the whole graph, on rank 0; collective."""
    distances = _distances(channel, device)
    parents = channel.collect(device.predecessors()) if predecessors else None
    if distances is None:
        return None
    tree = None
    if parents is not None:
        tree = order.by_input(order.in_input(_joined(parents)))
    return order.by_input(distances), tree


def _joined(parts: list[Any]) -> NDArray[Any]:
    whole: NDArray[Any] = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return whole


def _check_room(graph: LoadedGraph, *, predecessors: bool) -> None:
    """Raise `GraphError` on every rank if rank 0 has no room to collect an answer; collective.

    An error of rank 0 alone would leave the others waiting for it.
    """
    facts = graph.plan.facts
    needed = (TREE_BYTES if predecessors else DISTANCE_BYTES) * facts.vertex_count
    if graph.channel.size == 1 or needed <= memory_limits.LITTLE:
        return
    what = f"to collect the answer of {quoted(facts.name)} on rank 0"
    on_root(graph.channel, lambda: memory_limits.check_room(needed, what))


def _distances(channel: Channel, device: Device) -> NDArray[Any] | None:
    """Return distances of all vertices in the order of the shares, on rank 0; collective."""
    if channel.size == 1:
        return device.public_distances()
    parts = channel.collect(device.distances())
    return None if parts is None else public_distances(*parts)
