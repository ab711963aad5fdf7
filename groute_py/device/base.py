"""The device protocol: what a rank asks of the processor that holds its share.

A device keeps, for each local vertex (owned, mirrored where ranks are linked, halo), a distance;
for each halo vertex it is the best this rank has found, so that only improvements are ever sent.
Work waits in two worklists: *near*, below the threshold, is relaxed first; *far* waits until near
is empty, then the threshold moves up, by Δ or less (see `Windows`). An infinite Δ makes near the
only list: worklist Bellman-Ford.

A message is the concatenation of its columns, each of the same length k, widest first:
relaxations carry ``distance[k], vertex[k]``; claims carry ``parent[k], distance[k], vertex[k]``,
with vertex int32 in its owner's numbers and parent int64 in global numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.comm.team import Team
from groute_py.partition.share import Share

NO_PARENT = -1
"""The predecessor of the source and of unreached vertices."""


ModeName = Literal["alone", "fused", "hierarchical", "rounds"]
"""How ranks exchange: not at all, in kernels, in kernels on each host and in rounds between them,
in rounds."""


class Terms(NamedTuple):
    """What devices are loaded for, the same on every rank; but a team that has dealt its arcs out
    has an ``arcs`` of its own.

    Attributes:
        distance_type: of the solves.
        ranks: how many there are.
        mode: how they are to exchange.
        arcs: of the largest share.
        outer_below: loading may take longer so that in windows narrower than this arcs that lead
            far beyond can be pulled (kernels/outer.cuh); 0 where it may not.
        grade_unit: of how far arcs lead on then (kernels/onward.cuh), a power of two.
    """

    distance_type: np.dtype[Any]
    ranks: int
    mode: ModeName
    arcs: int
    outer_below: float = 0.0
    grade_unit: float = 1.0

    @property
    def pulls(self) -> bool:
        """Whether kernels are to pull."""
        return self.outer_below > 0


@cache
def unreached(distance_type: np.dtype[Any]) -> Any:
    """The distance of a vertex that no path reaches: infinity, or the largest integer."""
    if distance_type.kind == "f":
        return distance_type.type(np.inf)
    return distance_type.type(np.iinfo(distance_type).max)


def within(value: float, distance_type: np.dtype[Any]) -> Any:
    """A width in the distance type; `unreached` where the type does not go so far."""
    nothing = unreached(distance_type)
    if value >= float(nothing):
        return nothing
    if distance_type.kind != "f":
        return distance_type.type(value)
    with np.errstate(over="ignore"):  # what rounds beyond float32 is infinite
        return distance_type.type(value)


def bound_within(value: float, distance_type: np.dtype[Any]) -> Any:
    """The greatest distance that is no more than ``value``; `unreached` where all are no more.

    So no distance that a cutoff excludes is kept by rounding, and none is dropped.

    >>> bound_within(0.1, np.dtype(np.float32)) <= 0.1, int(bound_within(2.9, np.dtype(np.int32)))
    (True, 2)
    """
    nothing = unreached(distance_type)
    if distance_type.kind != "f":
        return nothing if value >= int(nothing) else distance_type.type(math.floor(value))
    if value > float(np.finfo(distance_type).max):
        return nothing
    nearest = distance_type.type(value)
    return nearest if nearest.item() <= value else np.nextafter(nearest, -nothing)


class Windows(NamedTuple):
    """How wide windows are, in units of weight: on GPUs each is wider than the one before, up to Δ.

    Attributes:
        first: of the first, at most Δ.
        widest: Δ.
    """

    first: float
    widest: float

    def upto(self, most: float) -> Windows:
        """None wider than that."""
        return Windows(min(self.first, most), min(self.widest, most))


def alike(delta: float) -> Windows:
    """All of one width."""
    return Windows(delta, delta)


@dataclass
class Counters:
    """What a device did since `Device.start`.

    Attributes:
        relaxations: arcs relaxed.
        steps: worklist steps (CUDA) or windows (CPU).
        slices: calls of `Device.relax` that found work.
        settled: vertices made final in steps, by methods that do so.
        overflowed: a sum did not fit in the distance type, and was left out.
        sent: bytes to each peer by kernels (what goes by the channel is counted there).
    """

    relaxations: int = 0
    steps: int = 0
    slices: int = 0
    settled: int = 0
    overflowed: bool = False
    sent: list[int] = field(default_factory=list)


class Linked(Protocol):
    """A device whose kernels exchange with those of their team: one launch until all are quiet.

    Attributes:
        floor: the smallest distance left after a run; infinite when none is left.
        all_quiet: the team has nothing left up to the bound; its ranks know that all or none.
        overflowed: as of `Counters`; where ``all_quiet``, of some rank of the team.
        arcs: how many this rank has been dealt.
    """

    floor: float
    all_quiet: bool
    overflowed: bool

    @property
    def arcs(self) -> int: ...

    def window(self) -> float:
        """As `Device.window`."""

    def wake(self) -> None:
        """Before a solve: rouse what connects the team, which may sleep; returns at once."""

    def prepare(self, lead: float, bound: float) -> None:
        """After `Device.start`, and before each launch.

        Args:
            lead: how far above the smallest pending distance of the team one may work, where
                windows do not grow; those that do are the same on all ranks.
            bound: what lies beyond is left alone.
        """

    def launch(self) -> None:
        """Start relaxing until the team is quiet; returns at once.

        What was recorded is taken behind it. All kernels that the team has launched before have
        ended.
        """

    def finished(self) -> bool:
        """Whether the run has ended; then ``floor`` and the others are set.

        Raises:
            RunError: this rank was told to stop, and does not know how another one has ended.
        """

    def count(self) -> None:
        """Bring the device's counters up to date, after a run whose counts are wanted."""

    def stop(self) -> None:
        """End the run on all ranks of the team soon, unfinished."""


