"""Numbers for names: a hash table of byte strings that lie one after another.

A slot of the table is two numbers: the hash of a name in the upper half and its number from 1 in
the lower half, then the place of the name among the known names. Names are compared byte by byte
where the hashes agree, so that no two are taken for one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.words import HALF, LOWER_HALF, NOTHING, ONE, are_equal, hash_of

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
