"""What a user asks for of many sources."""

from __future__ import annotations

from dataclasses import dataclass

from groute_py.arguments import check_choice, check_whole_number, plain
from groute_py.device.registry import DEVICES, gpu_problem
from groute_py.errors import InputError, SetupError
from groute_py.many.estimates import DELIVERY_RATE

METHODS = {
    "floyd": "blocked Floyd-Warshall on the whole matrix",
    "heap": "Dijkstra with a heap and decrease-key, a source for each warp or core",
    "batch": "near-far Δ-stepping, a source for each block or core",
    "single": "near-far Δ-stepping by all of a GPU, one source after the other",
}
"""The methods by name."""


@dataclass(frozen=True)
class Request:
    """What a user asks for.

    Attributes:
        algorithm: ``auto`` or one of `METHODS`.
        device: ``auto``, ``cpu`` or ``cuda``.
        predecessors: whether to find them.
        memory_limit: bytes of the device's memory that may be used; None for what is free.
        destination: where rows go: ``memory``, ``file`` or, if they are only reduced, ``nowhere``.
    """

    algorithm: str = "auto"
    device: str = "auto"
    predecessors: bool = False
    memory_limit: int | None = None
    destination: str = "memory"

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory_limit", plain(self.memory_limit))

    def check(self) -> None:
        """Raise `InputError` for what there is not, `SetupError` where there is no such device."""
        check_choice("algorithm", self.algorithm, ("auto", *METHODS))
        check_choice("device", self.device, DEVICES)
        check_choice("destination", self.destination, tuple(DELIVERY_RATE))
        if self.device == "cuda" and (problem := gpu_problem()) is not None:
            raise SetupError(f"no GPU can be used: {problem}")
        if self.memory_limit is None:
            return
        check_whole_number("memory limit", self.memory_limit)
        if self.memory_limit <= 0:
            raise InputError(f"the memory limit must be positive, not {self.memory_limit}")
