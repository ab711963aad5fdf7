"""Texts compared, hashed and searched eight bytes at a time, against byte by byte."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from groute_py.io.formats.edge_list.names import Names, Texts
from groute_py.kernels.cpu.names import are_equal, first_below, hash_of

SEED = np.uint64(0x9E3779B97F4A7C15)


def letters(text: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(text, np.uint8)


def at(*places: int) -> list[np.uint64]:
    return [np.uint64(place) for place in places]


@pytest.mark.parametrize("size", range(41))
def test_one_byte_makes_a_name_another(size: int) -> None:
    name = bytes(np.random.default_rng(size).integers(0, 256, size, np.uint8))
    here, length = letters(b"###" + name + b"\n"), np.uint64(size)
    code = hash_of(here, np.uint64(3), length, SEED)
    for before in range(9):  # equal names at other places
        there = letters(b"." * before + name + b"!")
        assert are_equal(here, np.uint64(3), there, *at(before, size))
        assert hash_of(there, np.uint64(before), length, SEED) == code
    for place in range(size):
        for change in (1, 0x80):
            changed = bytearray(name)
            changed[place] ^= change
            assert not are_equal(here, np.uint64(3), letters(bytes(changed)), *at(0, size))
            assert hash_of(letters(bytes(changed)), np.uint64(0), length, SEED) != code


def test_changes_of_highest_bits_do_not_collide() -> None:
    """Two words whose changes would cancel each other behind a product by a constant."""
    first, second = bytes(16), bytes.fromhex("0000008000000080 0000008000000000")
    codes = {hash_of(letters(name), *at(0, 16), SEED) for name in (first, second)}
    assert len(codes) == 2


@pytest.mark.parametrize("other", b",;|\t")
def test_first_below(other: int) -> None:
    rng = np.random.default_rng(other)
    text = rng.choice(np.array([0, 34, 35, 43, 44, 45, 59, 65, 124, 127, 128, 255], np.uint8), 999)
    text[rng.random(999) < 0.8] = 200
    text[-1] = 10
    expected = len(text) - 1
    for place in range(len(text) - 1, -1, -1):
        if text[place] < 35 or text[place] == other:
            expected = place
        assert first_below(text, np.uint64(place), 35, other) == expected


def test_names_are_numbered_as_they_come() -> None:
    """With the tables growing, and names that begin others or end the text."""
    rng = np.random.default_rng(3)
    some = [b"x" * k for k in range(1, 60)] + [b"node%d" % k for k in range(5000)]
    known = list(dict.fromkeys(some))
    names, numbers = Names(), dict[bytes, int]()
    for _ in range(5):
        block = [known[k] for k in rng.integers(0, len(known), 3000)]
        expected = [numbers.setdefault(name, len(numbers)) for name in block]
        assert names.numbers(Texts.of(block)).tolist() == expected
    assert names.text() == b"".join(name + b"\n" for name in numbers)
    assert names.count == len(numbers)


def test_names_whose_hashes_agree() -> None:
    """Their bytes decide."""
    texts = Texts.of([b"ab", b"ac", b"ab", b"a", b"abc", b"ac", b"", b"ab"])
    texts.names[:, 2] = 7
    assert Names().numbers(texts).tolist() == [0, 1, 0, 2, 3, 1, 4, 0]
