"""From a supply to a graph that is loaded on the devices of all ranks, and the mode of its solves.

Ranks exchange inside kernels, in rounds, or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective, on_root, refuse_difference
from groute_py.comm.base import Channel
from groute_py.comm.team import Team, team_of
from groute_py.device.base import Device, Linked, ModeName
from groute_py.device.registry import choose, kind_of, look_ahead, share_in_place
from groute_py.engine.algorithms.methods import Algorithm, algorithm, devices_of
from groute_py.engine.memory.gpus import refuse_what_cannot_fit
from groute_py.engine.option import shared_options
from groute_py.engine.options import Options
from groute_py.engine.planning import SolvePlan
from groute_py.engine.preparing import Preparation, is_wanted, prepare_for
from groute_py.engine.statistics import Stopwatch
from groute_py.errors import GrouteError, InputError, SetupError, everywhere
from groute_py.graph.arrays import on_device
from groute_py.graph.facts import Facts, Size, counting_hops
from groute_py.graph.geography import Geography
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.ids import Numbering
from groute_py.partition.order import Order
from groute_py.partition.share import (
    Partition,
    Quality,
    Share,
    cost_of,
    imbalance_of,
    quality_of,
)
from groute_py.source.base import Supply
from groute_py.system import clock
from groute_py.system.environment import local_rank


class Cut(NamedTuple):
    """The division of the graph, the same on every rank but for the share and the order."""

    partition: Partition
    order: Order
    quality: Quality
    share: Share


class LoadedGraph:
    """A graph that all ranks hold on their devices.

    ``numbering`` and ``geography`` are of the vertices, on rank 0; ``watch`` has the times of all
    phases before the solves, and ``traits`` what their `Statistics` have in common.
    """

    def __init__(
        self,
        channel: Channel,
        device: Device,
        plan: SolvePlan,
        mode: PlannedMode,
        cut: Cut,
        numbering: Numbering | None,
        geography: Geography,
        watch: Stopwatch,
    ) -> None:
        self.channel, self.device, self.plan = channel, device, plan
        self.cut, self.numbering, self.geography, self.watch = cut, numbering, geography, watch
        self._planned = mode
        self.load(plan.types)

    def load(self, types: Sequence[np.dtype[Any]]) -> None:
        """Load the share for distances of the first of ``types``; collective.

        A planned mode for which there is no room gives way to another, for good: wider distances
        need no less.
        """
        self.types, self.distance_type = tuple(types), types[0]  # up to the widest; the loaded one
        self.device.unlink()  # before what peers map is let go
        while isinstance(mode := self._load_in(self._planned), PlannedMode):
            self._planned = mode
        self.mode: Mode = mode
        self.together = self.channel.size == 1 or mode.whole is not None  # one run is a solve
        arcs = len(self.cut.share.heads) if mode.linked is None else mode.linked.arcs
        self.traits = self._traits(imbalance_of(self.channel.gather(arcs)))

    def own_of(self, vertices: Sequence[int]) -> list[int | None]:
        """Return local numbers of vertices, None for those of other ranks. Collective."""
        order, share = self.cut.order, self.cut.share
        if self.channel.size == 1 and order.numbers is None:
            return list(vertices)
        numbers = on_root(self.channel, lambda: order.in_order(np.array(vertices, np.int64)))
        owners: NDArray[Any] = self.cut.partition.owner(numbers)
        return [
            int(number - share.first) if owner == self.channel.rank else None
            for number, owner in zip(numbers, owners, strict=True)
        ]

    def close(self) -> None:
        """Unmap the memory that is shared with other ranks, and drop the graph; collective."""
        self.device.unlink()
        self.device.release()

    def _traits(self, imbalance: float) -> dict[str, Any]:
        """Return what is alike in the `Statistics` of all solves until the next `load`."""
        plan, cut = self.plan, self.cut
        return {
            "algorithm": plan.method.name,
            "reason": plan.choice.reason,
            "delta": plan.delta(self.distance_type),
            "distance_type": self.distance_type.name,
            "mode": self.mode.name,
            "mode_reason": self.mode.reason,
            "order": cut.order.name,
            "cut": cut.quality.cut,
            "imbalance": imbalance,
        }

    def _load_in(self, planned: PlannedMode) -> Mode | PlannedMode:
        """Load the share for a mode, and `enter` it."""
        most = max(self.channel.gather(len(self.cut.share.heads)))
        terms = self.plan.terms(self.distance_type, planned.name, most)
        if self.channel.size > 1:  # rank 0 compiles; the others read the cache
            with self.watch.phase("compile"):
                on_root(self.channel, lambda: self.device.warm_up(terms))
        with collective(self.channel):
            with self.watch.phase("compile"):
                self.device.warm_up(terms)
            with self.watch.phase("upload"):
                self.device.load(self.cut.share, terms)
        with self.watch.phase("upload"):
            return enter(planned, self.channel, self.device)


def load_graph(supply: Supply, channel: Channel, options: Options) -> LoadedGraph:
    """Check the graph, plan its solves, spread it over the ranks and load it. Collective.

    The options have been checked. Errors are the same on every rank.
    """
    watch, here = Stopwatch(), local_rank(channel.rank)
    refuse_difference(channel, shared_options(options))
    with clock.phase("device"), collective(channel):
        look_ahead(options.device, here, devices_of(options.algorithm))
    with watch.phase("check"):
        facts = supply.facts(channel)
    numbering = supply.numbering() if channel.rank == 0 else None
    geography = supply.geography() if channel.rank == 0 else Geography()
    if options.hops:
        facts, geography = counting_hops(facts), geography._replace(units={})
    with clock.phase("device"):
        kind, preparation = _prepared(supply, options, facts, channel, watch)
        plan, device = _planned(options, facts, kind, preparation, channel, here)
        mode = plan_mode(channel, device, plan.method, plan.facts, options.mode)
        _refuse_what_cannot_fit(plan, mode, device, channel)
    with watch.phase("spread"):
        cut = _receive(supply, channel, plan, preparation.hierarchy)
    return LoadedGraph(channel, device, plan, mode, cut, numbering, geography, watch)


def _prepared(
    supply: Supply, options: Options, facts: Facts, channel: Channel, watch: Stopwatch
) -> tuple[str, Preparation]:
    """Return the kind of rank 0's device, and the preparation of the graph there. Collective."""

    def prepared() -> tuple[str, Preparation]:
        options.check_against(facts)
        kind = kind_of(options.device, devices_of(options.algorithm))
        if options.algorithm != "auto":
            algorithm(options.algorithm, facts, kind, channel.size)  # refuses what it cannot take
        if not is_wanted(supply, options):
            return kind, Preparation()
        with watch.phase("contract"):
            return kind, prepare_for(supply, options, facts, kind)

    return on_root(channel, prepared)


