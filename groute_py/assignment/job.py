"""An assignment as a job of all ranks: rank 0 moves flows, and each loads trips of its origins."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from groute_py.assignment.answer import Assignment
from groute_py.assignment.directions import METHODS, Flows
from groute_py.assignment.equilibrium import Equilibrium, Iteration
from groute_py.assignment.link_costs import LinkTimes
from groute_py.assignment.network import Network, network_of, start_of
from groute_py.assignment.ranks import Loads, RankLoading
from groute_py.comm.agree import at_root, collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.device.cpu.loading import Origins
from groute_py.errors import InputError, quote
from groute_py.hierarchy.separators.customizable import CustomizableHierarchy, customizable
from groute_py.many.storage.folder import run_of
from groute_py.many.storage.store import Store
from groute_py.solver.opened import deadline_in
from groute_py.source.graph_source import GraphSource


class Work(NamedTuple):
    """The progress that watches an assignment, and the store of its flows for the next run."""

    progress: Callable[[Iteration], Any] | None = None
    keep: Store | None = None


NOTHING = Work()
"""Nobody watches, and nothing is stored."""


@dataclass(frozen=True, eq=False)
class AssignmentJob:
    """The request; see `groute_py.assign`. Demand, times and start are those of rank 0."""

    demand: Any
    times: LinkTimes | None = None
    method: str = "bfw"
    gap: float = 1e-4
    iterations: int = 1000
    first_through: int | None = None
    start: Any = None
    time_limit_s: float | None = None

    def alike(self) -> dict[str, Any]:
        """Return what has to be the same on every rank."""
        names = ("method", "gap", "iterations", "first_through", "time_limit_s")
        return {"function": "assign"} | {name: getattr(self, name) for name in names}

    def check(self) -> None:
        """Raise `InputError` for what is wrong whatever the graph is."""
        if self.method not in METHODS:
            raise InputError(f"method {quote(str(self.method))} is not one of {', '.join(METHODS)}")
        if not self.gap >= 0 or self.iterations < 1:
            raise InputError(
                "gap must not be negative, and iterations must be at least 1: "
                f"{self.gap}, {self.iterations}"
            )

    def run(self, source: GraphSource, channel: Channel, work: Work = NOTHING) -> Assignment | None:
        """Answer on rank 0; None elsewhere. Collective."""
        refuse_difference(channel, self.alike())
        with collective(channel):
            self.check()
        over = deadline_in(self.time_limit_s)
        network = cast("Network", at_root(channel, lambda: self._network(source)))
        hierarchy, trips = on_root(channel, lambda: _to_load(network))
        with collective(channel):
            loading = RankLoading(channel, hierarchy, trips)
        equilibrium = cast("Equilibrium", at_root(channel, lambda: self._equilibrium(network)))
        if work.keep is not None:
            self._resume(channel, work.keep, network, equilibrium)

        def note(state: Iteration) -> None:
            if work.keep is not None:
                units = np.arange(state.iteration)
                work.keep.replace(units, flows=equilibrium.flows, history=equilibrium.rows())
            if work.progress is not None:
                work.progress(state)

        def is_over() -> bool:
            return time.monotonic() >= over

        steps = at_root(
            channel, lambda: equilibrium.iterate(self.iterations, self.gap, is_over, note)
        )
        _exhaust(steps, loading, channel)
        return at_root(channel, lambda: self._answer(network, equilibrium))

    def _network(self, source: GraphSource) -> Network:
        graph = source.graph().to_host()
        return network_of(graph, self.demand, self.times, self.first_through)

    def _equilibrium(self, network: Network) -> Equilibrium:
        classes, start = network.classes, self.start
        flows = None if start is None else start_of(start, classes, network.graph)
        rule = METHODS[self.method]()
        return Equilibrium(network.times, classes, rule, flows, is_average=self.method == "msa")

    def _resume(
        self, channel: Channel, keep: Store, network: Network, equilibrium: Equilibrium
    ) -> None:
        """Begin where an earlier run has ended, if there is one. Collective."""
        missing = keep.begin(channel, lambda: self._record(network), self.iterations)
        count = self.iterations - len(missing)
        saved: dict[str, NDArray[np.float64]] = {}
        if channel.rank == 0 and count:
            history = np.empty((count, len(Iteration._fields)))
            saved = {"flows": np.empty_like(equilibrium.flows), "history": history}
        keep.load_into(channel, saved)
        if saved:
            equilibrium.resume(**saved)

    def _record(self, network: Network) -> dict[str, Any]:
        """The record of what the iterations depend on."""
        times, classes = network.times, network.classes
        values = [times.times(np.full(network.graph.arc_count, volume)) for volume in (0.0, 1e3)]
        values += [classes.fixed, classes.pce, *(some.origins.trips for some in classes.trips)]
        if self.start is not None:
            values.append(start_of(self.start, classes, network.graph))
        ends = [place for some in classes.trips for place in some.origins[:3]]
        whole = {
            "costs, trips": np.concatenate([some.reshape(-1) for some in values]).view(np.int64),
            "origins, destinations": np.concatenate(ends),
        }
        choices = {"job": "assign", "method": self.method, "iterations": self.iterations}
        return run_of(network.through, whole, choices)

    def _answer(self, network: Network, equilibrium: Equilibrium) -> Assignment:
        volumes, history, trips = equilibrium.volumes, equilibrium.history, network.classes.trips
        capacities = np.asarray(getattr(network.times, "capacities", np.inf))
        with np.errstate(divide="ignore", invalid="ignore"):
            saturation = np.where(capacities > 0, volumes / capacities, 0.0)
        return Assignment(
            network.graph,
            equilibrium.flows,
            volumes,
            network.times.times(volumes),
            saturation,
            network.names,
            history,
            history[-1].gap <= self.gap,
            sum(some.total for some in trips),
            float(equilibrium.lost.sum()),
            sum(some.within_zones for some in trips),
        )


def _to_load(network: Network) -> tuple[CustomizableHierarchy, list[Origins]]:
    """Return all that ranks need to load trips."""
    return customizable(network.through), [some.origins for some in network.classes.trips]


def _exhaust(
    steps: Generator[Flows, Loads, None] | None, loading: RankLoading, channel: Channel
) -> None:
    """Load what the steps of rank 0 ask for until they end. Collective."""
    loads: Loads | None = None
    while (costs := on_root(channel, partial(_next, steps, loads))) is not None:
        loads = loading.load(costs)


def _next(steps: Generator[Flows, Loads, None] | None, loads: Loads | None) -> Flows | None:
    """Return the costs that are to be loaded next, on rank 0; None at the end."""
    assert steps is not None
    try:
        return next(steps) if loads is None else steps.send(loads)
    except StopIteration:
        return None
