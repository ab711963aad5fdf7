"""How the cases are measured."""

from __future__ import annotations

from dataclasses import dataclass

from groute_py.algorithms.choose import devices_of
from groute_py.engine.options import Options


@dataclass(frozen=True)
class Plan:
    """Attributes:
    device: ``cpu`` or ``cuda``.
    repeat: how many solves count.
    trees: whether to find predecessors, for each series.
    delta: Δ, or None for the automatic one.
    mode: how several ranks exchange.
    order: of the vertices before the cut.
    prepare: for many solves, as ``--prepare`` does; it counts as upload.
    """

    device: str
    repeat: int = 5
    trees: tuple[bool, ...] = (True,)
    delta: float | None = None
    mode: str = "auto"
    order: str = "auto"
    prepare: bool = False

    def options(self, *, tree: bool, method: str = "auto") -> Options:
        """For a session; a method that runs on CPUs only runs there."""
        device = self.device if self.device in devices_of(method) else "cpu"
        choices = {"mode": self.mode, "order": self.order, "delta": self.delta}
        return Options(method, device=device, predecessors=tree, prepare=self.prepare, **choices)
