"""The answer and the statistics of a solve, brought together on rank 0."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.device.base import Device
from groute_py.engine.device_result import DeviceResult
from groute_py.engine.loading import LoadedGraph
from groute_py.engine.solving import Outcome
from groute_py.engine.statistics import RankReport, Statistics, Stopwatch
from groute_py.errors import quoted
from groute_py.partition.order import Order
from groute_py.results.result import Result, public_distances
from groute_py.system import memory_limits

DISTANCE_BYTES, TREE_BYTES = 12, 24
"""Bytes of rank 0 for a vertex: its distance as it comes, and in the result; with predecessors that
in the result, and the predecessor as it comes, and in the result."""


def report(
    graph: LoadedGraph,
    source: int,
    outcome: Outcome,
    watch: Stopwatch,
    bytes_sent: NDArray[np.int64],
    *,
    predecessors: bool,
) -> Result | None:
    """Return the result on rank 0, None elsewhere; collective.

    ``bytes_sent`` are those by the channel to each rank during the solve, shape (ranks,).
    """
    options, device = graph.plan.options, graph.device
    with watch.phase("download"):
        if options.download:
            _check_room(graph, predecessors=predecessors)
            answer = collect(graph.channel, device, graph.cut.order, predecessors=predecessors)
        else:
            answer = device.held(predecessors=predecessors)
    by_kernels = device.counters.sent[: len(bytes_sent)]
    reports = graph.channel.gather(
        RankReport(
            device=f"{device.name}: {device.label}",
            counters=device.counters,
            seconds={**graph.watch.seconds, **watch.seconds},
            bytes_sent=[int(a) + b for a, b in zip_longest(bytes_sent, by_kernels, fillvalue=0)],
            arcs_reached=device.arcs_reached(),
        )
    )
    if answer is None or graph.numbering is None:
        return None
    figures = _statistics(graph, outcome, reports)
    kind = Result if options.download else DeviceResult
    first_id, ids = graph.plan.facts.first_id, graph.numbering.ids
    about = (first_id, ids, options.reverse, *graph.geography)
    return kind(source, answer[0], answer[1], figures, *about)


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
        tree = order.by_input(
            order.in_input(parents[0] if len(parents) == 1 else np.concatenate(parents))
        )
    return order.by_input(distances), tree


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


def _statistics(graph: LoadedGraph, outcome: Outcome, reports: list[RankReport]) -> dict[str, Any]:
    plan = graph.plan
    statistics = Statistics(
        algorithm=plan.method.name,
        reason=plan.choice.reason,
        delta=plan.delta(graph.distance_type),
        distance_type=graph.distance_type.name,
        mode=graph.mode.name,
        mode_reason=graph.mode.reason,
        votes=outcome.votes,
        order=graph.cut.order.name,
        cut=graph.cut.quality.cut,
        imbalance=graph.imbalance,
        bound=outcome.bound if math.isfinite(outcome.bound) else None,
    )
    statistics.add(reports)
    return statistics.as_dict()
