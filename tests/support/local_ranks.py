"""Several ranks as threads of one process, over a channel that can delay, reorder and stall.

It obeys the channel protocol and nothing more: a message sent may be received at any later look,
in any order, and a vote may end at any time after the last ballot.
"""

from __future__ import annotations

import pickle
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

T = TypeVar("T")

SPINNING_S, WAITING_S = 240, 600
"""Longer than any work here, in time of the processors, and by the clock: a machine that is shared
may stand still for a minute."""


@dataclass
class Network:
    """What the ranks share.

    Args:
        size: how many ranks.
        patience: a message or vote is held back for up to so many looks.
        seed: of the delays.
        direct: whether messages may lie in device memory.
    """

    size: int
    patience: int = 0
    seed: int = 0
    direct: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)
    failed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.mail: list[list[list[Any]]] = [[] for _ in range(self.size)]
        self.votes: dict[int, dict[int, Any]] = {}
        self.exchanges: dict[int, dict[int, Any]] = {}
        self.meeting = threading.Barrier(self.size)
        self.meetings = [self.meeting]  # and those of parts

    def delay(self) -> int:
        return self.random.randint(0, self.patience)


class LocalChannel:
    """One rank's end of a `Network`."""

    def __init__(self, network: Network, rank: int) -> None:
        self.rank, self.size, self._network = rank, network.size, network
        self.direct = network.direct
        self.sent = self.received = 0
        self.bytes_sent = np.zeros(network.size, dtype=np.int64)
        self._phase = self._exchange = self._vote = 0
        self._looks_left = 0
        self._voting = False

    def broadcast(self, value: T) -> T:
        packed = self._all(pickle.dumps(value) if self.rank == 0 else None)[0]
        return value if self.rank == 0 else cast("T", pickle.loads(packed))

    def gather(self, value: T) -> list[T]:
        return self._all(value)

    def scatter(self, arrays: list[Any] | None) -> Any:
        return self._all(arrays)[0][self.rank]

    def collect(self, array: Any) -> list[Any] | None:
        arrays = self._all(array)
        return arrays if self.rank == 0 else None

    def exchange(self, arrays: list[Any]) -> list[Any]:
        return [given[self.rank].copy() for given in self._all(arrays)]

    def split(self, parts: Any) -> LocalChannel:
        members = [rank for rank, part in enumerate(parts) if part == parts[self.rank]]
        fresh = Network(len(members), self._network.patience, self._network.seed)
        networks = self._all(fresh)
        network = networks[members[0]]
        network.failed, network.meetings = self._network.failed, self._network.meetings
        network.meetings.append(network.meeting)
        return LocalChannel(network, members.index(self.rank))

    def first_of_host(self) -> int:
        return 0

    def abandon(self) -> None:
        self.gather(None)  # all have sent their last
        with self._network.lock:
            box = self._network.mail[self.rank]
            box[:] = [held for held in box if held[1] != self._phase]

    def begin(self) -> None:
        self._phase += 1
        self.sent = self.received = 0

    def send(self, peer: int, message: Any) -> None:
        with self._network.lock:
            held = [self._network.delay(), self._phase, _copied(message)]
            self._network.mail[peer].append(held)
        self.sent += 1
        self.bytes_sent[peer] += message.nbytes

    def receive(self, memory: Any = None) -> list[Any]:
        if self._network.failed.is_set():
            raise threading.BrokenBarrierError
        with self._network.lock:
            box = self._network.mail[self.rank]
            here = [held for held in box if held[1] == self._phase]
            due = [held for held in here if held[0] <= 0]
            box[:] = [held for held in box if held[1] != self._phase or held[0] > 0]
            for held in here:
                held[0] -= 1
            self._network.random.shuffle(due)
        self.received += len(due)
        return [message for _, _, message in due]

    def vote(self, ballot: Any) -> None:
        assert not self._voting
        self._voting = True
        with self._network.lock:
            self._network.votes.setdefault(self._vote, {})[self.rank] = ballot
            self._looks_left = self._network.delay()

    def tally(self) -> Any | None:
        if self._network.failed.is_set():
            raise threading.BrokenBarrierError
        with self._network.lock:
            ballots = self._network.votes.get(self._vote, {})
            if not self._voting or len(ballots) < self.size:
                return None
            self._looks_left -= 1
            if self._looks_left >= 0:
                return None
            self._vote, self._voting = self._vote + 1, False
            return [ballots[rank] for rank in range(self.size)]

    def _all(self, value: Any) -> list[Any]:
        with self._network.lock:
            slots = self._network.exchanges.setdefault(self._exchange, {})
            slots[self.rank] = value
        if self._network.failed.is_set():
            raise threading.BrokenBarrierError
        self._network.meeting.wait()
        self._exchange += 1
        return [slots[rank] for rank in range(self.size)]


def _copied(message: Any) -> Any:
    copy = np.empty_like(message)
    _finish(copy)  # a message that lay here may still be read by the rank that has let it go
    copy[...] = message
    _finish(copy)  # the receiver works on another stream
    return copy


def _finish(message: Any) -> None:
    """End whatever ranks have begun on the GPU where a message lies."""
    if not isinstance(message, np.ndarray):
        message.device.synchronize()


def on_ranks(
    size: int, work: Callable[[LocalChannel], T], *, patience: int = 0, seed: int = 0
) -> list[T]:
    """Run ``work(channel)`` on each of ``size`` ranks; the results, or the first rank's error.

    With an odd ``seed`` GPUs hand over messages in device memory.
    """
    network = Network(size, patience, seed, direct=seed % 2 == 1)
    results: list[Any] = [None] * size
    errors: dict[int, BaseException] = {}

    def rank_main(rank: int) -> None:
        try:
            results[rank] = work(LocalChannel(network, rank))
        except BaseException as error:  # noqa: BLE001 - carried to the caller's thread
            errors[rank] = error
            network.failed.set()
            for meeting in network.meetings:
                meeting.abort()

    threads = [
        threading.Thread(target=rank_main, args=(rank,), daemon=True) for rank in range(size)
    ]
    for thread in threads:
        thread.start()
    worked, began = time.process_time(), time.monotonic()
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(timeout=0.1)
        assert time.process_time() - worked < SPINNING_S, "a rank hangs"
        assert time.monotonic() - began < WAITING_S, "ranks wait for each other"
    own = [e for e in errors.values() if not isinstance(e, threading.BrokenBarrierError)]
    if errors:
        raise (own or list(errors.values()))[0]
    return results
