"""Near–far relaxation of one graph by a team of threads, as of `groute_py.kernels.cpu.near_far`.

Each thread has worklists of its own. An *entry* is a vertex and the distance that it came with; who
lowers a distance makes one, so there is always one entry that holds for each vertex that is left,
and entries whose vertex has improved since are dropped. A thread without work is *idle*; a busy one
that sees this puts half of its near into the *pool*. When all are idle and the pool is empty, the
bucket has ended, and each opens the next one from its own far. Buckets with so little work that
waiting takes longer are widened, and there an idle thread already relaxes its own entries of the
next bucket. A solve begins with the caller alone; others join when they come. With local buckets
and work that moves only on demand this is between the Δ-stepping of GAPBS (Beamer et al. 2015) and
Wasp (SC 2025).

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
* An idle thread makes entries at or above the threshold only, and keeps them, so no bucket goes on
  because of it. The floor that it has written may by then be less than the least of its far; all
  still read the same, and the next bucket begins lower than it could.
* Who comes counts itself, and is in no bucket yet. Before the first thread is idle in bucket k it
  writes how many are in k + 1, never fewer than in k. That is read when all are idle, and has three
  places in turn. When it opens k + 1 it writes the bounds of the bucket, then the opening
  (release). Who waits reads the opening (acquire) and then the bounds. If it is in the bucket, that
  does not end without it, so the bounds are not written again before.
* At the end the first thread closes the count of those who have come. Who comes later leaves at
  once and touches nothing else. The first waits until all others have left (release, acquire), so
  what they wrote is its caller's. They may be in Python still.
* A thread's floor and work are written before it adds itself (release), and read when all are idle
  (acquire). They too have three places in turn: those of bucket k are written again in k + 3, when
  every thread has read them. All threads read the same, so they agree on the next bucket.
* A slice is stopped (release) by a busy thread, which leaves without being idle in this bucket, so
  that never all are, and each thread leaves in it. Who has seen all idle before sees it still, for
  a thread looks at the end (acquire) and then at the state. A busy thread may see the end late
  (relaxed). Python writes the end too where a thread has failed; then the answer is not used.

Lists, cursors and counts are a thread's own. Between slices they pass to other threads through the
queue of the thread pool, which orders everything. Sums of non-negative floats are monotone, so the
distances are the same in every order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.algebra import does_not_fit, extend
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
from groute_py.kernels.cpu.near_far import BUCKETS, OVERFLOWED, RELAXATIONS
from groute_py.kernels.cpu.team_pool import (
    CAME,
    GROWTH,
    IDLE,
    LINE,
    MEMBERS,
    OPENING,
    SIZES,
    STATES,
    STOPPED,
    TOO_LATE,
    TURNS,
    WORK,
    give,
    join,
    leave,
    look,
    take,
)

HEAD, TAIL, FAR_COUNT, NEEDED = 0, 1, 2, 7
"""Places in a thread's cursors, int64, beside `RELAXATIONS`, `BUCKETS` and `OVERFLOWED`: near is
from the head to the tail; so many places a list needs before the thread can go on."""

AHEAD, MOST = 8, np.uint64(8)
"""Entries by which a thread loads ahead, and the heads of one."""

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
def _open(distances: Any, lists: Any, moved: Any, floor: Any, threshold: Any, nothing: Any) -> Any:
    """Move far entries below the threshold to near, which has some; return counts, floor left."""
    near, near_values, far, far_values, _, at = lists
    left = 0
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
def _put_back(lists: Any, first: Any, last: Any, far_count: Any, least: Any) -> Any:
    """Move what is left in near to far; return the count and floor of far."""
    near, near_values, far, far_values, _, _ = lists
    for i in range(first, last):
        far[far_count], far_values[far_count] = near[i], near_values[i]
        least = min(least, near_values[i])
        far_count += 1
    return far_count, least


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
    """Relax a slice as thread ``number`` of a team, which the first, its caller, begins and ends.

    ``bucket`` is its threshold, its begin, and how many Δ wide it is, up to as many as the second
    of the ``widths`` says; the first is Δ. Returns the smallest distance left, or ``nothing``, and
    the bucket in which the slice has ended; they hold for the first thread.
    """
    offsets, heads, weights = arcs
    near, near_values, far, far_values, own_least, at = lists
    words, floors, works = pool.words, pool.floors, pool.works
    limit, cutoff, nothing, budget = bounds
    size = len(floors) // TURNS
    threshold, begin, growth = bucket
    delta, most = widths
    one, room = np.uint64(1), len(near)
    first, last, far_count = at[HEAD], at[TAIL], at[FAR_COUNT]
    done: Any = 0
    work: Any = 0
    opened: Any = 0
    spins: Any = 0
    floor = nothing
    least = own_least[0]
    opening = join(words, number, pool.spins)
    if opening == TOO_LATE:
        return floor, threshold, begin, growth
    team = opening % MEMBERS
    if opening >= MEMBERS:
        opened = opening // MEMBERS
        threshold, begin = pool.starts[0], pool.starts[1]
        growth, work = words[GROWTH], words[WORK]
    turn = opened % TURNS
    border = threshold
    idle, rests = False, False
    while opening >= 0:
        state = STATES + turn * LINE
        if not idle:
            if done >= budget:
                store_release(words, STOPPED, 1)
                floor = begin
                break
            if first == last:
                store_release(floors, turn * size + number * LINE, least)
                store_release(works, turn * size + number * LINE, done)
                if number == 0:
                    came = load_acquire(words, CAME) + 1
                    words[SIZES + (turn + 1) % TURNS * LINE] = max(team, came)
                add(words, state, IDLE)
                idle, rests, spins = True, False, 0
                first, last = 0, 0
                if most > 1 and far_count <= pool.few:
                    width = growth * delta
                    border = threshold + width if threshold < nothing - width else nothing
                    at[FAR_COUNT] = far_count
                    last, far_count, least = _open(distances, lists, 0, nothing, border, nothing)
        if idle:
            found = look(words, state, team)
            if found < 0:
                floor = begin
                break
            if found == 0:
                place = turn * size
                floor = _floor_of_all(floors, place, place + size, nothing)
                if floor == nothing or float(floor) > limit:
                    break
                begin = floor
                if opened % PATIENCE == PATIENCE - 1:
                    before, work = work, 0
                    for i in range(place, place + size, LINE):
                        work += load(works, i)
                    growth = _growth(growth, most, work - before, PATIENCE * team * pool.least)
                width = growth * delta
                threshold = floor + width if floor < nothing - width else nothing
                border, idle = threshold, False
                at[BUCKETS] += 1
                opened += 1
                turn = opened % TURNS
                team = words[SIZES + turn * LINE]
                if number == 0:
                    store_release(words, STATES + (turn + 1) % TURNS * LINE, 0)
                    pool.starts[0], pool.starts[1] = threshold, begin
                    words[GROWTH], words[WORK] = growth, work
                    store_release(words, OPENING, opened * MEMBERS + team)
                if least < threshold or least == floor:
                    at[FAR_COUNT] = far_count
                    last, far_count, least = _open(
                        distances, lists, last, floor, threshold, nothing
                    )
                continue
            if found == 1:
                far_count, least = _put_back(lists, first, last, far_count, least)
                first, last = 0, take(pool, state, lists)
                if last > 0:
                    border, idle = threshold, False
                    continue
            if first == last or rests or done >= budget:
                spins += 1
                if spins > pool.spins:
                    give_way()
                continue
        else:
            if load(words, STOPPED):
                floor = begin
                break
            counts = load(words, state)
            if counts != 0 and counts & (IDLE - 1) == 0 and last - first >= pool.fewest:
                last = give(pool, state, lists, first, last)
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
        if idle and last + far_count + degree + 1 > room:
            first -= 1
            rests = True
            continue
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
        if base >= border and base != begin:
            far[far_count], far_values[far_count] = tail, base
            far_count += 1
            least = min(least, base)
            continue
        done += degree
        while arc < end:
            head, weight = heads[arc], weights[arc]
            arc += one
            reach = extend(base, weight)
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
                if reach < border:
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
    leave(words, number, pool.spins)
    return floor, threshold, begin, growth
