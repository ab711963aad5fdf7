"""How to solve: the choices a user has."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from groute_py.algorithms.choose import check_name
from groute_py.arguments import check_choice, check_cutoff, check_number, file_path, plain
from groute_py.errors import InputError
from groute_py.graph.facts import Facts
from groute_py.partition.order import ORDERS

LONGEST_LIMIT_S = 1e8
"""Three years; timers cannot take much more."""

MODES = ("auto", "fused", "rounds")
"""How ranks may exchange."""


@dataclass(frozen=True)
class Options:
    """How to solve; the same on every rank.

    Attributes:
        algorithm: a method's name, or ``auto``.
        delta: Δ in units of weight, the width of all windows; or None for an automatic one, which
            windows may begin below.
        device: ``auto``, ``cpu`` or ``cuda``.
        partition: ``arcs``, ``vertices`` or ``first``.
        predecessors: whether to find the shortest-path tree.
        cutoff: leave out vertices that are farther.
        time_limit_s: give up after this many seconds.
        mode: ``fused`` (the ranks of a host exchange inside the kernel), ``rounds`` (all of them
            through the host), ``auto``.
        order: of the vertices before the cut: ``auto``, ``none``, ``bfs``, ``rcm``, ``hilbert``.
        coordinates: a coordinate file, for ``hilbert``; only rank 0's counts.
        hops: every arc counts 1, whatever it weighs.
        download: whether the answer is brought to host memory at once.
        prepare: take longer to load a graph with many arcs on GPUs, so that each solve takes less.
    """

    algorithm: str = "auto"
    delta: float | None = None
    device: str = "auto"
    partition: str = "arcs"
    predecessors: bool = True
    cutoff: float | None = None
    time_limit_s: float | None = None
    mode: str = "auto"
    order: str = "auto"
    coordinates: str | Path | None = None
    download: bool = True
    hops: bool = False
    prepare: bool = False

    def __post_init__(self) -> None:
        for name in ("delta", "cutoff", "time_limit_s"):
            object.__setattr__(self, name, plain(getattr(self, name)))

    @property
    def renumbers(self) -> bool:
        """Whether an order is asked for."""
        return self.order not in ("auto", "none")

    @property
    def alike(self) -> dict[str, Any]:
        """What has to be the same on every rank."""
        own = ("coordinates", "device", "time_limit_s")
        names = [field.name for field in fields(self) if field.name not in own]
        return {name: getattr(self, name) for name in names}

    def check(self) -> None:
        """Raise `InputError` for values that make no sense."""
        numbers = {"delta": self.delta, "time limit": self.time_limit_s}
        for what, number in numbers.items():
            if number is not None:
                check_number(what, number)
        if self.delta is not None and not self.delta > 0:
            raise InputError(f"delta must be positive, not {self.delta}")
        check_name(self.algorithm)
        check_choice("mode", self.mode, MODES)
        check_choice("order", self.order, ORDERS)
        if self.coordinates is not None:
            file_path("coordinates", self.coordinates)
        if self.cutoff is not None:
            check_cutoff(self.cutoff)
        if self.time_limit_s is not None and not 0 < self.time_limit_s <= LONGEST_LIMIT_S:
            raise InputError(
                f"the time limit must be more than 0 and at most {LONGEST_LIMIT_S:.0f} seconds, "
                f"not {self.time_limit_s}"
            )

    def check_against(self, facts: Facts) -> None:
        """Raise `InputError` for what the graph does not allow."""
        if facts.vertex_count == 0:
            raise InputError(f"{facts.name} has no vertices, so there is no source")
        if facts.has_negative and self.cutoff is not None:
            raise InputError(
                f"{facts.name} has a negative weight ({facts.least}), with which a path may come "
                "back below a cutoff; solve without it"
            )
