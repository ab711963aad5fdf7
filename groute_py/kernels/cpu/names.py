"""Numbers for names: a hash table of byte strings that lie one after another.

A slot of the table is two numbers: the hash of a name in the upper half and its number from 1 in
the lower half, then the place of the name among the known names. Names are compared byte by byte
where the hashes agree, so that no two are taken for one.

Comparison, hashing and the search for the end of a field take eight bytes at a time. These
functions are inlined, and have one return each, so that Numba counts no references to the texts:
that costs more than the work on a short field.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import inlined_kernel, kernel

NOTHING, ONE, EIGHT, NINE = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(9)
HALF = np.uint64(32)
LOWER_HALF = np.uint64(0xFFFFFFFF)
MIX = np.uint64(0xFF51AFD7ED558CCD)
EACH = np.uint64(0x0101010101010101)
"""A byte times this is that byte eight times."""
HIGH_BITS = np.uint64(0x8080808080808080)
LAST_BYTE = np.uint64(56)


@inlined_kernel
def word(text: NDArray[np.uint8], p: np.uint64) -> np.uint64:
    """The eight bytes from `p` on, the first one lowest; the compiler makes one load of this."""
    low = (
        np.uint64(text[p])
        | np.uint64(text[p + np.uint64(1)]) << np.uint64(8)
        | np.uint64(text[p + np.uint64(2)]) << np.uint64(16)
        | np.uint64(text[p + np.uint64(3)]) << np.uint64(24)
    )
    high = (
        np.uint64(text[p + np.uint64(4)])
        | np.uint64(text[p + np.uint64(5)]) << np.uint64(8)
        | np.uint64(text[p + np.uint64(6)]) << np.uint64(16)
        | np.uint64(text[p + np.uint64(7)]) << np.uint64(24)
    )
    return low | high << HALF


@inlined_kernel
def first_below(text: NDArray[np.uint8], p: np.uint64, limit: Any, other: Any) -> np.uint64:
    """The first place from ``p`` of a byte that is ``other`` or below ``limit``, at most 128.

    There must be one. A byte less ``limit`` borrows into its highest bit where it is less. A borrow
    also goes on into the bytes above it, so only the lowest of the bits that are found is sure
    (Warren, Hacker's Delight, 2nd ed., section 6-1).
    """
    limits, others = np.uint64(limit) * EACH, np.uint64(other) * EACH
    hits, stop = NOTHING, np.uint64(len(text))
    while hits == NOTHING and p + EIGHT <= stop:
        here = word(text, p)
        same = here ^ others
        hits = ((here - limits) & ~here | (same - EACH) & ~same) & HIGH_BITS
        p += EIGHT
    if hits != NOTHING:
        below = (hits - ONE) & ~hits  # ends with a bit of the byte that is found
        p += ((below & EACH) * EACH >> LAST_BYTE) - NINE
    while text[p] >= limit and text[p] != other:
        p += ONE
    return p


@inlined_kernel
def are_equal(
    a: NDArray[np.uint8], p: np.uint64, b: NDArray[np.uint8], q: np.uint64, size: np.uint64
) -> bool:
    """Return True if the bytes from `p` on in one text are those from `q` on in the other."""
    k = NOTHING
    while k + EIGHT <= size and word(a, p + k) == word(b, q + k):
        k += EIGHT
    if k > NOTHING and size < k + EIGHT:  # the last eight bytes overlap those before
        k = size - EIGHT
        if word(a, p + k) == word(b, q + k):
            k = size
    while k < size and a[p + k] == b[q + k]:
        k += ONE
    return bool(k == size)


@inlined_kernel
def hash_of(text: NDArray[np.uint8], p: np.uint64, size: np.uint64, seed: np.uint64) -> np.uint64:
    """A hash of 32 bits of the ``size`` bytes from ``p`` on.

    Each step multiplies the halves of a word by each other, after ``seed``, unknown to whoever
    writes the names, has gone into both. A product by a constant would leave a change of the
    highest bit alone, so that anybody could write names that collide.
    """
    code, last, k = seed, NOTHING, NOTHING
    if size < EIGHT:
        while k < size:
            last = last << EIGHT | np.uint64(text[p + k])
            k += ONE
    else:
        while k + EIGHT < size:
            code = _mixed(code ^ word(text, p + k))
            k += EIGHT
        last = word(text, p + size - EIGHT)
    code = _mixed(code ^ last) + size * MIX
    mixed: np.uint64 = (code ^ code >> HALF) * MIX
    return mixed >> HALF


@kernel
def _mixed(code: np.uint64) -> np.uint64:
    """Both halves multiplied by each other, and all of it by a constant, added."""
    product: np.uint64 = (code & LOWER_HALF) * (code >> HALF)
    return product + (code ^ code >> HALF) * MIX


START, SIZE, HASH = 0, 1, 2
"""Columns of the table of the names of a text, uint32, shape (names, 3)."""
NEWLINE = 10
AHEAD = 64
"""Names whose memory is loaded together."""


@kernel
def hash_names(text: NDArray[np.uint8], seed: np.uint64, names: NDArray[np.uint32]) -> None:
    """Fill in the hashes of names (uint32, (k, 3)) whose starts and sizes in the text are known."""
    for name in range(len(names)):
        start, size = np.uint64(names[name, START]), np.uint64(names[name, SIZE])
        names[name, HASH] = hash_of(text, start, size, seed)


@kernel
def number_names(
    text: NDArray[np.uint8],
    names: NDArray[np.uint32],
    done: int,
    slots: NDArray[np.uint64],
    spellings: NDArray[np.uint8],
    used: int,
    count: int,
    numbers: NDArray[np.int32],
) -> tuple[int, np.int64, int, int]:
    """Number names of a text; new ones get the numbers that follow.

    Where names are many, time is latency of memory. So some memory of all names is loaded before
    the first is looked up: these loads do not wait for each other.

    ``names`` (uint32, (k, 3)) have no newline; the first ``done`` have their ``numbers`` (int32,
    (k,)). ``slots`` (uint64, (a power of two, 2)) are 0 where free. ``spellings`` (uint8, with room
    for more) are ``count`` names so far in ``used`` bytes, a newline behind each.

    Returns how many are done (fewer than all where there is no room), the new ``used`` and
    ``count``, and a sum that keeps the early loads from being left out.
    """
    mask, loaded = np.uint64(len(slots) - 1), 0
    end = np.uint64(used)
    for name in range(done, len(names)):
        if (name - done) % AHEAD == 0:
            for later in range(name, min(name + AHEAD, len(names))):
                loaded += spellings[slots[np.uint64(names[later, HASH]) & mask, 1]]
        start, size = np.uint64(names[name, START]), np.uint64(names[name, SIZE])
        code = np.uint64(names[name, HASH])
        at = code & mask
        number: Any = -1
        while slots[at, 0] != NOTHING:
            if slots[at, 0] >> HALF == code:
                place = slots[at, 1]
                is_as_long = place + size < end and spellings[place + size] == NEWLINE
                if is_as_long and are_equal(spellings, place, text, start, size):
                    number = np.int64(slots[at, 0] & LOWER_HALF) - 1
                    break
            at = (at + ONE) & mask
        if number < 0:
            if 2 * (count + 1) > len(slots) or end + size >= np.uint64(len(spellings)):
                return name, np.int64(end), count, loaded
            number = count
            count += 1
            slots[at, 0] = code << HALF | np.uint64(count)
            slots[at, 1] = end
            for k in range(size):
                spellings[end + k] = text[start + k]
            spellings[end + size] = NEWLINE
            end += size + ONE
        numbers[name] = number
    return len(names), np.int64(end), count, loaded


@kernel
def copy_slots(slots: NDArray[np.uint64], larger: NDArray[np.uint64]) -> None:
    """Fill a larger table, all free, with what is in the slots of another."""
    mask = np.uint64(len(larger) - 1)
    for slot in range(len(slots)):
        if slots[slot, 0] != NOTHING:
            at = (slots[slot, 0] >> HALF) & mask
            while larger[at, 0] != NOTHING:
                at = (at + ONE) & mask
            larger[at, 0], larger[at, 1] = slots[slot, 0], slots[slot, 1]