def _planned(
    options: Options,
    facts: Facts,
    kind: str,
    preparation: Preparation,
    channel: Channel,
    local: int,
) -> tuple[SolvePlan, Device]:
    """Return the plan, and the device that this rank opens for it. Collective.

    The kind is rank 0's, so that all ranks choose the same method.
    """
    with collective(channel):
        choice = preparation.choice or preparation.explained(
            algorithm(options.algorithm, facts, kind, channel.size)
        )
        makers = choice.method.makers(channel.size)
        device = choose(options.device, local, direct=channel.direct, makers=makers)
        _check_download(options, channel, device)
    plan = SolvePlan(options, facts, choice, device.name, channel.size, preparation.type)
    return plan, device


def _check_download(options: Options, channel: Channel, device: Device) -> None:
    """Raise `InputError` if the answer is to stay on a GPU and cannot."""
    if options.download:
        return
    if channel.size > 1 or device.name != "cuda":
        what = "the answer can stay on a GPU only where one rank solves, on a GPU"
    elif options.cutting.renumbers:
        what = "an order is undone in host memory"
    else:
        return
    raise InputError(f"{what}; leave out download=False")


def _refuse_what_cannot_fit(
    plan: SolvePlan, mode: PlannedMode, device: Device, channel: Channel
) -> None:
    """Raise `InputError` on every rank if no device has room for its part. Collective."""
    facts, remedy, team = plan.facts, None, None
    rooms = channel.gather(device.room())
    if not plan.method.distributed:
        rooms, remedy = rooms[:1], "use a method that GPUs can share, such as bellman-ford"
    if mode.forced:
        assert mode.team is not None
        team = min(channel.gather(mode.team.channel.size))
        remedy = "use --mode rounds, more GPUs or GPUs with more memory"
    size = Size.of(facts)
    refuse_what_cannot_fit(facts.name, size, plan.types[0], rooms, remedy, team)


