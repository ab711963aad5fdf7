"""The options of a measurement, common to all cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from groute_py.engine.algorithms.methods import devices_of
from groute_py.engine.options import Options


@dataclass(frozen=True)
class Plan:
    """How to measure.

    Attributes:
        device: ``cpu`` or ``cuda``.
        repeat: the number of measured solves.
        trees: for each series, whether it finds predecessors.
        delta: Δ, or None for the automatic one.
        mode: how ranks exchange.
        order: the order of vertices before the cut.
        prepare: as ``--prepare``; its time counts as upload.
        scipy_up_to: the arcs of the largest graph that SciPy solves as well.
    """

    device: str
    repeat: int = 5
    trees: tuple[bool, ...] = (True,)
    delta: float | None = None
    mode: str = "auto"
    order: str = "auto"
    prepare: bool = False
    scipy_up_to: int = 30_000_000

    def options(self, *, tree: bool, method: str = "auto") -> Options:
        """Options of a session; a method for CPUs runs on the CPU."""
        device = self.device if self.device in devices_of(method) else "cpu"
        choices: dict[str, Any] = {"mode": self.mode, "order": self.order, "delta": self.delta}
        choices |= {"algorithm": method, "device": device}
        return Options(predecessors=tree, prepare=self.prepare, **choices)
