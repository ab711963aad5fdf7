"""Termination detection by Mattern's four-counter method ("Algorithms for distributed termination
detection", 1987), with votes as waves.

Every rank takes part in a series of nonblocking votes. In each it states its *floor*, the smallest
distance it still has to work on (infinite when it is idle), and how many messages it has sent and
received since the run began. All ranks see the same ballots, so all reach the same verdict.

**Rule.** The run is *quiet* when two successive votes both show every rank idle and as many
messages received as sent in all, and no count changed between them.

**Proof.** A rank fills in its ballot for vote k + 1 only after vote k has ended, and vote k ends
only after every rank has filled in its ballot. So there is a moment T after all ballots of vote k
and before all ballots of vote k + 1. Counts never fall, so a rank whose counts are equal in both
ballots neither sent nor received between them; at T its counts are those of the ballots. In all,
as many were received as sent, so at T no message is under way. Each rank was idle at its first
ballot and received nothing until its second; an idle rank gets work only by receiving; so every
rank is idle at T. With every rank idle and nothing under way nothing can ever happen again. ∎

A single rank is quiet as soon as it is idle, because no other rank can give it work. If its time
limit has passed by then, it stops with `TimeLimitError` instead.

**Targets.** If only some vertices are wanted, a rank also counts as idle when its floor lies beyond
the farthest of them, the *goal*. With weights that are not negative, work beyond the goal does not
change distances before it, so the proof holds for the work up to the goal.

Messages may be late or overtake each other: the rule uses counts only, never times. Spin verifies
it (tests/models/termination.pml).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Ballot(NamedTuple):
    """The statement of one rank in a vote; counts are exact in float64 up to 2⁵³."""

    floor: float  # the smallest distance left to work on; infinite when idle
    sent: int  # messages since the run began
    received: int
    relaxations: int = 0  # since the run began
    bucket_width: float = math.inf  # of the current bucket
    stop: int = 0  # 1 after this rank's time limit
    # the farthest target; −infinite without any, infinite if all vertices are wanted
    goal: float = math.inf


class Verdict(NamedTuple):
    """The conclusion of all ranks from a vote."""

    quiet: bool  # nothing is left to do anywhere
    floor: float  # the smallest distance left on any rank
    relaxations: int
    bucket_width: float  # the narrowest
    stop: bool  # some rank asked to stop
    goal: float = math.inf  # the farthest target; work beyond is not needed


class Coordinator:
    """Judges the votes of one run."""

    def __init__(self) -> None:
        self._last_calm: tuple[float, ...] | None = None

    def judge(self, ballots: Iterable[Sequence[float]]) -> Verdict:
        """Conclude from the ballots of the next vote, one of each rank."""
        # plain Python takes 1 µs for few ranks, NumPy 9 µs; that counts in small solves
        floors, sent, received, relaxations, widths, stops, goals = zip(*ballots, strict=True)
        calm, goal = None, max(goals)
        idle = min(floors) == math.inf or min(floors) > goal
        if idle and sum(sent) == sum(received):
            calm = (*sent, *received)
        stop, alone = any(stops), len(floors) == 1
        quiet = calm is not None and (calm == self._last_calm or (alone and not stop))
        self._last_calm = calm
        return Verdict(quiet, min(floors), int(sum(relaxations)), min(widths), stop, goal)
