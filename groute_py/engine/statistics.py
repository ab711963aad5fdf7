"""Costs of a solve, as plain values that go into JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from groute_py.device.base import Counters
from groute_py.system.clock import current


class RankReport(NamedTuple):
    """One rank's part of the statistics."""

    device: str
    counters: Counters
    seconds: dict[str, float]
    bytes_sent: list[int]
    arcs_reached: int
    """Arcs that leave its reached vertices."""


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
        reached = 0
        for report in reports:
            counters = report.counters
            self.devices.append(report.device)
            self.bytes_sent.append(report.bytes_sent)
            self.relaxations += counters.relaxations
            self.settled += counters.settled
            self.rounds += counters.slices
            self.steps += counters.steps
            reached += report.arcs_reached
            for phase, seconds in report.seconds.items():
                self.seconds[phase] = max(self.seconds.get(phase, 0.0), seconds)
        self.useless_relaxations = max(self.relaxations - reached, 0)  # bfs looks at fewer
        self.seconds = dict(sorted(self.seconds.items()))

    def as_dict(self) -> dict[str, Any]:
        """For JSON; an infinite Δ becomes null."""
        plain = vars(self).copy()  # asdict copies every list, which small solves feel
        plain["delta"] = None if self.delta == float("inf") else self.delta
        return plain


def figures_from(reports: list[RankReport], **about: Any) -> dict[str, Any]:
    """Return the statistics of a solve from the reports of all ranks and other fields."""
    statistics = Statistics(**about)
    statistics.add(reports)
    return statistics.as_dict()


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
        self._clock = current()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time of the block to phase ``name``."""
        start, clock = time.perf_counter(), self._clock
        before = None if clock is None else clock.enter(name)
        try:
            yield
        finally:
            if clock is not None and before is not None:
                clock.enter(before)
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
