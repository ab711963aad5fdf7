"""The counters of a solve on a GPU."""

from __future__ import annotations

from groute_py.device.base import Counters


class SolveCounters:
    """Counts that the kernels of a solve report, since it began."""

    def __init__(self) -> None:
        self.counts = Counters()

    def begin(self) -> None:
        """Before a solve."""
        self.counts = Counters()

    def update(
        self,
        *,
        relaxations: int,
        steps: int,
        overflowed: bool = False,
        settled: int = 0,
        sent: list[int] | None = None,
        worklists: tuple[int, int] | None = None,
    ) -> None:
        """After a slice; all numbers are since the solve began, as in `Counters`."""
        slices = self.counts.slices + int(steps > self.counts.steps)
        self.counts = Counters(
            relaxations, steps, slices, settled, overflowed, sent or [], worklists
        )
