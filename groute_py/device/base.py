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
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.comm.team import Team
from groute_py.graph.operators import Operator
from groute_py.partition.share import Share
from groute_py.results.statement import Statement

NO_PARENT = -1
"""The predecessor of the source and of unreached vertices."""

ModeName = Literal["alone", "fused", "hierarchical", "rounds"]
"""Ways to exchange: not at all; inside kernels; inside kernels on each host and in rounds between
hosts; in rounds."""


class Terms(NamedTuple):
    """The parameters for loading a share. After a redistribution ``arcs`` differs between teams."""

    distance_type: np.dtype[Any]
    ranks: int
    mode: ModeName  # of exchange
    arcs: int  # of the largest share
    # bucket width below which kernels/sssp/pull_deferred.cuh is used; 0 for never
    pull_below_width: float = 0.0
    weight_class_unit: float = 1.0  # of kernels/sssp/min_out_weight.cuh, a power of two
    operator: Operator | None = None  # by which arcs extend distances; None if they add weights

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


def widened(weights: Any, distance_type: np.dtype[Any]) -> Any:
    """Weights of NumPy or CuPy in a type at least as wide, in which `unreached` stays so."""
    if weights.dtype == distance_type:
        return weights
    wide = weights.astype(distance_type)
    wide[weights == unreached(np.dtype(weights.dtype))] = unreached(distance_type)
    return wide


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
    """The widths of buckets, in units of weight; they may grow from the first one to the widest.

    Those of GPUs grow up to Δ. Those of a CPU are Δ wide; a team of threads widens them.
    """

    first: float  # at most Δ
    widest: float  # Δ

    def upto(self, most: float) -> Buckets:
        """The same buckets, none wider than ``most``."""
        return Buckets(min(self.first, most), min(self.widest, most))


def alike(delta: float) -> Buckets:
    """Buckets of one width."""
    return Buckets(delta, delta)


@dataclass
class Counters:
    """Counts of a device's work since `Device.start`."""

    relaxations: int = 0
    steps: int = 0  # worklist steps (CUDA) or buckets (CPU)
    slices: int = 0  # calls of `Device.relax` that found work
    settled: int = 0  # vertices made final in steps, by methods that do so
    overflowed: bool = False  # a sum did not fit in the distance type, and was dropped
    sent: list[int] = field(default_factory=list)  # bytes that kernels have written to each peer
    worklists: tuple[int, int] | None = None  # of near and far; one list is near


class Linked(Protocol):
    """A device whose kernels exchange with those of its team, in one launch until all are quiet."""

    floor: float  # the smallest distance left after a run; infinite if none is left
    all_quiet: bool  # the team has nothing left up to the bound; the same on all its ranks
    overflowed: bool  # as in `Counters`; if ``all_quiet``, for any rank of the team

    @property
    def arcs(self) -> int: ...

    def bucket_width(self) -> float:
        """See `Device.bucket_width`."""

    def wake(self) -> None:
        """Before a solve: wake the links between the GPUs, which may sleep; returns at once."""

    def prepare(self, lead: float, bound: float) -> None:
        """Set the bounds of a launch, after `Device.start`; nothing beyond ``bound`` is relaxed.

        ``lead`` bounds how far above the team's smallest pending distance a rank may work, if
        buckets do not grow; buckets that grow are the same on all ranks.
        """

    def launch(self) -> None:
        """Start relaxing until the team is quiet; returns at once.

        All earlier kernels of the team must have ended. Records are read later in the same stream.
        """

    def finished(self) -> bool:
        """Return True if the run has ended; `RunError` if another rank did not stop."""

    def count(self) -> None:
        """Read the device's counters, after a run."""

    def stop(self) -> None:
        """Make all ranks of the team end the run soon, although work is left."""


class NearVertices(NamedTuple):
    """Reached vertices, in any order."""

    vertices: NDArray[np.int64]  # (r,)
    distances: NDArray[Any]  # (r,), of the public type
    parents: NDArray[np.int64]  # (r,)


class Detached(NamedTuple):
    """An answer in device memory, which later solves do not change.

    Each function waits until the device has made what it returns.
    """

    distances: Callable[[], Any]  # as `Result` has them
    parents: Callable[[], Any] | None
    arcs_reached: Callable[[], int]


class Device(Protocol):
    """Holds one rank's share and works on it."""

    name: str  # ``cpu`` or ``cuda``
    label: str  # the processor's name, for messages and statistics
    uuid: str | None  # of a GPU, in NVML's form

    @property
    def counters(self) -> Counters: ...

    def warm_up(self, terms: Terms) -> None:
        """Compile what `load` compiles, so that other ranks find it cached."""

    def load(self, share: Share, terms: Terms) -> None:
        """Take a share, with weights converted to the distance type; `link` may follow."""

    def room(self) -> int | None:
        """Bytes of device memory that a share may take; None on a CPU."""

    def why_not_linked(self, team: Team) -> str | None:
        """Why a team's kernels cannot exchange, or None; the same on every rank; collective."""

    def link(self, team: Team) -> Linked | str:
        """Redistribute a team's arcs by head, and map the peers' memory; collective in the team.

        Returns an object that drives fused runs, or on every rank the reason why they are
        impossible. Then, and after `unlink`, the share must be loaded again.
        """

    def unlink(self) -> None:
        """Unmap the memory that `link` has mapped, if any; collective in the team."""

    def release(self) -> None:
        """Drop the share and all arrays; to be called after `unlink`."""

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        """Begin a solve: all unreached but the source (local number; None if a peer owns it).

        A device may do so only with the first slice or launch, or before the first message is
        merged. Until then its answers are those of the previous solve.

        With ``record`` it may keep the tail of each improvement, for `start_claims`. That needs
        weights that are not negative, and no other rank that improves this rank's vertices.
        """

    def memory(self, size: int) -> Buffer:
        """Room for a message of ``size`` bytes, in the memory best for `merge`, `merge_claims`."""

    def merge(self, message: Buffer) -> None:
        """Merge a peer's improvements; those that still improve go to the worklists."""

    def relax(self, limit: float) -> float:
        """Relax a slice up to ``limit``; return a lower bound of what is left, or infinity."""

    def bucket_width(self) -> float:
        """The current Δ, infinite for Bellman-Ford; a solve may narrow it."""

    def outgoing(self) -> list[tuple[int, Buffer]]:
        """Improvements of halo vertices since the last call, one message for each owner."""

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        """The exact greatest distance of some owned vertices (local numbers), or infinity."""

    def forget_beyond(self, bound: float) -> None:
        """Make all vertices farther than ``bound`` unreached."""

    def start_claims(self, monotone: bool) -> bool:
        """Begin to assign predecessors; collective if ranks are linked. True if all are known.

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

    def detach(self, *, predecessors: bool) -> Detached:
        """Return distances and, if they are wanted, predecessors without waiting for them."""

    def near(self, *, predecessors: bool) -> NearVertices | None:
        """The reached owned vertices, where they are few and the device lists them fast."""

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        """Replace the answer for the owned vertices; predecessors are global, or `NO_PARENT`."""

    def distances(self) -> NDArray[Any]:
        """Distances of the owned vertices, in the distance type, on the host."""

    def public_distances(self) -> NDArray[Any]:
        """The same in the type of `Result`."""

    def reach(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Local numbers of the reached owned vertices, ascending, and their public distances."""

    def predecessors(self) -> NDArray[np.int64]:
        """Global numbers of the predecessors of the owned vertices, or `NO_PARENT`."""

    def proves(self, statement: Statement) -> bool:
        """Return True if the device finds an answer of any device right; False says nothing."""
