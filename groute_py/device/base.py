"""The device protocol: the operations of a rank on the processor that holds its share.

A device keeps a distance for each local vertex (owned; mirrors if ranks are linked; halo). For a
halo vertex this is the best distance that this rank has found, so only improvements are sent.
There are two worklists. *Near*, below the threshold, is relaxed first. When it is empty the
threshold rises by Δ or less (see `Buckets`) and *far* is split. With an infinite Δ near is the only
list: worklist Bellman-Ford.

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
from groute_py.results.statement import Statement

NO_PARENT = -1
"""The predecessor of the source and of unreached vertices."""


ModeName = Literal["alone", "fused", "hierarchical", "rounds"]
"""How ranks exchange: not at all; inside kernels; inside kernels on each host and in rounds between
hosts; in rounds."""


class Terms(NamedTuple):
    """The parameters for loading a share, the same on every rank. Only ``arcs`` differs between
    teams after a redistribution.

    Attributes:
        distance_type: of the solves.
        ranks: the number of ranks.
        mode: how the ranks will exchange.
        arcs: of the largest share.
        pull_below_width: the share is prepared for the pull phase (kernels/sssp/pull_deferred.cuh),
            which is used in buckets narrower than this; 0 for no pull phase.
        weight_class_unit: of kernels/sssp/min_out_weight.cuh, a power of two.
    """

    distance_type: np.dtype[Any]
    ranks: int
    mode: ModeName
    arcs: int
    pull_below_width: float = 0.0
    weight_class_unit: float = 1.0

    @property
    def pulls(self) -> bool:
        """Return True if kernels with the pull phase are used."""
        return self.pull_below_width > 0


@cache
def unreached(distance_type: np.dtype[Any]) -> Any:
    """The distance of a vertex that no path reaches: infinity, or the largest integer."""
    if distance_type.kind == "f":
        return distance_type.type(np.inf)
    return distance_type.type(np.iinfo(distance_type).max)


def within(value: float, distance_type: np.dtype[Any]) -> Any:
    """A width in the distance type; `unreached` if it is beyond the type's range."""
    nothing = unreached(distance_type)
    if value >= float(nothing):
        return nothing
    if distance_type.kind != "f":
        return distance_type.type(value)
    with np.errstate(over="ignore"):  # what rounds beyond float32 is infinite
        return distance_type.type(value)


def bound_within(value: float, distance_type: np.dtype[Any]) -> Any:
    """The greatest distance that is at most ``value``; `unreached` if every distance is.

    So no distance that a cutoff excludes is kept by rounding, and none is dropped.

    >>> bool(bound_within(0.1, np.dtype(np.float32)) <= 0.1)
    True
    >>> int(bound_within(2.9, np.dtype(np.int32)))
    2
    """
    nothing = unreached(distance_type)
    if distance_type.kind != "f":
        return nothing if value >= int(nothing) else distance_type.type(math.floor(value))
    if value > float(np.finfo(distance_type).max):
        return nothing
    nearest = distance_type.type(value)
    return nearest if nearest.item() <= value else np.nextafter(nearest, -nothing)


class Buckets(NamedTuple):
    """The widths of buckets, in units of weight; on GPUs they grow from the first one up to Δ.

    Attributes:
        first: of the first, at most Δ.
        widest: Δ.
    """

    first: float
    widest: float

    def upto(self, most: float) -> Buckets:
        """The same buckets, none wider than ``most``."""
        return Buckets(min(self.first, most), min(self.widest, most))


def alike(delta: float) -> Buckets:
    """Buckets of one width."""
    return Buckets(delta, delta)


@dataclass
class Counters:
    """Counts of a device's work since `Device.start`.

    Attributes:
        relaxations: arcs relaxed.
        steps: worklist steps (CUDA) or buckets (CPU).
        slices: calls of `Device.relax` that found work.
        settled: vertices made final in steps, by methods that do so.
        overflowed: a sum did not fit in the distance type, and was dropped.
        sent: bytes that kernels have written to each peer (the channel counts its own messages).
        worklists: entries of near and of far that the last slice left; a method with one list has
            it as near, and of methods without lists it is None.
    """

    relaxations: int = 0
    steps: int = 0
    slices: int = 0
    settled: int = 0
    overflowed: bool = False
    sent: list[int] = field(default_factory=list)
    worklists: tuple[int, int] | None = None


class Linked(Protocol):
    """A device whose kernels exchange with those of its team: one launch runs until all are quiet.

    Attributes:
        floor: the smallest distance left after a run; infinite if none is left.
        all_quiet: the team has nothing left up to the bound; the same on all its ranks.
        overflowed: as in `Counters`; if ``all_quiet``, for any rank of the team.
        arcs: of this rank after the redistribution.
    """

    floor: float
    all_quiet: bool
    overflowed: bool

    @property
    def arcs(self) -> int: ...

    def bucket_width(self) -> float:
        """See `Device.bucket_width`."""

    def wake(self) -> None:
        """Before a solve: wake the links between the GPUs, which may sleep; returns at once."""

    def prepare(self, lead: float, bound: float) -> None:
        """After `Device.start`, and before each launch.

        Args:
            lead: how far above the team's smallest pending distance a rank may work, if buckets do
                not grow; buckets that grow are the same on all ranks.
            bound: distances beyond it are not relaxed.
        """

    def launch(self) -> None:
        """Start relaxing until the team is quiet; returns at once.

        The records of predecessors are read after it in the same stream. All earlier kernels of the
        team must have ended.
        """

    def finished(self) -> bool:
        """Return True if the run has ended; then ``floor`` and the others are set.

        Raises:
            RunError: after a stop the kernel of another rank did not report its end.
        """

    def count(self) -> None:
        """Read the device's counters, after a run."""

    def stop(self) -> None:
        """Make all ranks of the team end the run soon, although work is left."""


