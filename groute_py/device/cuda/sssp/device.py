"""The device of a machine with NVIDIA GPUs: kernels of `groute_py.kernels`, compiled by CuPy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.comm.team import Team
from groute_py.device.base import Buckets, Counters, Detached, Linked, NearVertices, Terms
from groute_py.device.cuda import certificate
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.redistribute import Redistribution
from groute_py.device.cuda.peer.access import why_not
from groute_py.device.cuda.peer.link import connect
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.memory_plan import is_wide, offset_type
from groute_py.device.cuda.runtime.short_memory import FULL, if_it_fits, within_memory
from groute_py.device.cuda.sssp.buffers import SolveCounters
from groute_py.device.cuda.sssp.linked_kernels import LinkedKernels
from groute_py.device.cuda.sssp.method import GpuMethod, SolveParts
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.partition.share import Share
from groute_py.results.statement import Statement

if TYPE_CHECKING:
    from groute_py.device.cuda.hierarchy.levels import CudaHierarchy

MANY_TO_CUPY = 1100
"""Values for whose sums and orders CuPy has other kernels than for few; a block takes 1,024."""

WARMED_UP: set[tuple[Any, ...]] = set()
"""Kernels loaded once in this process: methods and their variants, with a distance and an
offset type, how ranks exchange, whether they pull, and an operator."""


def smallest(distance_type: np.dtype[Any]) -> Share:
    """The smallest share with all cases of loading: unsorted, and larger than a block of CuPy."""
    count = MANY_TO_CUPY
    heads = np.repeat(np.roll(np.arange(count, dtype=np.int32), -1), 2)
    weights, halo = np.tile(np.array([2, 1], distance_type), count), np.zeros(0, np.int64)
    arcs = np.arange(0, 2 * count + 1, 2), heads, weights
    ends = halo, np.zeros(2, np.int64), halo.astype(np.int32)
    return Share(0, count, *arcs, *ends, Hierarchy.of_core(*arcs))


class CudaDevice:
    """A `Device` on the GPU of ``local_rank``; ``linked`` drives kernels while a team is linked."""

    name = "cuda"

    def __init__(
        self,
        local_rank: int,
        *,
        direct: bool,
        method: type[GpuMethod] = GpuMethod,
        **choices: str,
    ) -> None:
        self.gpu, self._direct = GpuContext(local_rank), direct
        self.label: str = self.gpu.label
        self.uuid: str | None = self.gpu.uuid
        self._method_type, self._choices = method, choices
        self._method = method(**choices)
        self._counters = SolveCounters()
        self._parts: SolveParts | None = None
        self.linked: LinkedKernels | None = None

    @property
    def counters(self) -> Counters:
        return self._counters.counts

    @property
    def is_loaded(self) -> bool:
        """Return True if there is a share on the GPU."""
        return self._parts is not None

    @property
    def levels(self) -> CudaHierarchy | None:
        """The hierarchy of the share, if the method has one on the GPU."""
        return self._method.levels

    @property
    def parts(self) -> SolveParts:
        """The parts on the GPU; a share must be loaded."""
        assert self._parts is not None
        return self._parts

    def warm_up(self, terms: Terms) -> None:
        # CuPy compiles what it loads with too, when it is first asked for it
        kind = terms.distance_type, offset_type(terms.arcs), terms.mode, terms.pulls, terms.operator
        which = self._method_type, self._method.variant, *kind
        if which not in WARMED_UP:
            self.load(smallest(terms.distance_type), terms._replace(ranks=1))
            self.release()
            WARMED_UP.add(which)

    def load(self, share: Share, terms: Terms) -> None:
        self.gpu.synchronize()  # whoever makes a graph on this GPU is done with it
        self.release()
        # kernels would not tell it apart
        assert terms.mode != "alone" or len(share.halo) == 0
        assert is_wide(terms.arcs) or not is_wide(len(share.heads))
        what = f"the share of {share.own_count:,} vertices and {len(share.heads):,} arcs"
        with self.gpu.stream, within_memory(what, self.label, self._method.remedy):
            graph = DeviceGraph(self.gpu, share, terms)
            order = self._method.arrange(graph)
            self._parts = SolveParts(graph, order, self._counters, direct=self._direct)
        self._describe(self._parts)
        self.gpu.stream.synchronize()

    def release(self) -> None:
        # those of two shares do not have to fit
        self._parts = None
        self._method = self._method_type(**self._choices)

    def room(self) -> int:
        return self.gpu.room()

    def why_not_linked(self, team: Team) -> str | None:
        return why_not(team.channel, self.gpu.id, team.first)

    def link(self, team: Team) -> Linked | str:
        graph = self.parts.graph
        assert graph.terms.mode in ("fused", "hierarchical")  # its kernels exchange
        self.unlink()
        self._parts = None  # while arcs lie twice there is no room for its arrays
        redistribution = Redistribution(team, graph)
        reason = redistribution.run()
        if reason is not None:
            return reason
        parts = if_it_fits(partial(self._allocate_redistributed, redistribution))
        if not all(team.channel.gather(parts is not None)):
            return FULL
        assert parts is not None
        self._parts = parts
        distances, most_pushed = parts.buffers.arrays["distance"], redistribution.most_pushed
        link = connect(team, redistribution.ghosts, graph, distances, most_pushed)
        if isinstance(link, str):
            return link
        self.linked = LinkedKernels(link, parts, all_linked=team.hosts == 1)
        return self.linked

    def unlink(self) -> None:
        linked, self.linked = self.linked, None  # one that is closed in part is not closed again
        if linked is not None:
            linked.close()

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        parts = self.parts
        # arcs lie as the team needs them
        assert parts.redistribution is None or self.linked is not None
        self.gpu.use()
        parts.answer.begin()
        if self.linked is not None:
            self.linked.start()
        self._method.start(parts, source, buckets, cutoff, record=record)

    def memory(self, size: int) -> Buffer:
        return self.parts.outbox.memory(size)

    def merge(self, message: Buffer) -> None:
        self.parts.near_far.merge(message)

    def relax(self, limit: float) -> float:
        return self._method.relax(self.parts, limit)

    def bucket_width(self) -> float:
        return self.parts.near_far.bucket_width()

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return self.parts.outbox.emptied(with_parents=False)

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        return self.parts.answer.farthest(vertices)

    def forget_beyond(self, bound: float) -> None:
        self.parts.answer.forget_beyond(bound, recorded=self.parts.predecessors.recording)

    def start_claims(self, monotone: bool) -> bool:
        return self._method.start_claims(self.parts, monotone=monotone)

    def merge_claims(self, message: Buffer) -> None:
        self.parts.predecessors.merge(message)

    def claim(self) -> bool:
        return self.parts.predecessors.claim()

    def outgoing_claims(self) -> list[tuple[int, Buffer]]:
        return self.parts.predecessors.outgoing()

    def arcs_reached(self) -> int:
        return self.parts.answer.arcs_reached()

    def detach(self, *, predecessors: bool) -> Detached:
        remedy = "leave out download=False"
        with within_memory("a second copy of the answer", self.label, remedy):
            return self.parts.answer.detach(predecessors=predecessors)

    def near(self, *, predecessors: bool) -> NearVertices | None:
        return self.parts.answer.near(predecessors=predecessors)

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        self.parts.answer.replace(distances, parents)

    def distances(self) -> NDArray[Any]:
        return self.parts.answer.download("distance")

    def public_distances(self) -> NDArray[Any]:
        return self.parts.answer.public_distances()

    def reach(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        return self.parts.answer.reach()

    def predecessors(self) -> NDArray[np.int64]:
        return self.parts.answer.download("parent")

    def proves(self, statement: Statement) -> bool:
        return certificate.proves(self.gpu, statement)

    def _allocate_redistributed(self, redistribution: Redistribution) -> SolveParts:
        """The working arrays of a team's rank, and the parts that work on them."""
        with self.gpu.stream:
            parts = SolveParts(
                redistribution.graph,
                redistribution.order,
                self._counters,
                direct=self._direct,
                redistribution=redistribution,
            )
        self._describe(parts)
        self.gpu.stream.synchronize()
        return parts

    def _describe(self, parts: SolveParts) -> None:
        self.label = self.gpu.label + parts.buffers.label + parts.graph.prepared_label
