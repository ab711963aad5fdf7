"""The parts of a device while a share is loaded, and how they refer to each other."""

from __future__ import annotations

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.degree_order import DegreeOrder
from groute_py.device.cuda.graph.redistribute import Redistribution
from groute_py.device.cuda.sssp.answer import Answer
from groute_py.device.cuda.sssp.buffers import SolveBuffers
from groute_py.device.cuda.sssp.counting import SolveCounters
from groute_py.device.cuda.sssp.near_far import NearFar
from groute_py.device.cuda.sssp.outbox import Outbox
from groute_py.device.cuda.sssp.predecessors import Predecessors
from groute_py.device.cuda.sssp.relax_kernel import RelaxKernel


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
