"""Numbers for names: a hash table of byte strings that lie one after another.

A slot holds the upper half of a name's hash and, in the lower half, its number from 1. Names are
compared byte by byte where the halves agree, so that no two are taken for one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

PRIME = np.uint64(0x100000001B3)
MIX = np.uint64(0xFF51AFD7ED558CCD)
HALF = np.uint64(32)
NUMBER = np.uint64(0xFFFFFFFF)
NOTHING, ONE = np.uint64(0), np.uint64(1)
NEWLINE = 10
AHEAD = 64
"""Names whose memory is loaded together."""


@njit(cache=True, nogil=True)
def interleaved(
    tails: NDArray[np.uint8],
    tail_offsets: NDArray[Any],
    heads: NDArray[np.uint8],
    head_offsets: NDArray[Any],
    letters: NDArray[np.uint8],
    offsets: NDArray[np.int64],
) -> None:
    """Copy names one after another, each tail before its head.

    Args:
        tails: uint8, the tails one after another.
        tail_offsets: int32, shape (rows + 1,), where each begins.
        heads, head_offsets: likewise.
        letters: uint8, to be filled; as long as tails and heads together.
        offsets: int64, shape (2 * rows + 1,), to be filled.
    """
    end = NOTHING
    offsets[0] = 0
    for row in range(len(tail_offsets) - 1):
        for place in range(np.uint64(tail_offsets[row]), np.uint64(tail_offsets[row + 1])):
            letters[end] = tails[place]
            end += ONE
        offsets[2 * row + 1] = np.int64(end)
        for place in range(np.uint64(head_offsets[row]), np.uint64(head_offsets[row + 1])):
            letters[end] = heads[place]
            end += ONE
        offsets[2 * row + 2] = np.int64(end)


@njit(cache=True, nogil=True)
def hash_names(
    text: NDArray[np.uint8], offsets: NDArray[Any], seed: np.uint64, hashes: NDArray[np.uint64]
) -> None:
    """Hash each name (FNV-1a from `seed`, and mixed), into `hashes`, shape (names,).

    Args:
        text: uint8, the names one after another.
        offsets: int64, shape (names + 1,), where each begins.
        seed: any number; unknown to who writes the names, so that nobody can make them collide.
        hashes: uint64, shape (names,), to be filled.
    """
    for name in range(len(hashes)):
        code = seed
        for place in range(np.uint64(offsets[name]), np.uint64(offsets[name + 1])):
            code = (code ^ np.uint64(text[place])) * PRIME
        code = (code ^ (code >> HALF)) * MIX
        hashes[name] = code ^ (code >> HALF)


@njit(cache=True, nogil=True)
def number_names(
    letters: NDArray[np.uint8],
    offsets: NDArray[Any],
    hashes: NDArray[np.uint64],
    start: int,
    slots: NDArray[np.uint64],
    known: NDArray[np.uint8],
    ends: NDArray[np.int64],
    codes: NDArray[np.uint64],
    count: int,
    numbers: NDArray[np.int32],
) -> tuple[int, int, int]:
    """Number names; new ones get the numbers that follow.

    Where names are many, time is latency of memory. So what some names will need is loaded for all
    of them before the first is looked up: these loads do not wait for each other.

    Args:
        letters, offsets, hashes: as for `hash_names`.
        start: so many are done.
        slots: uint64, a power of two of them, at least twice as many as there will be names.
        known: uint8, the names so far, a newline behind each, and room for more.
        ends: int64, where each of them ends, behind a 0, and room for more.
        codes: uint64, their hashes, and room for more.
        count: how many there are.
        numbers: int32, shape (names,), to be filled.

    Returns:
        How many are done, the new count, and a sum that keeps the loads ahead from being left out.
        Fewer than all are done where there is no room.
    """
    mask, loaded = np.uint64(len(slots) - 1), 0
    for name in range(start, len(hashes)):
        if (name - start) % AHEAD == 0:
            for later in range(name, min(name + AHEAD, len(hashes))):
                slot = slots[hashes[later] & mask]
                if slot != NOTHING:
                    loaded += known[np.uint64(ends[(slot & NUMBER) - ONE])]
        code, low = hashes[name], np.uint64(offsets[name])
        size = np.uint64(offsets[name + 1]) - low
        at = code & mask
        number: Any = -1
        while slots[at] != NOTHING:
            slot = slots[at]
            if (slot ^ code) >> HALF == NOTHING:
                other = (slot & NUMBER) - ONE
                begin = np.uint64(ends[other])
                if np.uint64(ends[other + ONE]) - begin == size + ONE:
                    place = NOTHING
                    while place < size and known[begin + place] == letters[low + place]:
                        place += ONE
                    if place == size:
                        number = np.int64(other)
                        break
            at = (at + ONE) & mask
        if number < 0:
            used = np.uint64(ends[count])
            if 2 * (count + 1) > len(slots) or count + 1 >= len(ends):
                return name, count, loaded
            if used + size >= np.uint64(len(known)):
                return name, count, loaded
            place = NOTHING
            while place < size:
                known[used + place] = letters[low + place]
                place += ONE
            number = count
            count += 1
            known[used + size] = NEWLINE
            ends[count] = np.int64(used + size + ONE)
            codes[number] = code
            slots[at] = ((code >> HALF) << HALF) | np.uint64(count)
        numbers[name] = number
    return len(hashes), count, loaded


@njit(cache=True, nogil=True)
def place_hashes(hashes: NDArray[np.uint64], slots: NDArray[np.uint64]) -> None:
    """Fill a larger table with the names 0, 1, … of these hashes."""
    mask = np.uint64(len(slots) - 1)
    for number in range(len(hashes)):
        at = hashes[number] & mask
        while slots[at] != NOTHING:
            at = (at + ONE) & mask
        slots[at] = (hashes[number] >> HALF) << HALF | np.uint64(number + 1)
