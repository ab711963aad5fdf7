"""The parts of a device while a share is loaded, and how they refer to each other."""

from __future__ import annotations

from groute_py.device.base import Counters, Terms
from groute_py.device.cpu.answer import Answer
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.near_far import NearFar
from groute_py.device.cpu.outbox import Outbox
from groute_py.device.cpu.predecessors import Predecessors
from groute_py.partition.share import Share


class SolveParts:
    """Allocates the working arrays of a share, and makes the parts that work on them."""

    def __init__(self, share: Share, terms: Terms) -> None:
        self.counters = Counters()
        self.buffers = SolveBuffers(share, terms)
        self.outbox = Outbox(self.buffers)
        self.near_far = NearFar(self.buffers)
        self.predecessors = Predecessors(self.buffers, self.outbox)
        self.answer = Answer(self.buffers)

    def begin(self, source: int | None, cutoff: float, *, record: bool) -> None:
        """Begin a solve in which nothing is reached yet."""
        self.counters = Counters()
        self.buffers.begin(source, cutoff, record=record)
