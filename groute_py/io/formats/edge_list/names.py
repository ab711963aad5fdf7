"""Numbers for the names of an edge list, in the order in which they come."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.builder import INT32
from groute_py.io.text.arc_reader import check_beside_decimals
from groute_py.kernels.cpu.names import SIZE, START, copy_slots, hash_names, number_names

FIRST_SLOTS, FIRST_BYTES = 1 << 10, 1 << 12
SEED = np.uint64(secrets.randbits(64))
"""The random seed of hashes, so that nobody can write a file whose names collide."""


class Texts(NamedTuple):
    """Names in order."""

    letters: NDArray[np.uint8]  # the text that holds the names
    names: NDArray[np.uint32]  # uint32, shape (names, 3): start, size in bytes, hash

    @classmethod
    def of(cls, names: list[bytes]) -> Texts:
        """Names with their hashes."""
        letters = np.frombuffer(b"".join(names), np.uint8)
        table = np.zeros((len(names), 3), np.uint32)
        table[:, SIZE] = [len(name) for name in names]
        table[1:, START] = np.cumsum(table[:-1, SIZE])
        hash_names(letters, SEED, table)
        return cls(letters, table)


class Names:
    """The names so far."""

    def __init__(self) -> None:
        self.count = 0
        self._slots = np.zeros((FIRST_SLOTS, 2), np.uint64)
        self._letters = np.zeros(FIRST_BYTES, np.uint8)
        self._used = 0

    def numbers(self, texts: Texts) -> NDArray[np.int32]:
        """The number of each name, int32, shape (names,)."""
        numbers = np.empty(len(texts.names), np.int32)
        done = 0
        while done < len(numbers):
            done, used, self.count, _ = number_names(
                *texts, done, self._slots, self._letters, self._used, self.count, numbers
            )
            self._used = int(used)
            if done < len(numbers):
                self._grow(int(texts.names[done, SIZE]))
        return numbers

    def text(self) -> bytes:
        """All names, a newline behind each."""
        return self._letters[: self._used].tobytes()

    def _grow(self, size: int) -> None:
        """Make room for a name of a given number of bytes."""
        if self._used + size >= len(self._letters):
            letters = np.empty(2 * len(self._letters) + size, np.uint8)
            letters[: self._used] = self._letters[: self._used]
            self._letters = letters
        if 2 * (self.count + 1) > len(self._slots):
            slots = np.zeros((2 * len(self._slots), 2), np.uint64)
            copy_slots(self._slots, slots)
            self._slots = slots


class Block(NamedTuple):
    """Columns of consecutive rows, beside their ends."""

    weights: NDArray[Any] | None  # as `narrowed` gives them, shape (rows,)
    back: NDArray[Any] | None  # of arcs back, likewise
    ways: NDArray[np.int8] | None


def narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    """A copy of weights, as int32 where they are integers that fit."""
    fit = INT32.min <= numbers.min(initial=0) and numbers.max(initial=0) <= INT32.max
    return numbers.astype(np.int32 if numbers.dtype.kind == "i" and fit else numbers.dtype)


def joined(path: Path, numbers: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Weights of all blocks, int32, int64 or float64, whichever is the first that holds them."""
    if any(some.dtype.kind == "f" for some in numbers):
        for some in numbers:
            check_beside_decimals(path, some)
    whole: NDArray[Any] = np.concatenate([np.zeros(0, np.int32), *numbers])
    return whole