def _receive(supply: Supply, channel: Channel, plan: SolvePlan, hierarchy: Hierarchy | None) -> Cut:
    """Cut the graph; return this rank's share, rank 0's with the hierarchy. Collective."""
    spread = supply.spread(channel, plan.cutting)
    rows = spread.rows
    if on_device(rows.heads) and (plan.device == "cpu" or plan.facts.has_negative):
        rows = rows.to_host()  # which works on them
    if plan.options.hops:
        rows = replace(rows, weights=np.ones_like(rows.weights, dtype=np.int32))
    quality = spread.quality
    if quality is None:
        quality = quality_of(channel.gather(cost_of(rows, spread.partition, channel.rank)))
    with collective(channel):
        share = share_in_place(rows, spread.partition, channel.rank)
        if plan.method.contracts:
            if hierarchy is None:  # a rank that waits for rank 0 has no vertices
                arcs = share.offsets, share.heads, share.weights.astype(np.int32)
                hierarchy = Hierarchy.of_core(*arcs)
            on_host = plan.device == "cpu"
            share = replace(share, hierarchy=hierarchy.to_host() if on_host else hierarchy)
    return Cut(spread.partition, spread.order, quality, share)


@dataclass(frozen=True)
class PlannedMode:
    """The planned mode, the same on every rank, before the ranks have their shares."""

    name: ModeName
    reason: str
    team: Team | None = None  # the ranks of this host, if they are to be linked
    forced: bool = False  # asked for by the user, so that no other may replace it


@dataclass(frozen=True)
class Mode:
    """The mode, the same on every rank, and what links this one to others."""

    name: ModeName
    reason: str
    linked: Linked | None = None  # drives the fused runs of this rank's team, if it has one
    team: Team | None = None  # that team, if there are several teams (one a host)

    @property
    def whole(self) -> Linked | None:
        """The driver of the fused run of all ranks, if one run is the whole solve."""
        return self.linked if self.team is None else None


def plan_mode(
    channel: Channel, device: Device, method: Algorithm, facts: Facts, requested: str
) -> PlannedMode:
    """Plan the mode: exchange inside kernels if possible, else refuse ``fused``; collective."""
    if channel.size == 1:
        return PlannedMode("alone", "one rank")
    if not method.distributed:
        return PlannedMode("alone", f"{method.name} runs on one rank, the others wait")
    if requested == "rounds":
        return PlannedMode("rounds", "asked for")
    team = _team(channel, device, facts)
    if isinstance(team, str):
        if requested == "fused":
            raise _impossible(team)
        return PlannedMode("rounds", team)
    forced = requested == "fused"
    if team.hosts == 1:
        return PlannedMode("fused", "every pair of ranks has peer access", team, forced)
    reason = f"fused within {team.hosts} hosts, rounds between"
    return PlannedMode("hierarchical", reason, team, forced)


def enter(plan: PlannedMode, channel: Channel, device: Device) -> Mode | PlannedMode:
    """Link the ranks of each host if that is planned; collective.

    If linking fails, return a plan for which the shares must be loaded again. All ranks get the
    same kind.
    """
    team = plan.team
    if team is None:
        return Mode(plan.name, plan.reason)
    linked = device.link(team) if team.channel.size > 1 else None
    problems = channel.gather(linked if isinstance(linked, str) else None)
    problem = next(filter(None, problems), None)
    if problem is not None or isinstance(linked, str):
        device.unlink()
        if plan.forced:
            raise _impossible(str(problem))
        return PlannedMode("rounds", str(problem))
    several = team if team.hosts > 1 and linked is not None else None
    return Mode(plan.name, plan.reason, linked, several)


def _team(channel: Channel, device: Device, facts: Facts) -> Team | str:
    """Return the ranks of this host, or the reason against fused mode; the same on every rank."""
    if facts.has_negative:
        return "negative weights are watched by the hosts"
    if set(channel.gather(device.name)) != {"cuda"}:
        return "not every rank has a GPU"
    team = team_of(channel)
    if isinstance(team, str):
        return team
    if team.hosts == channel.size:
        return "one rank a host"
    why_not_linked = device.why_not_linked(team) if team.channel.size > 1 else None
    return next(filter(None, channel.gather(why_not_linked)), team)


def _impossible(reason: str) -> GrouteError:
    return everywhere(SetupError(f"mode fused cannot run: {reason}; use --mode rounds"))
