"""Eight bytes of a text at a time: comparison, hashing, and search for the end of a field.

These functions are inlined, and have one return each, so that Numba counts no references to the
texts: that costs more than the work on a short field.
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
