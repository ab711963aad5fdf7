"""The device of a machine without a GPU: the cores of a rank, kernels in Numba."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, host_memory
from groute_py.comm.team import Team
from groute_py.device.base import Buckets, Counters, Linked, Terms, alike
from groute_py.device.cpu.methods.base import CpuMethod
from groute_py.device.cpu.team import TeamMethod, team_size
from groute_py.device.cpu.warm_up import WARMED_UP, one_rank, two_ranks
from groute_py.partition.share import Share
from groute_py.results.distances import public_distances
from groute_py.results.statement import Statement
from groute_py.system.memory_limits import ANSWERS
from groute_py.system.threads import in_slices

LOOKED_AT_ONCE = 1 << 19
"""Distances that a thread looks at in one go."""


class CpuDevice:
    """See `groute_py.device.base.Device` for the verbs."""

    name = "cpu"
    uuid: str | None = None

    def __init__(self, method: type[CpuMethod] = CpuMethod, **choices: Any) -> None:
        self.label = platform.machine()
        self._method_type, self._choices = method, choices
        self._parts: CpuMethod | None = None

    @property
    def counters(self) -> Counters:
        return Counters() if self._parts is None else self._parts.counters

    @property
    def parts(self) -> CpuMethod:
        """The method on the loaded share; there must be one."""
        assert self._parts is not None
        return self._parts

    def warm_up(self, terms: Terms) -> None:
        kind = terms.distance_type, terms.operator
        if ("near-far", *kind) not in WARMED_UP:
            _warm_up_with_peers(terms)
            WARMED_UP.add(("near-far", *kind))
        if self._method_for(terms) is TeamMethod and ("team", *kind) not in WARMED_UP:
            _warm_up_team(terms)
            WARMED_UP.add(("team", *kind))
        which = (self._method_type, *self._choices.items(), *kind)
        if self._method_type is not CpuMethod and which not in WARMED_UP:
            small = CpuDevice(self._method_type, **self._choices)
            small.load(one_rank(terms.distance_type), terms._replace(ranks=1))
            small.start(0, alike(np.inf), np.inf, record=False)
            small.relax(np.inf)
            WARMED_UP.add(which)

    def load(self, share: Share, terms: Terms) -> None:
        self._parts = self._method_for(terms)(share, terms, **self._choices)

    def _method_for(self, terms: Terms) -> type[CpuMethod]:
        """Let several threads relax a large share of a rank alone."""
        return TeamMethod if team_size(terms) >= self._method_type.least_team else self._method_type

    def room(self) -> None:
        """The system gives memory as it is written, and knows best."""

    def why_not_linked(self, team: Team) -> str | None:
        return "not every rank has a GPU"

    def link(self, team: Team) -> Linked | str:
        raise NotImplementedError("nothing links ranks on CPUs")

    def unlink(self) -> None:
        """Never linked."""

    def release(self) -> None:
        self._parts = None

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        self.parts.start(source, buckets, cutoff, record=record)

    def memory(self, size: int) -> Buffer:
        return host_memory(size)

    def merge(self, message: Buffer) -> None:
        self.parts.near_far.merge(message)

    def relax(self, limit: float) -> float:
        return self.parts.relax(limit)

    def bucket_width(self) -> float:
        return self.parts.near_far.bucket_width()

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return self.parts.near_far.outgoing()

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        return self.parts.buffers.farthest(vertices)

    def forget_beyond(self, bound: float) -> None:
        self.parts.buffers.forget_beyond(bound)

    def start_claims(self, monotone: bool) -> bool:
        return self.parts.start_claims(monotone=monotone)

    def merge_claims(self, message: Buffer) -> None:
        self.parts.predecessors.merge(message)

    def claim(self) -> bool:
        return self.parts.predecessors.claim()

    def outgoing_claims(self) -> list[tuple[int, Buffer]]:
        return self.parts.predecessors.outgoing()

    def arcs_reached(self) -> int:
        return self.parts.buffers.arcs_reached()

    def held(self, *, predecessors: bool) -> tuple[Any, Any]:
        return self.public_distances(), self.predecessors() if predecessors else None

    def near(self, *, predecessors: bool) -> None:
        """None: whole arrays cost no copy over a link."""

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        self.parts.buffers.replace(distances, parents)

    def distances(self) -> NDArray[Any]:
        return ANSWERS.copy(self.parts.buffers.own_distances)

    def public_distances(self) -> NDArray[Any]:
        own = self.parts.buffers.own_distances
        public = public_distances(own)
        return public if public is not own else self.distances()

    def reach(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        own, nothing = self.parts.buffers.own_distances, self.parts.buffers.unreached

        def look(some: slice) -> Any:
            return np.flatnonzero(own[some] != nothing) + some.start

        vertices = np.concatenate([np.arange(0), *in_slices(len(own), LOOKED_AT_ONCE, look)])
        return vertices, public_distances(own[vertices])

    def predecessors(self) -> NDArray[np.int64]:
        return ANSWERS.copy(self.parts.buffers.parents[: self.parts.buffers.share.own_count])

    def proves(self, statement: Statement) -> bool:
        """Never: the host looks itself, by all of its cores."""
        return False


def _warm_up_team(terms: Terms) -> None:
    """Compile relaxation and claims by several threads, with tight arcs that are level.

    The caller does it alone: another thread could not be interrupted while it compiles.
    """
    method = TeamMethod(one_rank(terms.distance_type, (0, 0)), terms, size=1)
    method.start(0, alike(1.0), np.inf, record=False)
    method.relax(np.inf)
    method.start_claims(monotone=True)
    method.predecessors.claim()
    method.predecessors.claim()


def _warm_up_with_peers(terms: Terms) -> None:
    """Compile near–far relaxation and claims, with and without records and negative weights."""
    small = CpuDevice()
    small.load(two_ranks(terms.distance_type), terms._replace(ranks=2))
    for record, monotone in ((True, True), (False, True), (False, False)):
        small.start(0, alike(1.0), np.inf, record=record)
        small.relax(np.inf)
        for _, message in small.outgoing():
            small.merge(message)
        small.start_claims(monotone)
        small.claim()
        for _, message in small.outgoing_claims():
            small.merge_claims(message)
        small.claim()
