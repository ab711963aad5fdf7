"""Termination: never before all is done, always soon after, whatever messages and votes do.

The coordinator is driven alone, by schedules that hypothesis draws: each event is a rank that works
off an item, a message that arrives, or a rank that looks after its vote. Messages stay on the wire
and ranks do nothing for as long as the schedule likes. Weaker rules are fooled by some of the same
schedules, so the schedules are hard enough.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groute_py.comm.termination import Ballot, Coordinator, Verdict

WORK, DELIVER, VOTE = "work", "deliver", "vote"
Event = tuple[str, int, int]
"""What happens, a number that chooses the rank or message, and one that chooses what it does."""


class TooEarlyError(AssertionError):
    """A rank believed all was quiet while it was not."""


@dataclass
class Rank:
    """Items to work off, each with an energy that bounds what may come of it; and the vote."""

    items: list[int]
    judge: Any
    sent: int = 0
    received: int = 0
    vote: int = 0
    open: bool = False
    done: bool = False


@dataclass
class Simulation:
    """All ranks and the wire; `happen` is the only thing that changes them.

    Args:
        loads: the energies each rank begins with.
        rule: makes what judges the votes of one rank.
    """

    loads: list[list[int]]
    rule: Callable[[], Any] = Coordinator
    wire: list[tuple[int, int]] = field(default_factory=list)
    ballots: list[dict[int, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ranks = [Rank(list(load), self.rule()) for load in self.loads]

    @property
    def busy(self) -> bool:
        return bool(self.wire) or any(rank.items for rank in self.ranks)

    @property
    def over(self) -> bool:
        return all(rank.done for rank in self.ranks)

    def happen(self, event: Event) -> None:
        kind, which, how = event
        number = which % len(self.ranks)
        if kind == WORK and self.ranks[number].items:
            self._work(self.ranks[number], how)
        elif kind == DELIVER and self.wire:
            receiver, energy = self.wire.pop(which % len(self.wire))
            self.ranks[receiver].items.append(energy)
            self.ranks[receiver].received += 1
        elif kind == VOTE and not self.ranks[number].done:
            self._vote(number)

    def finish_work(self) -> None:
        """Everything but votes, until nothing is left to do."""
        while self.busy:
            self.happen((DELIVER, 0, 0))
            for number in range(len(self.ranks)):
                self.happen((WORK, number, 3 * number + 1))

    def _work(self, rank: Rank, how: int) -> None:
        energy = rank.items.pop()
        for _ in range(how % 3 if energy > 0 else 0):
            how //= 3
            self.wire.append((how % len(self.ranks), energy - 1))
            rank.sent += 1

    def _vote(self, number: int) -> None:
        """Fill in the ballot of the next vote, or look whether the open one has ended."""
        rank = self.ranks[number]
        if not rank.open:
            floor = 1.0 if rank.items else math.inf
            while len(self.ballots) <= rank.vote:
                self.ballots.append({})
            self.ballots[rank.vote][number] = Ballot(floor, rank.sent, rank.received)
            rank.open = True
        elif len(self.ballots[rank.vote]) == len(self.ranks):
            ballots = [self.ballots[rank.vote][peer] for peer in range(len(self.ranks))]
            verdict = rank.judge.judge(ballots)
            rank.vote, rank.open = rank.vote + 1, False
            rank.done = verdict.quiet
            if rank.done and self.busy:
                raise TooEarlyError(f"rank {number}: {self.wire} and {self.ranks}")


LOADS = st.lists(st.lists(st.integers(0, 3), max_size=2), min_size=1, max_size=5)
EVENTS = st.lists(
    st.tuples(st.sampled_from([WORK, DELIVER, VOTE]), st.integers(0, 9), st.integers(0, 99)),
    max_size=120,
)


def play(loads: list[list[int]], events: list[Event], rule: Callable[[], Any]) -> Simulation:
    simulation = Simulation(loads, rule)
    for event in events:
        simulation.happen(event)
    return simulation


@settings(max_examples=600)
@given(loads=LOADS, events=EVENTS)
def test_never_early_and_always_soon(loads: list[list[int]], events: list[Event]) -> None:
    """`Simulation` fails where a rank ends early; what remains to see is that all end, together."""
    simulation = play(loads, events, Coordinator)
    simulation.finish_work()
    begun = max(rank.vote + rank.open for rank in simulation.ranks)
    for _ in range(20):
        for number in range(len(loads)):
            simulation.happen((VOTE, number, 0))
    assert simulation.over
    votes = {rank.vote for rank in simulation.ranks}
    assert len(votes) == 1, "ranks end at different votes"
    assert votes.pop() <= begun + 2, "two votes that begin when all is done are enough"


def hard_schedule(seed: int) -> tuple[list[list[int]], list[Event]]:
    """Many events; ranks differ in speed, and runs in how long messages stay on the wire."""
    chance = random.Random(seed)
    loads = [[chance.randrange(5) for _ in range(chance.randrange(3))] for _ in range(4)]
    loads = loads[: chance.randint(2, 4)]
    speeds = [chance.choice([1, 10]) for _ in loads]
    kinds = chance.choices([WORK, DELIVER, VOTE], [chance.randint(1, 9) for _ in range(3)], k=300)
    which = chance.choices(range(len(loads)), speeds, k=300)
    hows = [chance.randrange(1000) for _ in kinds]
    return loads, list(zip(kinds, which, hows, strict=True))


@settings(max_examples=1000)
@given(seed=st.integers(0, 2**32))
def test_never_early_in_hard_schedules(seed: int) -> None:
    play(*hard_schedule(seed), Coordinator)


class Weaker:
    """A rule that forgets one of the conditions."""

    def __init__(self, *, counts: bool = True, twice: bool = True, unchanged: bool = True) -> None:
        self.counts, self.twice, self.unchanged = counts, twice, unchanged
        self.last: Any = None

    def judge(self, ballots: Any) -> Verdict:
        floors, sent, received, *_ = zip(*ballots, strict=True)
        calm = min(floors) == math.inf
        if self.counts:
            calm = calm and sum(sent) == sum(received)
        state = (sent, received) if self.unchanged else ()
        quiet = calm and (not self.twice or state == self.last)
        self.last = state if calm else None
        return Verdict(quiet, min(floors), 0, math.inf, False)


def early(loads: list[list[int]], events: list[Event], rule: Callable[[], Any]) -> bool:
    try:
        play(loads, events, rule)
    except TooEarlyError:
        return True
    return False


@pytest.mark.parametrize("forgotten", ["counts", "twice"])
def test_hard_schedules_fool_weaker_rules(forgotten: str) -> None:
    def rule() -> Weaker:
        return Weaker(unchanged=False, **{forgotten: False})

    fooled = [seed for seed in range(1000) if early(*hard_schedule(seed), rule)]
    assert fooled
    assert not any(early(*hard_schedule(seed), Coordinator) for seed in fooled)


BEHIND_THE_VOTE: list[Event] = [
    (VOTE, 1, 0),  # rank 1 is idle, and says so
    (WORK, 0, 4),  # rank 0 works and sends to rank 1
    (DELIVER, 0, 0),  # which is busy again
    (WORK, 1, 2),  # and sends two messages to rank 0
    (DELIVER, 0, 0),  # of which one arrives
    (WORK, 0, 0),  # and is worked off
    (VOTE, 0, 0),  # rank 0 is idle, has sent 1 and received 1: in all as many as sent
    (VOTE, 0, 0),  # the vote has ended
]


TWICE: list[Event] = [
    *BEHIND_THE_VOTE,
    (VOTE, 1, 0),  # rank 1 sees the end of the vote
    (VOTE, 1, 0),  # and says that it is idle: it has sent 2 and received 1
    (DELIVER, 0, 0),  # rank 0 gets the other message
    (WORK, 0, 4),  # works and sends to rank 1
    (DELIVER, 0, 0),
    (WORK, 1, 2),  # which again sends two messages
    (DELIVER, 0, 0),  # of which one arrives
    (WORK, 0, 0),
    (VOTE, 0, 0),  # rank 0 is idle, has sent 2 and received 3: again the sums agree
    (VOTE, 0, 0),
]


def among(ranks: int, events: list[Event]) -> list[Event]:
    """The same, where ranks from 2 on have nothing to do and vote whenever rank 1 does."""
    votes = [(VOTE, rank, 0) for rank in range(2, ranks)]
    return [e for event in events for e in (event, *(votes if event[:2] == (VOTE, 1) else ()))]


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize(
    ("events", "forgotten"), [(BEHIND_THE_VOTE, "twice"), (TWICE, "unchanged")]
)
def test_messages_behind_the_vote(events: list[Event], forgotten: str, ranks: int) -> None:
    """The classical trap: an idle rank gets work after its ballot, and the sums agree by chance."""
    loads, events = [[5]] + [[]] * (ranks - 1), among(ranks, events)
    assert early(loads, events, lambda: Weaker(**{"unchanged": False, forgotten: False}))
    simulation = play(loads, events, Coordinator)
    assert simulation.busy
    assert not simulation.over


def test_a_stalled_message() -> None:
    """However often idle ranks vote, a message on the wire keeps them waiting."""
    simulation = play([[1], []], [(WORK, 0, 4)], Coordinator)
    for number in range(200):
        simulation.happen((VOTE, number, 0))
    assert simulation.busy
    simulation.finish_work()
    for number in range(12):
        simulation.happen((VOTE, number, 0))
    assert simulation.over


def test_a_rank_alone_that_is_idle_takes_one_vote() -> None:
    coordinator = Coordinator()
    busy, idle = Ballot(7.5, 0, 0, 11), Ballot(math.inf, 0, 0, 12)
    quiet = [coordinator.judge([ballot]).quiet for ballot in (busy, idle)]
    assert quiet == [False, True]


def test_a_rank_alone_that_is_idle_too_late() -> None:
    verdict = Coordinator().judge([Ballot(math.inf, 0, 0, stop=1)])
    assert verdict.stop
    assert not verdict.quiet


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_idle_from_the_start_takes_two_votes(ranks: int) -> None:
    coordinator = Coordinator()
    ballots = [Ballot(math.inf, 0, 0)] * ranks
    assert not coordinator.judge(ballots).quiet
    assert coordinator.judge(ballots).quiet


def test_one_idle_rank_among_busy_ones() -> None:
    coordinator = Coordinator()
    ballots = [Ballot(math.inf, 0, 0), Ballot(7.5, 0, 0, 11)]
    for _ in range(3):
        assert coordinator.judge(ballots) == Verdict(False, 7.5, 11, math.inf, False)


def test_a_busy_vote_between_two_calm_ones() -> None:
    coordinator = Coordinator()
    idle = Ballot(math.inf, 3, 3)
    calm, busy = [idle, idle], [idle, Ballot(1.0, 3, 3)]
    assert [coordinator.judge(b).quiet for b in (calm, busy, calm, calm)] == [False] * 3 + [True]


def test_counts_are_exact_beyond_32_bits() -> None:
    coordinator = Coordinator()
    many = 2**52
    for sent, quiet in ((many, False), (many + 1, False), (many + 1, True)):
        ballots = [Ballot(math.inf, sent, 0), Ballot(math.inf, 0, sent)]
        assert coordinator.judge(ballots).quiet == quiet


@given(st.lists(st.booleans(), min_size=1, max_size=5))
def test_one_rank_can_stop_all(stops: list[bool]) -> None:
    ballots = [Ballot(1.0, 0, 0, 0, 1.0, stop) for stop in stops]
    assert Coordinator().judge(ballots).stop == any(stops)


def test_beyond_the_goal_a_rank_is_idle() -> None:
    def verdicts(*floors: float, goal: float, sent: int = 4) -> list[bool]:
        ballots = [
            Ballot(floor, sent, 4, goal=g) for floor, g in zip(floors, goals(goal), strict=True)
        ]
        coordinator = Coordinator()
        return [coordinator.judge(ballots).quiet for _ in range(2)]

    def goals(goal: float) -> list[float]:
        return [-math.inf, goal]  # the first rank owns no target

    assert verdicts(60.0, 51.0, goal=50.0) == [False, True]
    assert verdicts(60.0, math.inf, goal=50.0) == [False, True]
    assert verdicts(60.0, 50.0, goal=50.0) == [False, False]
    assert verdicts(60.0, 51.0, goal=50.0, sent=5) == [False, False]
    assert verdicts(60.0, 51.0, goal=math.inf) == [False, False]
    assert verdicts(math.inf, math.inf, goal=math.inf) == [False, True]
