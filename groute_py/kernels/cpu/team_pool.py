"""The words and the pool of a team: `groute_py.kernels.cpu.team` says why the order suffices."""

from __future__ import annotations

from typing import Any, NamedTuple

from groute_py.kernels.cpu.atomics import (
    add,
    give_way,
    load,
    load_acquire,
    replace,
    store_release,
)
from groute_py.kernels.cpu.kernel import kernel

LINE = 16
"""Words of 8 bytes between two that threads change: two cache lines, which processors fetch."""

LOCK, STOPPED, STATES, TURNS = 0, LINE, 2 * LINE, 3
"""Places in the words of a team, int64: the lock of the pool; 1 when the slice is ended; states,
which buckets use one after the other."""

SIZES = STATES + TURNS * LINE
"""Places of the number of threads in a bucket, which buckets use in turn too."""

OPENING, CAME, LEFT = (SIZES + (TURNS + i) * LINE for i in range(3))
GROWTH, WORK = OPENING + 1, OPENING + 2
"""Places of the bucket opened last, and of the counts of threads but the first that have come to
the slice and left it; beside the opening, the width of the bucket in Δ, and the work before it."""

WORDS = LEFT + LINE

MEMBERS = 1 << 16
"""Unit of an opening: the buckets opened in this slice. Below is how many threads are in it."""

CLOSED = 1 << 32
"""Added to those who have come when the slice has ended."""

NO_BUCKET, TOO_LATE = -1, -2
"""Answers instead of an opening: the slice ended before the thread's first bucket, or before it
came."""

IDLE = 1 << 32
"""Unit of a state: a thread without work. Below is the count of what lies in the pool."""

POOL = 8192
"""Places in the pool."""


class Pool(NamedTuple):
    """Entries that wait for a thread without work, and the words and floors of a team."""

    words: Any
    floors: Any  # (TURNS · threads · LINE,): the least of each thread's far, for each turn
    works: Any  # int64, alike: the arcs that it has relaxed in the slice
    vertices: Any  # uint32, (POOL,)
    values: Any
    starts: Any  # (2,): threshold and begin of the bucket opened last
    spins: int  # looks after which a thread that waits lets others have its core
    fewest: int  # entries of near from which half are given away
    least: int  # arcs of a bucket for each thread, below which buckets are widened
    few: int  # entries of far up to which an idle thread looks for those of the next bucket


@kernel
def _lock(words: Any) -> Any:
    """Return True if this thread has the lock now."""
    return load(words, LOCK) == 0 and replace(words, LOCK, 0, 1)


@kernel
def give(pool: Any, state: Any, lists: Any, head: Any, tail: Any) -> Any:
    """Give half of near to idle threads, if nothing waits for them; return the new tail."""
    words, vertices, values = pool.words, pool.vertices, pool.values
    if not _lock(words):
        return tail
    count = min((tail - head) // 2, POOL)
    if load(words, state) & (IDLE - 1) == 0:
        tail -= count
        for i in range(count):
            vertices[i] = lists.near[tail + i]
            values[i] = lists.near_values[tail + i]
        add(words, state, count)
    store_release(words, LOCK, 0)
    return tail


@kernel
def take(pool: Any, state: Any, lists: Any) -> Any:
    """Move a share of the pool to the empty near; return how many. The thread is idle no more."""
    words, vertices, values = pool.words, pool.vertices, pool.values
    if not _lock(words):
        return 0
    counts = load(words, state)
    left, idle = counts & (IDLE - 1), counts // IDLE
    count = min((left + idle - 1) // idle, len(lists.near))
    for i in range(count):
        lists.near[i] = vertices[left - count + i]
        lists.near_values[i] = values[left - count + i]
    if count > 0:
        add(words, state, -IDLE - count)
    store_release(words, LOCK, 0)
    return count


@kernel
def look(words: Any, state: Any, team: Any) -> Any:
    """Return 0 at the end of the bucket, −1 at that of a slice, 1 if work waits, else 2."""
    stopped, counts = load_acquire(words, STOPPED), load_acquire(words, state)
    if counts == team * IDLE:
        return 0
    if counts & (IDLE - 1) > 0:
        return 1
    return -1 if stopped else 2


@kernel
def join(words: Any, number: Any, spins: Any) -> Any:
    """Return the opening of a thread's first bucket, `NO_BUCKET` or `TOO_LATE`."""
    opening = load_acquire(words, OPENING)
    if number == 0:
        return opening
    order = add(words, CAME, 1) + 1
    if order > CLOSED:
        return TOO_LATE
    looks = 0
    while load_acquire(words, CAME) < CLOSED and not load_acquire(words, STOPPED):
        opening = load_acquire(words, OPENING)
        if opening % MEMBERS > order:
            return opening
        looks += 1
        if looks > spins:
            give_way()
    return NO_BUCKET


@kernel
def leave(words: Any, number: Any, spins: Any) -> None:
    """End a thread's part in the slice; the first waits until all who have come leave."""
    if number > 0:
        add(words, LEFT, 1)
        return
    came = add(words, CAME, CLOSED)
    looks = 0
    while load_acquire(words, LEFT) < came:
        looks += 1
        if looks > spins:
            give_way()
