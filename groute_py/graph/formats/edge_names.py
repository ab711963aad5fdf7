"""Numbers for the names of an edge list, in the order in which they come."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.names import hash_names, interleaved, number_names, place_hashes

FIRST_ROOM = 1 << 16
SEED = np.uint64(secrets.randbits(64))
"""The random seed of hashes, so that nobody can write a file whose names collide."""


class Texts(NamedTuple):
    """Names in order.

    Attributes:
        letters: uint8, the names one after another.
        offsets: int64, shape (names + 1,), where each begins.
        hashes: uint64, shape (names,).
    """

    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    hashes: NDArray[np.uint64]

    @classmethod
    def of(cls, letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Texts:
        """Names with their hashes."""
        hashes = np.empty(len(offsets) - 1, np.uint64)
        hash_names(letters, offsets, SEED, hashes)
        return cls(letters, offsets, hashes)

    @classmethod
    def of_columns(
        cls,
        tails: tuple[NDArray[np.uint8], NDArray[np.int32]],
        heads: tuple[NDArray[np.uint8], NDArray[np.int32]],
    ) -> Texts:
        """The tail and the head of each row, of columns of letters and offsets."""
        ends = (tails, heads)
        size = sum(int(offsets[-1]) - int(offsets[0]) for _, offsets in ends)
        letters = np.empty(size, np.uint8)
        offsets = np.empty(2 * len(tails[1]) - 1, np.int64)
        interleaved(*tails, *heads, letters, offsets)
        return cls.of(letters, offsets)


class Names:
    """The names so far."""

    def __init__(self) -> None:
        self.count = 0
        self._letters = np.empty(FIRST_ROOM, np.uint8)
        self._ends = np.zeros(FIRST_ROOM, np.int64)
        self._hashes = np.empty(FIRST_ROOM, np.uint64)
        self._slots = np.zeros(4 * FIRST_ROOM, np.uint64)

    def numbers(self, texts: Texts) -> NDArray[np.int32]:
        """The number of each name, int32, shape (names,)."""
        numbers = np.empty(len(texts.hashes), np.int32)
        done = 0
        while done < len(numbers):
            done, self.count, _ = number_names(
                *texts,
                done,
                self._slots,
                self._letters,
                self._ends,
                self._hashes,
                self.count,
                numbers,
            )
            if done < len(numbers):
                self._grow(int(texts.offsets[done + 1] - texts.offsets[done]))
        return numbers

    def text(self) -> bytes:
        """All names, a newline behind each."""
        return self._letters[: self._ends[self.count]].tobytes()

    def _grow(self, size: int) -> None:
        """Make room for a name of a given number of bytes."""
        used = int(self._ends[self.count])
        if used + size >= len(self._letters):
            self._letters = _longer(self._letters, used + size + 1)
        if self.count + 1 >= len(self._ends):
            self._ends, self._hashes = (_longer(a, 0) for a in (self._ends, self._hashes))
        if 2 * (self.count + 1) > len(self._slots):
            self._slots = np.zeros(2 * len(self._slots), np.uint64)
            place_hashes(self._hashes[: self.count], self._slots)


def _longer(array: NDArray[Any], least: int) -> NDArray[Any]:
    """At least twice as long."""
    longer = np.empty(max(2 * len(array), least), array.dtype)
    longer[: len(array)] = array
    return longer
