"""The channel of one rank alone: no MPI needed at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, Memory, host_memory

T = TypeVar("T")


class SoloChannel:
    """The channel of a single rank."""

    rank = 0
    size = 1
    direct = False
    sent = 0
    received = 0

    def __init__(self) -> None:
        self.bytes_sent = np.zeros(1, dtype=np.int64)
        self._ballot: Sequence[float] | None = None

    def broadcast(self, value: T) -> T:
        return value

    def gather(self, value: T) -> list[T]:
        return [value]

    def scatter(self, arrays: list[NDArray[Any]] | None) -> NDArray[Any]:
        assert arrays is not None
        return arrays[0]

    def collect(self, array: NDArray[Any]) -> list[NDArray[Any]] | None:
        return [array]

    def exchange(self, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        return arrays

    def split(self, parts: Sequence[int]) -> SoloChannel:
        return SoloChannel()

    def first_of_host(self) -> int:
        return 0

    def abandon(self) -> None:
        """Nothing to drop: there are no messages."""

    def begin(self) -> None:
        """No messages to keep apart."""

    def send(self, peer: int, message: Buffer) -> None:
        raise AssertionError(f"one rank alone has no peer {peer}")

    def receive(self, memory: Memory = host_memory) -> list[Buffer]:
        return []

    def vote(self, ballot: Sequence[float]) -> None:
        self._ballot = ballot

    def tally(self) -> list[Sequence[float]] | None:
        ballot, self._ballot = self._ballot, None
        return None if ballot is None else [ballot]
