"""Threads that share the parts of a phase of work, and meet at its end.

A part of a phase is one thread's: `next_part` counts them atomically. What threads write in a phase
the others read only behind `meet`: arrivals release it, and the barrier, which the last to arrive
raises, is acquired. All words are zero at first. The caller of the threads may set `STOP` at any
time; each thread then takes no more parts and waits for nobody.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from groute_py.kernels.cpu.atomics import add, give_way, load, load_acquire, store_release
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.team_pool import LINE

ARRIVALS, BARRIER, STOP, TAKEN = 0, LINE, 2 * LINE, 3 * LINE
"""Places in the words: how many wait, meetings so far, not 0 to end, parts taken of each phase."""


class ThreadTeam(NamedTuple):
    """Threads that work together."""

    words: Any  # int64, `TAKEN` and `LINE` for each phase
    size: int
    spins: int  # looks after which a thread that waits lets others have its core


@kernel
def next_part(team: Any, phase: Any, count: Any) -> Any:
    """Return the number of one of ``count`` parts that is this thread's; −1 if none is left."""
    if load(team.words, STOP):
        return -1
    part = add(team.words, TAKEN + phase * LINE, 1)
    return part if part < count else -1


@kernel
def meet(team: Any) -> None:
    """Wait for all threads."""
    words = team.words
    meeting = load(words, BARRIER)
    if add(words, ARRIVALS, 1) == team.size - 1:
        store_release(words, ARRIVALS, 0)
        store_release(words, BARRIER, meeting + 1)
    spins = 0
    while load_acquire(words, BARRIER) == meeting and not load(words, STOP):
        spins += 1
        if spins > team.spins:
            give_way()
