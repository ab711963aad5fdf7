"""Traffic assignment as a job of all ranks: rank 0 moves flows, each loads trips of its origins."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from numbers import Integral
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.answer import Assignment
from groute_py.assignment.directions import METHODS, Flows
from groute_py.assignment.equilibrium import Equilibrium, Iteration
from groute_py.assignment.figures import Selections, figures_in, figures_of, selections_in
from groute_py.assignment.link_costs import LinkTimes
from groute_py.assignment.links import links_of
from groute_py.assignment.network import TrafficNetwork, network_of, start_of
from groute_py.assignment.ranks import Loads, RankLoading
from groute_py.comm.agree import at_root, collective, on_root, refuse_difference
from groute_py.comm.base import Channel, Intracomm
from groute_py.comm.connect import connect
from groute_py.device.registry import DEVICES
from groute_py.errors import InputError, check_choice, check_kind, check_number, quote
from groute_py.graph.arrays import host_array
from groute_py.graph.csr import GraphLike
from groute_py.graph.hierarchy.separators.customizable import customizable
from groute_py.many.opened import deadline_in
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.store import Store
from groute_py.source.graph_source import GraphSource

MOST_ITERATIONS = 10_000_000
"""Iterations that a run may be asked for; a saved run has a byte for each."""


def assign(
    graph: GraphLike,
    demand: Any,
    *,
    times: LinkTimes | None = None,
    method: str = "bfw",
    gap: float = 1e-4,
    iterations: int = 2000,
    first_through: int | None = None,
    start: NDArray[np.float64] | Assignment | str | Path | None = None,
    skims: Sequence[str] = (),
    select: Mapping[str, Any] | None = None,
    time_limit_s: float | None = None,
    device: str = "auto",
    increments: int = 1,
    progress: Callable[[Iteration], Any] | None = None,
    comm: Intracomm | None = None,
) -> Assignment | None:
    """Find flows at which no traveller has a cheaper way: a user equilibrium.

    In a script under ``mpirun`` every rank calls this function. Rank 0 reads the files, each rank
    loads the trips of some origins, and flows are the same at any number of ranks. Shortest paths
    come from a customizable contraction hierarchy, so this suits roads, and needs ``pip install
    'groute-py[separators]'``.

    Args:
        graph: the network; a TNTP file has what else is needed.
        demand: a file of trips (TNTP; ``.csv`` or ``.tsv`` with columns origin, destination, trips;
            ``.omx``, or ``FILE.omx:NAME`` if it has several matrices), three lists (ids of origins
            and destinations, trips), or a square matrix of the first vertices; or a mapping of
            names of classes to such demands or to `UserClass`.
        times: of the links by their volume, `BPR` or `Conical`; None for the columns
            free_flow_time, capacity, b and power of the graph.
        method: ``bfw``, bi-conjugate Frank–Wolfe (Mitradjieva and Lindberg, 2013); ``cfw``,
            conjugate; ``tfw``, an extension to three directions, for gaps below 1e-4 on congested
            networks; ``fw``, Frank–Wolfe; or ``msa``, successive averages.
        gap: the relative gap at which to end.
        iterations: at most so many; 1 ends at the loadings, all or nothing or incremental.
        first_through: the id of the first vertex that is no zone: no path leads through those
            below. None for what the file says.
        start: flows to begin at, of the same trips: an earlier answer, its table (``.csv``), or an
            array, shape (m,) or (c, m).
        skims: names of matrices between zones, along the paths that travellers use: ``cost``,
            ``time``, and columns of the graph, such as ``length``.
        select: links by name of a selection, as pairs (tail, head) of ids; the answer has the
            flows and the trips through any of them.
        time_limit_s: then the flows of that time are the answer.
        device: ``auto``, ``cpu`` or ``cuda``; on a GPU trips of a class are rounded to at most
            2**-56 of their sum.
        increments: load the trips in so many equal parts first, each for the costs of those before.
        progress: called after each iteration, on rank 0.
        comm: an MPI communicator; None for all ranks that the launcher started.

    Returns:
        On rank 0 the flows; None on the others.

    Raises:
        GraphError: a time or capacity is wrong, or the graph has no small separators or does not
            fit in the GPU's memory.
        InputError: trips, an option or the start is wrong.
        SetupError: METIS is not installed, or the device cannot be used.

    >>> from groute_py import BPR, assign
    >>> two_roads = ([0, 2, 2], [1, 1], [1, 1])
    >>> even = assign(two_roads, ([0], [1], [8.0]), times=BPR([10, 20], [2, 4], power=1, b=1))
    >>> even.volumes.round(3).tolist(), even.times.round(3).tolist()
    ([5.0, 3.0], [35.0, 35.0])
    """
    job = AssignmentJob(
        *(demand, times, method, gap, iterations, first_through, start, time_limit_s),
        *(skims, select, device, increments),
    )
    return job.run(GraphSource(graph), connect(comm), progress)


@dataclass(frozen=True, eq=False)
class AssignmentJob:
    """The request; see `groute_py.assign`. Demand, times and start are those of rank 0."""

    demand: Any
    times: LinkTimes | None = None
    method: str = "bfw"
    gap: float = 1e-4
    iterations: int = 2000
    first_through: int | None = None
    start: Any = None
    time_limit_s: float | None = None
    skims: Sequence[str] = ()
    select: Mapping[str, Any] | None = None
    device: str = "auto"
    increments: int = 1

    def alike(self) -> dict[str, Any]:
        """Return what has to be the same on every rank."""
        own = ("demand", "times", "start", "select")
        alike = {field.name: getattr(self, field.name) for field in fields(self)}
        alike = {name: value for name, value in alike.items() if name not in own}
        return {"function": "assign", **alike, "select": self.selections}

    @cached_property
    def selections(self) -> Selections:
        """The selections, checked and comparable."""
        return selections_in({} if self.select is None else self.select)

    def check(self) -> None:
        """Raise `InputError` for what is wrong whatever the graph is."""
        check_choice("method", self.method, METHODS)
        check_choice("device", self.device, DEVICES)
        check_number("gap", self.gap)
        if not self.gap >= 0:
            raise InputError(f"gap must not be negative, as {self.gap} is")
        for name, count in (("iterations", self.iterations), ("increments", self.increments)):
            check_kind(name, count, Integral, "an integer")
            if not 1 <= count <= MOST_ITERATIONS:
                raise InputError(f"{name} must be 1 to {MOST_ITERATIONS:,}, not {count}")
        if self.first_through is not None:
            check_kind("first_through", self.first_through, Integral, "the id of a vertex")
        if self.time_limit_s is not None:
            check_number("time limit", self.time_limit_s)
            if not self.time_limit_s >= 0:
                raise InputError(f"the time limit must not be negative, as {self.time_limit_s} is")
        is_list = isinstance(self.skims, list | tuple)
        if not is_list or not all(isinstance(name, str) for name in self.skims):
            raise InputError(f"skims must be a list of names, not {quote(self.skims)}")
        if self.start is not None and (self.skims or self.selections):
            raise InputError(
                "start: the paths of these flows are not known; leave out skims, select"
            )

    def run(
        self,
        source: GraphSource,
        channel: Channel,
        progress: Callable[[Iteration], Any] | None = None,
        keep: Store | None = None,
    ) -> Assignment | None:
        """Answer on rank 0; None elsewhere; keep the flows of now for the next run. Collective."""
        with collective(channel):
            self.check()
        refuse_difference(channel, self.alike())
        over = deadline_in(self.time_limit_s)
        network = cast("TrafficNetwork", at_root(channel, lambda: self._network(source)))
        hierarchy = on_root(channel, lambda: customizable(network.through, source.orders))
        trips = on_root(channel, lambda: [some.origins for some in network.classes.trips])
        figures = on_root(channel, lambda: network.figures)
        loading = RankLoading(channel, hierarchy, trips, figures, self.device)
        begin = partial(self._equilibrium, network, loading.kind)
        equilibrium = cast("Equilibrium", at_root(channel, begin))
        if keep is not None:
            self._resume(channel, keep, network, equilibrium)

        def note(state: Iteration) -> None:
            if keep is not None:
                flows, history = host_array(equilibrium.flows), np.array(equilibrium.history)
                keep.replace(np.arange(state.iteration), flows=flows, history=history)
            if progress is not None:
                progress(state)

        ends = self.iterations, self.gap, lambda: time.monotonic() >= over
        steps = at_root(channel, lambda: equilibrium.iterate(*ends, note))
        _exhaust(steps, loading, channel)
        return at_root(channel, lambda: self._answer(network, equilibrium))

    def _network(self, source: GraphSource) -> TrafficNetwork:
        network = network_of(source.graph().to_host(), self.demand, self.times, self.first_through)
        return network._replace(figures=figures_of(network, self.skims, self.selections))

    def _equilibrium(self, network: TrafficNetwork, kind: str) -> Equilibrium:
        start = None if self.start is None else start_of(self.start, network)
        rule = METHODS[self.method]()
        links = links_of(network, kind)
        is_average = self.method == "msa"
        return Equilibrium(network, links, rule, start, self.increments, is_average=is_average)

    def _resume(
        self, channel: Channel, keep: Store, network: TrafficNetwork, equilibrium: Equilibrium
    ) -> None:
        """Begin where an earlier run has ended, if there is one. Collective."""
        missing = keep.begin(channel, lambda: self._record(network), self.iterations)
        count = self.iterations - len(missing)
        saved: dict[str, NDArray[np.float64]] = {}
        if channel.rank == 0 and count:
            history = np.empty((count, len(Iteration._fields)))
            saved = {"flows": np.empty(equilibrium.flows.shape), "history": history}
        keep.load_into(channel, saved)
        if saved:
            equilibrium.resume(**saved)

    def _record(self, network: TrafficNetwork) -> dict[str, Any]:
        """The record of what the iterations depend on."""
        times, classes = network.times, network.classes
        values = [times.times(np.full(network.graph.arc_count, volume)) for volume in (0.0, 1e3)]
        values += [classes.fixed, classes.pce, *(some.origins.trips for some in classes.trips)]
        if self.start is not None:
            values.append(start_of(self.start, network))
        ends = [place for some in classes.trips for place in some.origins[:3]]
        whole = {
            "costs, trips": np.concatenate([some.reshape(-1) for some in values]).view(np.int64),
            "origins, destinations": np.concatenate(ends),
        }
        choices = {"job": "assign", "method": self.method, "iterations": self.iterations}
        choices |= {"skims": list(self.skims), "select": repr(self.selections)}
        choices |= {"increments": self.increments}
        return run_of(network.through, whole, choices)

    def _answer(self, network: TrafficNetwork, equilibrium: Equilibrium) -> Assignment:
        history, classes = equilibrium.history, network.classes
        flows, trips = host_array(equilibrium.flows), classes.trips
        volumes = np.asarray(classes.pce @ flows[:, : network.graph.arc_count])
        capacities = np.asarray(getattr(network.times, "capacities", np.inf))
        with np.errstate(divide="ignore", invalid="ignore"):
            saturation = np.where(capacities > 0, volumes / capacities, 0.0)
        return Assignment(
            network.graph,
            flows[:, : network.graph.arc_count],
            volumes,
            network.times.times(volumes),
            saturation,
            network.names,
            history,
            history[-1].gap <= self.gap,
            sum(some.total for some in trips),
            float(equilibrium.lost.sum()),
            sum(some.within_zones for some in trips),
            *figures_in(network, self.skims, self.selections, flows, equilibrium.least),
        )


def _exhaust(
    steps: Generator[Flows, Loads, None] | None, loading: RankLoading, channel: Channel
) -> None:
    """Load what the steps of rank 0 ask for until they end. Collective."""
    loads: Loads | None = None
    is_alone = channel.size == 1
    while True:
        costs = on_root(channel, partial(_next, steps, loads, is_alone=is_alone))
        if costs is None:
            return
        loads = loading.load(costs)


def _next(
    steps: Generator[Flows, Loads, None] | None, loads: Loads | None, *, is_alone: bool
) -> Flows | None:
    """Return the costs that are to be loaded next, on rank 0; None at the end."""
    assert steps is not None
    try:
        costs = next(steps) if loads is None else steps.send(loads)
    except StopIteration:
        return None
    return costs if is_alone else host_array(costs)
