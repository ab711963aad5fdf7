"""The loop: on threads as ranks, over a slow network; and how it ends before all is done."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.local_ranks import LocalChannel, on_ranks

from groute_py.comm.agree import everywhere
from groute_py.comm.base import SoloChannel, host_memory
from groute_py.comm.termination import Verdict
from groute_py.engine.loop import Pace, run
from groute_py.errors import RunError, TimeLimitError


class Tokens:
    """A task for the loop: items with distances, each of which may send others farther out."""

    def __init__(self, channel: Any, seed: int, items: int) -> None:
        self._channel = channel
        self._random = random.Random(1000 * seed + channel.rank)
        self._heap = [(1, 4)] * items
        self._boxes: list[tuple[int, Any]] = []
        self.made, self.worked = items, 0
        self.limits: list[float] = []

    def memory(self, size: int) -> Any:
        return host_memory(size)

    def merge(self, message: Any) -> None:
        distance, energy = message.view(np.int64).tolist()
        self._heap.append((distance, energy))

    def work(self, limit: float) -> float:
        self.limits.append(limit)
        if self._heap and min(self._heap)[0] <= limit:
            item = min(self._heap)
            self._heap.remove(item)
            self._work_off(*item)
        return min(self._heap)[0] if self._heap else math.inf

    def outgoing(self) -> list[tuple[int, Any]]:
        boxes, self._boxes = self._boxes, []
        return boxes

    def relaxations(self) -> int:
        return self.worked

    def counts(self) -> dict[str, int]:
        return {}

    def bucket_width(self) -> float:
        return 1.0

    def goal(self) -> float:
        return math.inf

    def _work_off(self, distance: int, energy: int) -> None:
        self.worked += 1
        peers = [p for p in range(self._channel.size) if p != self._channel.rank]
        for _ in range(self._random.randrange(4) if energy and peers else 0):
            item = np.array([distance + self._random.randrange(9), energy - 1], dtype=np.int64)
            self._boxes.append((self._random.choice(peers), item.view(np.uint8)))
            self.made += 1


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
@settings(max_examples=12)
@given(seed=st.integers(0, 999), patience=st.integers(0, 6), lead=st.sampled_from([1, math.inf]))
def test_the_loop_ends_when_all_is_done(ranks: int, seed: int, patience: int, lead: float) -> None:
    def work(channel: LocalChannel) -> tuple[int, int, int, int, int]:
        task = Tokens(channel, seed, items=(seed + channel.rank) % 3)
        votes = run(task, channel, Pace(lead))
        return votes, task.made, task.worked, channel.sent, channel.received

    results = on_ranks(ranks, work, patience=patience, seed=seed)
    votes, made, worked, sent, received = zip(*results, strict=True)
    assert sum(made) == sum(worked)
    assert sum(sent) == sum(received)
    assert len(set(votes)) == 1
    assert votes[0] >= min(ranks, 2)


def test_the_loop_without_peers() -> None:
    task = Tokens(SoloChannel(), 1, items=5)
    run(task, SoloChannel(), Pace())
    assert task.worked == task.made == 5


def test_no_rank_runs_ahead_of_the_lead() -> None:
    """Limits are the last floor of all ranks plus the lead, so they never pass the farthest."""

    def work(channel: LocalChannel) -> list[float]:
        task = Tokens(channel, 3, items=2)
        run(task, channel, Pace(lead=2.0))
        return task.limits

    limits = on_ranks(3, work, patience=2, seed=3)
    assert all(own[0] == 2.0 for own in limits)
    assert all(limit <= 4 * 9 + 1 + 2.0 for own in limits for limit in own if limit < math.inf)


def test_two_runs_in_a_row_keep_their_messages_apart() -> None:
    def work(channel: LocalChannel) -> list[tuple[int, int]]:
        counts = []
        for seed in range(6):
            task = Tokens(channel, seed, items=2)
            run(task, channel, Pace())
            counts.append((task.made, task.worked))
        return counts

    for counts in zip(*on_ranks(3, work, patience=4, seed=8), strict=True):
        made, worked = zip(*counts, strict=True)
        assert sum(made) == sum(worked)


class Endless:
    """A task that never ends."""

    def memory(self, size: int) -> Any:
        return host_memory(size)

    def merge(self, message: Any) -> None:
        """No messages come."""

    def work(self, limit: float) -> float:
        return 0.0

    def outgoing(self) -> list[tuple[int, Any]]:
        return []

    def relaxations(self) -> int:
        return 1

    def counts(self) -> dict[str, int]:
        return {}

    def bucket_width(self) -> float:
        return 1.0

    def goal(self) -> float:
        return math.inf


@pytest.mark.parametrize("late_rank", [0, 2])
def test_one_ranks_deadline_ends_all(late_rank: int) -> None:
    def work(channel: LocalChannel) -> TimeLimitError:
        deadline = time.monotonic() if channel.rank == late_rank else math.inf
        with pytest.raises(TimeLimitError, match="the time limit passed") as caught:
            run(Endless(), channel, Pace(deadline=deadline))
        return caught.value

    assert all(error.on_all_ranks for error in on_ranks(3, work, patience=2))


def test_an_inspection_ends_all() -> None:
    def inspect(verdict: Verdict) -> None:
        assert verdict == Verdict(False, 0.0, 3, 1.0, False)
        raise everywhere(RunError("seen"))

    def work(channel: LocalChannel) -> None:
        with pytest.raises(RunError, match="seen"):
            run(Endless(), channel, Pace(), inspect)

    on_ranks(3, work, patience=2)
