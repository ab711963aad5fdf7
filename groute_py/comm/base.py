"""The channel protocol: communication between the ranks of a run; that of one rank alone.

All ranks call *collective* methods in the same order. *Free* methods (send, receive, vote) never
block: a rank continues to work while they are in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm as Intracomm
else:
    Intracomm = Any  # mpi4py is imported late

T = TypeVar("T")

Buffer = NDArray[np.uint8]
"""A message: contiguous bytes, in host memory, or in device memory on a channel that is direct."""

Memory = Callable[[int], Buffer]
"""Allocates room for a message of a given size in bytes."""

MESSAGE_BYTES = 1 << 30
"""Greatest size of a message: some MPI libraries count bytes by 32-bit integers with a sign."""


def parts_of(count: int, entry_bytes: int) -> Iterator[slice]:
    """Slices of so many entries, each of which a message can hold.

    >>> list(parts_of(3, 4)), len(list(parts_of(MESSAGE_BYTES, 12)))
    ([slice(0, 3, None)], 13)
    """
    most = max(MESSAGE_BYTES // entry_bytes, 1)
    return (slice(first, min(first + most, count)) for first in range(0, count, most))


def host_memory(size: int) -> Buffer:
    """Room for a message in ordinary memory."""
    return np.empty(size, dtype=np.uint8)


class Channel(Protocol):
    """Connects the ranks of one run."""

    rank: int
    size: int
    direct: bool  # messages may lie in device memory
    sent: int  # messages in this phase, by free verbs
    received: int
    bytes_sent: NDArray[np.int64]  # int64, (size,): payload to each peer by free verbs

    # collective
    def broadcast(self, value: T) -> T:
        """Rank 0's value, on every rank."""

    def gather(self, value: T) -> list[T]:
        """Every rank's value in rank order, on every rank."""

    def scatter(self, arrays: list[NDArray[Any]] | None) -> NDArray[Any]:
        """Rank 0 gives ``arrays[r]`` to rank r; returns this rank's. Each has one dimension."""

    def collect(self, array: NDArray[Any]) -> list[NDArray[Any]] | None:
        """Return all ranks' arrays (one dimension, one type) in order on rank 0, None elsewhere."""

    def exchange(self, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Give ``arrays[r]`` to rank r; return this rank's. One type, below 2³¹ bytes a rank."""

    def split(self, parts: Sequence[int]) -> Channel:
        """Connect the ranks r of the same part as this one, ``parts[r]``, in their order."""

    def first_of_host(self) -> int:
        """The first of the ranks with which this one can share memory, itself included."""

    def abandon(self) -> None:
        """Receive and drop all messages of this phase that are in flight."""

    # free
    def begin(self) -> None:
        """Begin the next phase: a message is received only in the phase it was sent in.

        So a rank that notices the end of a phase early may continue, and its messages do not reach
        a rank that is still in that phase.
        """

    def send(self, peer: int, message: Buffer) -> None:
        """Send; the buffer must not be written again."""

    def receive(self, memory: Memory = host_memory) -> list[Buffer]:
        """Messages that have arrived since the last call, each in room given by ``memory``."""

    def vote(self, ballot: Sequence[float]) -> None:
        """Open a vote; every rank opens the same votes, each when it is ready to."""

    def tally(self) -> list[Sequence[float]] | None:
        """The open vote's ballots in rank order, or None while some are missing."""


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
