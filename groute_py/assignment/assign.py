"""``groute_py.assign``: traffic assignment on a network."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.answer import Assignment
from groute_py.assignment.demand import Trips, UserClass, trips_of
from groute_py.assignment.directions import METHODS
from groute_py.assignment.equilibrium import Classes, Equilibrium, Iteration
from groute_py.assignment.link_costs import LinkTimes, bpr_of, checked_values
from groute_py.device.cpu.loading import CpuLoading
from groute_py.errors import GraphError, InputError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.hierarchy.separators.customizable import customizable
from groute_py.interop.graph_like import GraphLike
from groute_py.source.graph_source import GraphSource

BALANCE = 1e-6
"""Share of all trips by which flows to begin at may miss the trips at a vertex."""


def assign(
    graph: GraphLike,
    demand: Any,
    *,
    times: LinkTimes | None = None,
    method: str = "bfw",
    gap: float = 1e-4,
    iterations: int = 1000,
    first_through: int | None = None,
    start: NDArray[np.float64] | Assignment | None = None,
    time_limit_s: float | None = None,
    progress: Callable[[Iteration], Any] | None = None,
) -> Assignment:
    """Find flows at which no traveller has a cheaper way: a user equilibrium.

    Runs on the CPU, by all cores. Shortest paths come from a customizable contraction hierarchy,
    so this suits roads, and needs ``pip install 'groute-py[separators]'``.

    Args:
        graph: the network; a TNTP file has what else is needed.
        demand: a file of trips (TNTP; ``.csv`` with columns origin, destination, trips), three
            lists (ids of origins and destinations, trips), or a square matrix of the first
            vertices; or a mapping of names of classes to such demands or to `UserClass`.
        times: of the links by their volume, `BPR` or `Conical`; None for the columns
            free_flow_time, capacity, b and power of the graph.
        method: ``bfw``, bi-conjugate Frank–Wolfe (Mitradjieva and Lindberg, 2013); ``cfw``,
            conjugate; ``fw``, Frank–Wolfe; or ``msa``, successive averages.
        gap: the relative gap at which to end.
        iterations: at most so many; 1 with ``msa`` is an all-or-nothing assignment.
        first_through: the id of the first vertex that is no zone: no path leads through those
            below. None for what the file says.
        start: flows to begin at, shape (m,) or (c, m), of the same trips.
        time_limit_s: then the flows of that time are the answer.
        progress: called after each iteration.

    Raises:
        GraphError: a time or capacity is wrong, or the graph has no small separators.
        InputError: trips, an option or the start is wrong.
        SetupError: METIS is not installed.

    >>> from groute_py import BPR, assign
    >>> two_roads = ([0, 2, 2], [1, 1], [1, 1])
    >>> even = assign(two_roads, ([0], [1], [8.0]), times=BPR([10, 20], [2, 4], power=1, b=1))
    >>> even.volumes.round(3).tolist(), even.times.round(3).tolist()
    ([5.0, 3.0], [35.0, 35.0])
    """
    if method not in METHODS:
        raise InputError(f"method {quote(str(method))} is not one of {', '.join(METHODS)}")
    if not gap >= 0 or iterations < 1:
        raise InputError(
            f"gap must not be negative, and iterations must be at least 1: {gap}, {iterations}"
        )
    begun = time.monotonic()
    network = GraphSource(graph).graph().to_host()
    times = bpr_of(network) if times is None else times
    names, classes = _classes(demand, network)
    zones = _zones(network, first_through)
    through, classes = _without_through_zones(network, classes, zones)
    equilibrium = Equilibrium(
        CpuLoading(customizable(through)),
        times,
        classes,
        METHODS[method](),
        is_average=method == "msa",
        start=None if start is None else _start(start, classes, network),
    )

    def is_over() -> bool:
        return time_limit_s is not None and time.monotonic() - begun >= time_limit_s

    history = equilibrium.iterate(iterations, gap, is_over, progress or (lambda _: None))
    volumes = equilibrium.volumes
    capacities = np.asarray(getattr(times, "capacities", np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        saturation = np.where(capacities > 0, volumes / capacities, 0.0)
    return Assignment(
        network,
        equilibrium.flows,
        volumes,
        times.times(volumes),
        saturation,
        names,
        history,
        history[-1].gap <= gap,
        sum(some.total for some in classes.trips),
        float(equilibrium.lost.sum()),
        sum(some.within_zones for some in classes.trips),
    )


def _classes(demand: Any, graph: Graph) -> tuple[list[str], Classes]:
    """The classes of travellers and their names."""
    by_name = demand if isinstance(demand, Mapping) else {"all": demand}
    if not by_name:
        raise InputError("there is no class of travellers")
    classes = [
        some if isinstance(some, UserClass) else UserClass(some) for some in by_name.values()
    ]
    fixed = np.zeros((len(classes), graph.arc_count))
    for name, some, costs in zip(by_name, classes, fixed, strict=True):
        if not (np.isfinite(some.pce) and some.pce > 0):
            raise InputError(f"class {quote(str(name))}: pce must be positive, not {some.pce}")
        for title, factor in some.factors.items():
            if title not in graph.columns:
                raise GraphError(f"{quoted(graph.name)} has no column {quote(title)}")
            costs += checked_values(
                f"{title} times {factor}", factor * graph.columns[title], len(costs)
            )
    trips = [trips_of(some.demand, graph) for some in classes]
    return list(map(str, by_name)), Classes(trips, fixed, np.array([some.pce for some in classes]))


def _zones(graph: Graph, first_through: int | None) -> int:
    """Return how many vertices from 0 are zones that no path leads through."""
    if first_through is None:
        first_through = graph.reading.first_through if graph.reading is not None else None
    if first_through is None:
        return 0
    if graph.ids is not None or not 0 <= first_through - graph.first_id <= graph.vertex_count:
        raise InputError(f"first_through: {first_through} is no vertex that counts from the first")
    return first_through - graph.first_id


def _without_through_zones(graph: Graph, classes: Classes, zones: int) -> tuple[Graph, Classes]:
    """A graph of the same arcs where paths begin and end at two vertices of each zone."""
    if not zones:
        return graph, classes
    heads, count = graph.heads.astype(np.int64), graph.vertex_count
    offsets = np.append(graph.offsets, np.full(zones, graph.arc_count))
    split = Graph.from_arrays(
        offsets, np.where(heads < zones, heads + count, heads), graph.weights, name=graph.name
    )
    return split, classes._replace(trips=[_ending_at(some, zones, count) for some in classes.trips])


def _ending_at(trips: Trips, zones: int, count: int) -> Trips:
    ends = trips.origins.destinations
    return replace(
        trips,
        origins=trips.origins._replace(destinations=np.where(ends < zones, ends + count, ends)),
    )


def _start(start: Any, classes: Classes, graph: Graph) -> NDArray[np.float64]:
    """Flows to begin at, shape (c, m).

    Raises:
        InputError: they are not those of the trips.
    """
    flows = start.class_flows if isinstance(start, Assignment) else np.asarray(start, np.float64)
    flows = np.atleast_2d(flows)
    if flows.shape != classes.fixed.shape:
        raise InputError(f"start: flows have shape {flows.shape}, not {classes.fixed.shape}")
    if not (np.isfinite(flows) & (flows >= 0)).all():
        raise InputError("start: a flow is negative, missing or infinite")
    for own, trips in zip(flows, classes.trips, strict=True):
        count = graph.vertex_count
        some = trips.origins
        ends = np.where(some.destinations >= count, some.destinations - count, some.destinations)
        balance = np.bincount(ends, some.trips, count)
        balance -= np.bincount(some.origins, np.add.reduceat(some.trips, some.starts[:-1]), count)
        balance += np.bincount(graph.tails(), own, count) - np.bincount(graph.heads, own, count)
        worst = int(np.abs(balance).argmax())
        if abs(balance[worst]) > BALANCE * max(some.trips.sum(), 1.0):
            vertex = graph.numbering.id_of(worst)
            raise InputError(
                f"start: flows at vertex {quoted(vertex)} miss the trips by {balance[worst]:g}; "
                "flows begin at those of the same trips"
            )
    return flows