class Device(Protocol):
    """Holds one rank's share and works on it.

    Attributes:
        name: ``cpu`` or ``cuda``.
        label: the processor's name, for messages and statistics.
        uuid: of a GPU, as NVML knows it; None for a CPU.
        counters: of the last solve.
    """

    name: str
    label: str
    uuid: str | None

    @property
    def counters(self) -> Counters: ...

    def warm_up(self, terms: Terms) -> None:
        """Compile what `load` compiles, so that other ranks find it cached."""

    def load(self, share: Share, terms: Terms) -> None:
        """Take a share, weights converted to the distance type.

        If ranks are to exchange inside kernels, `link` follows.
        """

    def room(self) -> int | None:
        """Bytes of device memory that a share may take; None on a CPU."""

    def why_not_linked(self, team: Team) -> str | None:
        """Why a team's kernels cannot exchange, or None; the same on every rank; collective."""

    def link(self, team: Team) -> Linked | str:
        """Redistribute a team's arcs by head, and map the peers' memory; collective in the team.

        Returns an object that drives fused runs, or the reason why they are impossible; the same
        kind on every rank of the team. In the second case, and after `unlink`, the share must be
        loaded again.
        """

    def unlink(self) -> None:
        """Unmap the memory that `link` has mapped, if any; collective in the team."""

    def release(self) -> None:
        """Drop the share and all arrays; to be called after `unlink`."""

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        """Begin a solve: all unreached but the source (local number; None if a peer owns it).

        A device may do so only with the first slice or launch, or before the first message is
        merged. Until then its answers are those of the previous solve.

        With ``record`` the device may keep the tail of each improvement, from which `start_claims`
        takes the predecessors. It is set only if no other rank improves this rank's vertices and no
        weight is negative.
        """

    def memory(self, size: int) -> Buffer:
        """Room for a message of ``size`` bytes, in the memory best for `merge`, `merge_claims`."""

    def merge(self, message: Buffer) -> None:
        """Merge a peer's improvements; those that still improve go to the worklists."""

    def relax(self, limit: float) -> float:
        """Relax a slice of the work up to ``limit``.

        Returns a lower bound of the distances left to work on; infinite if there is no work left.
        """

    def bucket_width(self) -> float:
        """The current Δ, infinite for Bellman-Ford; a solve may narrow it."""

    def outgoing(self) -> list[tuple[int, Buffer]]:
        """Improvements of halo vertices since the last call, one message for each owner."""

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        """The greatest distance of some owned vertices (local numbers); infinite if unreached.

        It is exact: an int of integer distances.
        """

    def forget_beyond(self, bound: float) -> None:
        """Make all vertices farther than ``bound`` unreached."""

    def start_claims(self, monotone: bool) -> bool:
        """Begin to assign predecessors; collective if ranks are linked.

        Returns whether all are known already, on every rank.

        With ``monotone`` (no negative weights) a tight arc that rises claims its head at once; only
        heads level with their tails must be claimed in order.
        """

    def merge_claims(self, message: Buffer) -> None:
        """Merge a peer's claims on owned vertices; the first claim of a vertex counts.

        A linked peer also sends which of its own vertices have been claimed.
        """

    def claim(self) -> bool:
        """Claim for one slice; True while claims are left to make."""

    def outgoing_claims(self) -> list[tuple[int, Buffer]]:
        """Claims on halo vertices since the last call, and claimed vertices for linked peers."""

    def arcs_reached(self) -> int:
        """The number of out-arcs of reached vertices."""

    def held(self, *, predecessors: bool) -> tuple[Any, Any]:
        """Copies of the distances and predecessors in the types of `Result`, in device memory.

        The second is None if predecessors were not asked for.
        """

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        """Replace the answer for the owned vertices by one that the host has computed.

        Args:
            distances: in the distance type, on the host.
            parents: global numbers, or `NO_PARENT`.
        """

    def distances(self) -> NDArray[Any]:
        """Distances of the owned vertices, in the distance type, on the host."""

    def public_distances(self) -> NDArray[Any]:
        """The same in the type of `Result`."""

    def predecessors(self) -> NDArray[np.int64]:
        """Global numbers of the predecessors of the owned vertices, or `NO_PARENT`."""

    def proves(self, statement: Statement) -> bool:
        """Return True if the device finds an answer right; False says nothing.

        It need not have been solved there, and what the device holds is not looked at.
        """
