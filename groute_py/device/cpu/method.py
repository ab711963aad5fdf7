"""The methods of a core: near–far relaxation here, others in `cpu.methods`."""

from __future__ import annotations

from groute_py.device.base import Buckets
from groute_py.device.cpu.parts import SolveParts


class CpuMethod:
    """Near–far relaxation of one share; other methods override parts of it."""

    def arrange(self, parts: SolveParts) -> None:
        """Make what the method has beside the share."""

    def start(
        self,
        parts: SolveParts,
        source: int | None,
        buckets: Buckets,
        cutoff: float,
        *,
        record: bool,
    ) -> None:
        parts.begin(source, cutoff, record=record)
        parts.near_far.start(source, buckets)

    def relax(self, parts: SolveParts, limit: float) -> float:
        return parts.near_far.relax(parts.counters, limit)

    def start_claims(self, parts: SolveParts, *, monotone: bool) -> bool:
        return parts.predecessors.start(monotone=monotone)
