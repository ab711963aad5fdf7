"""Near–far relaxation of one graph by a team of threads, as of `groute_py.kernels.cpu.near_far`.

Each thread has worklists of its own. An *entry* is a vertex and the distance that it came with; who
lowers a distance makes one, so there is always one entry that holds for each vertex that is left,
and entries whose vertex has improved since are dropped. A thread without work is *idle*; a busy one
that sees this puts half of its near into the *pool*. When all are idle and the pool is empty, the
bucket has ended, and each opens the next one from its own far. Buckets with so little work that
waiting takes longer are widened. With local buckets and work that moves only on demand this is
between the Δ-stepping of GAPBS (Beamer et al. 2015) and Wasp (SC 2025).

What threads share, and the order that each needs (relaxed, acquire and release as in C++):

* A distance only falls, by `replace` in a loop; relaxed would do, as nothing else is read because
  of its value. A value that is old is too high. Then `replace` fails, and the loop looks again. A
  value that is low enough to make a thread pass is one that the vertex has had, so the vertex is as
  near.
* An entry in the pool, and its distance, are written and read under the lock: `replace` takes it
  (acquire), `store_release` frees it. So whoever takes an entry sees the distance it came with, or
  a lower one, and drops no entry that holds.
* A state counts idle threads and what lies in the pool, in one word, so that one look sees both. A
  thread adds itself when its near is empty; all other changes are made under the lock, by busy
  threads or with entries from the pool. All idle and nothing in the pool therefore stays so, all
  threads see it (acquire), and by it the bucket has ended: it is the barrier. A busy thread reads
  the state relaxed, as a hint to give.
* Buckets use three states in turn. In bucket k all threads have left k − 2, since nobody enters k
  before all are idle in k − 1. So the first thread then makes that state 0 for bucket k + 1, before
  it is idle in k, thus before anyone uses the state.
* A thread's floor and work are written before it adds itself (release), and read when all are idle
  (acquire). They too have three places in turn: those of bucket k are written again in k + 3, when
  every thread has read them. All threads read the same, so they agree on the next bucket.
* A slice is ended (release) by a busy thread, which leaves without being idle in this bucket, so
  that never all are, and each thread leaves in it; or by a caller that is at work no more. If that
  has seen all idle, so does a thread that sees the end (acquire) and then looks at the state. A
  busy thread may see the end late (relaxed).

Lists, cursors and counts are a thread's own. Between slices they pass to other threads through the
queue of the thread pool, which orders everything. Sums of non-negative floats are monotone, so the
distances are the same in every order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.atomics import (
    add,
    give_way,
    load,
    load_acquire,
    prefetch,
    replace,
    store_release,
)
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, OVERFLOWED, RELAXATIONS, does_not_fit

HEAD, TAIL, FAR_COUNT, NEEDED = 0, 1, 2, 7
"""Places in a thread's cursors, int64, beside `RELAXATIONS`, `BUCKETS` and `OVERFLOWED`: near is
from the head to the tail; so many places a list needs before the thread can go on."""

AHEAD, MOST = 8, np.uint64(8)
"""Entries by which a thread loads ahead, and the heads of one."""

LINE = 16
"""Words of 8 bytes between two that threads change: two cache lines, which processors fetch."""

LOCK, STOPPED, STATES, TURNS = 0, LINE, 2 * LINE, 3
"""Places in the words of a team, int64: the lock of the pool; 1 when the slice is ended; states,
which buckets use one after the other."""

WORDS = STATES + TURNS * LINE

IDLE = 1 << 32
"""Unit of a state: a thread without work. Below is the count of what lies in the pool."""

POOL = 8192
"""Places in the pool."""

PATIENCE, BUSY = 8, 4
"""Buckets after which their width is looked at, so that a graph of few has none that are far too
wide; multiple of the least work from which they are narrowed."""


class Lists(NamedTuple):
    """The worklists of one thread. An entry is a vertex and the distance with which it came."""

    near: Any  # uint32
    near_values: Any
    far: Any  # as many
    far_values: Any
    least: Any  # (1,): the smallest distance in far, or `nothing`
    at: Any


class Pool(NamedTuple):
    """Entries that wait for a thread without work, and the words and floors of a team."""

    words: Any
    floors: Any  # (TURNS · threads · LINE,): the least of each thread's far, for each turn
    works: Any  # int64, alike: the arcs that it has relaxed in the slice
    vertices: Any  # uint32, (POOL,)
    values: Any
    spins: int  # looks after which a thread that waits lets others have its core
    fewest: int  # entries of near from which half are given away
    least: int  # arcs of a bucket for each thread, below which buckets are widened


@kernel
def _lock(words: Any) -> Any:
    """Return True if this thread has the lock now."""
    return load(words, LOCK) == 0 and replace(words, LOCK, 0, 1)


@kernel
def _give(pool: Any, state: Any, lists: Any, head: Any, tail: Any) -> Any:
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
def _take(pool: Any, state: Any, lists: Any) -> Any:
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
def _wait_for_work(pool: Any, state: Any, lists: Any, team: Any) -> Any:
    """Return how many entries were taken; 0 at the end of the bucket, −1 at that of a slice."""
    words = pool.words
    add(words, state, IDLE)
    spins = 0
    while True:
        stopped, counts = load_acquire(words, STOPPED), load_acquire(words, state)
        if counts == team * IDLE:
            return 0
        if counts & (IDLE - 1) > 0:
            count = _take(pool, state, lists)
            if count > 0:
                return count
        if stopped:
            return -1
        spins += 1
        if spins > pool.spins:
            give_way()


@kernel
def _floor_of_all(floors: Any, first: Any, last: Any, nothing: Any) -> Any:
    """Return the least of the far of all threads, which stand in those places."""
    floor = nothing
    for place in range(first, last, LINE):
        floor = min(floor, load(floors, place))
    return floor


@kernel
def _growth(growth: Any, most: Any, work: Any, least: Any) -> Any:
    """Return how many Δ the next buckets are to be wide, by the work of those before."""
    if work < least:
        return min(2 * growth, most)
    return max(growth // 2, 1) if work > BUSY * least else growth


@kernel
def _live(distances: Any, vertices: Any, values: Any, first: Any, last: Any) -> Any:
    """Move the entries that still hold to the begin; return how many."""
    left = 0
    for i in range(first, last):
        if load(distances, vertices[i]) == values[i]:
            vertices[left] = vertices[i]
            values[left] = values[i]
            left += 1
    return left


@kernel
def _open(distances: Any, lists: Any, floor: Any, threshold: Any, nothing: Any) -> Any:
    """Move far entries below the threshold to the empty near; return counts and the floor left."""
    near, near_values, far, far_values, _, at = lists
    moved, left = 0, 0
    least = nothing
    for i in range(at[FAR_COUNT]):
        vertex, value = far[i], far_values[i]
        if load(distances, vertex) != value:
            continue
        if value < threshold or value == floor:
            near[moved] = vertex
            near_values[moved] = value
            moved += 1
        else:
            far[left] = vertex
            far_values[left] = value
            left += 1
            least = min(least, value)
    return moved, left, least


@kernel
def relax(
    arcs: Any,
    distances: Any,
    lists: Any,
    pool: Any,
    bucket: Any,
    widths: Any,
    number: Any,
    bounds: Any,
) -> Any:
    """Relax a slice as thread ``number`` of a team, which all of its threads must do.

    ``bucket`` is its threshold, its begin, and how many Δ wide it is, up to as many as the second
    of the ``widths`` says; the first is Δ. Returns the smallest distance left, or ``nothing``, and
    the bucket in which the slice has ended; they are the same for all threads.
    """
    offsets, heads, weights = arcs
    near, near_values, far, far_values, own_least, at = lists
    words, floors, works = pool.words, pool.floors, pool.works
    limit, cutoff, nothing, budget = bounds
    size = len(floors) // TURNS
    team = size // LINE
    threshold, begin, growth = bucket
    delta, most = widths
    one, room = np.uint64(1), len(near)
    first, last, far_count = at[HEAD], at[TAIL], at[FAR_COUNT]
    done: Any = 0
    work: Any = 0
    turn: Any = 0
    floor = nothing
    least = own_least[0]
    while True:
        state = STATES + turn * LINE
        if done >= budget:
            store_release(words, STOPPED, 1)
            floor = begin
            break
        if first == last:
            store_release(floors, turn * size + number * LINE, least)
            store_release(works, turn * size + number * LINE, done)
            first, last = 0, _wait_for_work(pool, state, lists, team)
            if last < 0:
                last = 0
                floor = begin
                break
            if last == 0:
                place = turn * size
                floor = _floor_of_all(floors, place, place + size, nothing)
                if floor == nothing or float(floor) > limit:
                    break
                begin = floor
                if at[BUCKETS] % PATIENCE == PATIENCE - 1:
                    before, work = work, 0
                    for i in range(place, place + size, LINE):
                        work += load(works, i)
                    growth = _growth(growth, most, work - before, PATIENCE * team * pool.least)
                width = growth * delta
                threshold = floor + width if floor < nothing - width else nothing
                at[FAR_COUNT] = far_count
                last, far_count, least = _open(distances, lists, floor, threshold, nothing)
                at[BUCKETS] += 1
                turn = (turn + 1) % TURNS
                if number == 0:
                    store_release(words, STATES + (turn + 1) % TURNS * LINE, 0)
                continue
        if load(words, STOPPED):
            floor = begin
            break
        counts = load(words, state)
        if counts != 0 and counts & (IDLE - 1) == 0 and last - first >= pool.fewest:
            last = _give(pool, state, lists, first, last)
        tail, base = near[first], near_values[first]
        if last - first > AHEAD:
            soon, sooner = near[first + AHEAD], near[first + AHEAD // 2]
            prefetch(distances, soon)
            prefetch(offsets, soon)
            row = offsets[sooner]
            prefetch(weights, row)
            for place in range(row, min(row + MOST, offsets[sooner + one])):
                prefetch(distances, heads[place])
        first += 1
        if load(distances, tail) != base:
            continue
        arc, end = offsets[tail], offsets[tail + one]
        degree = np.int64(end - arc)
        if max(last, far_count) + degree + 1 > room:
            last = _live(distances, near, near_values, first - 1, last)
            far_count = _live(distances, far, far_values, 0, far_count)
            first = 0
            if 2 * max(last, far_count) + degree + 1 > room:
                at[NEEDED] = 4 * max(last, far_count) + degree + 1
                store_release(words, STOPPED, 1)
                floor = begin
                break
            continue
        if base >= threshold and base != begin:
            far[far_count], far_values[far_count] = tail, base
            far_count += 1
            least = min(least, base)
            continue
        done += degree
        while arc < end:
            head, weight = heads[arc], weights[arc]
            arc += one
            reach = base + weight
            old = load(distances, head)
            if reach < old:
                if reach > cutoff or does_not_fit(base, weight, nothing):
                    at[OVERFLOWED] |= cutoff == nothing
                    continue
                while not replace(distances, head, old, reach):
                    old = load(distances, head)
                    if reach >= old:
                        break
                if reach >= old:
                    continue
                if reach < threshold:
                    near[last], near_values[last] = head, reach
                    last += 1
                else:
                    far[far_count], far_values[far_count] = head, reach
                    far_count += 1
                    least = min(least, reach)
            elif old == nothing or does_not_fit(base, weight, nothing):
                at[OVERFLOWED] |= cutoff == nothing
    at[HEAD], at[TAIL], at[FAR_COUNT] = first, last, far_count
    at[RELAXATIONS] += done
    own_least[0] = least
    return floor, threshold, begin, growth


@kernel
def stop(words: Any) -> None:
    """End the slice."""
    store_release(words, STOPPED, 1)