class Device(Protocol):
    """Holds one rank's share and works on it.

    Attributes:
        name: ``cpu`` or ``cuda``.
        label: the processor's own name, for people.
        uuid: of a GPU, as NVML knows it; None for a CPU.
        counters: see `Counters`.
    """

    name: str
    label: str
    uuid: str | None
    counters: Counters

    def rehearse(self, terms: Terms) -> None:
        """Compile what `load` compiles, so that other ranks find it cached."""

    def load(self, share: Share, terms: Terms) -> None:
        """Take a share, weights converted to the distance type.

        Where ranks are to exchange in kernels `link` comes next.
        """

    def room(self) -> int | None:
        """Bytes of device memory that a share may take, or None where nobody counts them."""

    def obstacle(self, team: Team) -> str | None:
        """Why kernels of a team could not exchange; the same on every rank; collective in it."""

    def link(self, team: Team) -> Linked | str:
        """Deal out a team's arcs, and map what its kernels exchange by; collective in it.

        Returns what drives such a run, or why it cannot be; the same on every rank of the team.
        Then, and when it is unlinked, the share has to be loaded again.
        """

    def unlink(self) -> None:
        """Let go of what `link` has mapped, if it has; collective in the team."""

    def start(self, source: int | None, windows: Windows, cutoff: float, *, record: bool) -> None:
        """Begin a solve: all unreached but the source (local number; None if a peer owns it).

        A device may do so with the first slice or launch, or before the first message is merged;
        until then it answers for the solve before.

        With ``record`` the device may keep the tail of each improvement, so that `start_claims`
        finds the predecessors there. It is asked where no other rank improves what this one owns,
        without negative weights.
        """

    def memory(self, size: int) -> Buffer:
        """Room for a message of ``size`` bytes, where `merge` and `merge_claims` like it best."""

    def merge(self, message: Buffer) -> None:
        """Take a peer's improvements; those that still improve join the worklists."""

    def relax(self, limit: float) -> float:
        """Work for one slice on what is nearer than ``limit``.

        Returns the smallest distance left to work on, infinite when there is none.
        """

    def window(self) -> float:
        """The Δ in force, infinite for Bellman-Ford; a solve may narrow it."""

    def outgoing(self) -> list[tuple[int, Buffer]]:
        """Improvements of halo vertices since the last call, one message for each owner."""

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        """The greatest distance of some owned vertices (local numbers); infinite if unreached.

        It is exact: an int of integer distances.
        """

    def forget_beyond(self, bound: float) -> None:
        """Make unreached what is farther than ``bound``."""

    def start_claims(self, monotone: bool) -> bool:
        """Begin to look for predecessors; collective where ranks are linked.

        Returns whether all are there already, on every rank.

        With ``monotone`` (no negative weights) an arc that is tight and rises claims its head at
        once; only what lies level with its tail must be claimed in order.
        """

    def merge_claims(self, message: Buffer) -> None:
        """Take a peer's claims on owned vertices; the first claim counts.

        A linked one also says which of its own vertices have been claimed.
        """

    def claim(self) -> bool:
        """Claim for one slice; True while claims are left to make."""

    def outgoing_claims(self) -> list[tuple[int, Buffer]]:
        """Claims on halo vertices since the last call, and what linked ranks need to know."""

    def arcs_reached(self) -> int:
        """How many of the arcs that are here leave vertices that are reached."""

    def held(self, *, predecessors: bool) -> tuple[Any, Any]:
        """As a `Result` has them, copies of the owned vertices' distances and predecessors.

        They lie where the device keeps its arrays. The second is None where it is not asked for, as
        where none were claimed.
        """

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        """Take the answer of the owned vertices, which was found elsewhere.

        Args:
            distances: in the distance type, on the host.
            parents: global numbers, or `NO_PARENT`.
        """

    def distances(self) -> NDArray[Any]:
        """Distances of the owned vertices, in the distance type, on the host."""

    def predecessors(self) -> NDArray[np.int64]:
        """Global numbers of the predecessors of the owned vertices, or `NO_PARENT`."""
