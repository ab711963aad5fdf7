"""What a solve cost, as plain values that go into JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from groute_py.device.base import Counters
from groute_py.system import clock


@dataclass(frozen=True)
class RankReport:
    """One rank's part of the statistics.

    Attributes:
        device: its processor, for people.
        counters: what it did.
        seconds: wall time by phase.
        bytes_sent: to each rank.
        arcs_reached: arcs that leave its reached vertices.
    """

    device: str
    counters: Counters
    seconds: dict[str, float]
    bytes_sent: list[int]
    arcs_reached: int


@dataclass
class Statistics:
    """Attributes:
    algorithm, reason: the method that ran, and why it was chosen.
    delta, distance_type: of that method; ``delta`` is infinite for methods without one.
    mode: ``alone`` (one rank), ``fused`` (exchange inside the kernel), ``rounds`` (by the hosts) or
        ``hierarchical`` (fused within each host, in rounds between them).
    mode_reason: why that mode was chosen.
    ranks, devices: how many, and the processor of each.
    order: of the vertices before the cut.
    cut, imbalance: arcs between parts; the most arcs that a rank holds over the mean.
    seconds: wall time by phase on the slowest rank.
    relaxations: arcs relaxed by all ranks.
    useless_relaxations: those beyond one for each arc that leaves a reached vertex.
    settled: vertices made final in steps, by methods that do so; else 0.
    rounds: slices of work by all ranks.
    steps: steps of the persistent kernel (CUDA) or buckets (CPU), by all ranks; of methods that
        have the graph to themselves, rounds, levels or vertices closed.
    bound: distances up to this are final, where targets ended the solve early; else None.
    votes: votes of the coordinator.
    bytes_sent: ``bytes_sent[a][b]`` from rank a to rank b.
    """

    algorithm: str = ""
    reason: str = ""
    delta: float = 0.0
    distance_type: str = ""
    mode: str = ""
    mode_reason: str = ""
    ranks: int = 1
    devices: list[str] = field(default_factory=list)
    order: str = ""
    cut: int = 0
    imbalance: float = 1.0
    seconds: dict[str, float] = field(default_factory=dict)
    relaxations: int = 0
    useless_relaxations: int = 0
    rounds: int = 0
    settled: int = 0
    steps: int = 0
    bound: float | None = None
    votes: int = 0
    bytes_sent: list[list[int]] = field(default_factory=list)

    def add(self, reports: list[RankReport]) -> None:
        """Sum up all ranks' reports."""
        self.ranks = len(reports)
        self.devices = [report.device for report in reports]
        self.relaxations = sum(report.counters.relaxations for report in reports)
        needed = sum(report.arcs_reached for report in reports)
        self.useless_relaxations = max(self.relaxations - needed, 0)  # bfs looks at fewer
        self.settled = sum(report.counters.settled for report in reports)
        self.rounds = sum(report.counters.slices for report in reports)
        self.steps = sum(report.counters.steps for report in reports)
        self.bytes_sent = [report.bytes_sent for report in reports]
        self.seconds = dict(sorted(reports[0].seconds.items()))
        if len(reports) > 1:
            phases = {phase for report in reports for phase in report.seconds}
            self.seconds = {
                phase: max(report.seconds.get(phase, 0.0) for report in reports)
                for phase in sorted(phases)
            }

    def as_dict(self) -> dict[str, Any]:
        """For JSON; an infinite Δ becomes null."""
        plain = vars(self).copy()  # asdict copies every list, which small solves feel
        plain["delta"] = None if self.delta == float("inf") else self.delta
        return plain


class Stopwatch:
    """Sums wall time by phase, here and in the clock that runs, if any.

    >>> watch = Stopwatch()
    >>> with watch.phase("solve"):
    ...     pass
    >>> list(watch.seconds)
    ['solve']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time of the block to phase ``name``."""
        start = time.perf_counter()
        try:
            with clock.phase(name):
                yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
