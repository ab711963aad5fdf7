"""The methods of a GPU: near–far relaxation here, others in `cuda.methods`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from groute_py.device.base import Buckets
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.degree_order import DegreeOrder, order_by_degree
from groute_py.device.cuda.graph.in_edges import add_in_edges, add_weight_classes, seeds
from groute_py.device.cuda.graph.redistribute import Redistribution
from groute_py.device.cuda.sssp.answer import Answer
from groute_py.device.cuda.sssp.buffers import SolveBuffers, SolveCounters
from groute_py.device.cuda.sssp.near_far import NearFar
from groute_py.device.cuda.sssp.outbox import Outbox
from groute_py.device.cuda.sssp.predecessors import Predecessors
from groute_py.device.cuda.sssp.relax_kernel import RelaxKernel

if TYPE_CHECKING:
    from groute_py.device.cuda.hierarchy.levels import CudaHierarchy


class SolveParts:
    """Allocates the working arrays of a share, and makes the parts that work on them."""

    def __init__(
        self,
        graph: DeviceGraph,
        order: DegreeOrder | None,
        counters: SolveCounters,
        *,
        direct: bool,
        redistribution: Redistribution | None = None,
    ) -> None:
        self.graph, self.order, self.counters = graph, order, counters
        exported = redistribution is not None
        self.buffers = SolveBuffers(graph, direct=direct, exported=exported)
        self.outbox = Outbox(graph, self.buffers, direct=direct)
        self.kernel = RelaxKernel(graph, self.buffers)
        self.predecessors = Predecessors(
            graph, self.buffers, self.outbox, self.kernel, redistribution
        )
        self.near_far = NearFar(
            graph, order, self.buffers, self.outbox, self.kernel, self.predecessors, counters
        )
        self.answer = Answer(graph, order, self.buffers)
        self.redistribution = redistribution


class GpuMethod:
    """Near–far relaxation of one share; other methods override parts of it."""

    remedy = "use more GPUs"
    """Advice where a share does not fit."""

    levels: CudaHierarchy | None = None
    """The hierarchy of the share, of methods that have one."""

    variant = ""
    """Tells apart the choices of a method that load a share in different ways."""

    def arrange(self, graph: DeviceGraph) -> DegreeOrder | None:
        """Compile, and make a method's own arrays first; return the order of vertices, if any."""
        if graph.terms.mode != "alone":
            return None
        order = order_by_degree(graph)
        balance = add_in_edges(graph, seeds())
        if not balance.any():
            add_weight_classes(graph)
        return order

    def start(
        self,
        parts: SolveParts,
        source: int | None,
        buckets: Buckets,
        cutoff: float,
        *,
        record: bool,
    ) -> None:
        parts.near_far.start(source, buckets, cutoff, record=record)

    def relax(self, parts: SolveParts, limit: float) -> float:
        return parts.near_far.relax(limit)

    def start_claims(self, parts: SolveParts, *, monotone: bool) -> bool:
        return parts.predecessors.start(monotone)


class OneGpuMethod(GpuMethod, ABC):
    """A method with kernels of its own, which do not record predecessors."""

    def start(
        self,
        parts: SolveParts,
        source: int | None,
        buckets: Buckets,
        cutoff: float,
        *,
        record: bool,
    ) -> None:
        super().start(parts, source, buckets, cutoff, record=False)
        parts.kernel.begin()
        self.begin(parts, source)

    @abstractmethod
    def begin(self, parts: SolveParts, source: int | None) -> None:
        """Start the method's own kernels."""
