"""Kernels under NUMBA_DISABLE_JIT=1: run as Python, they compute what is compiled otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from support.processes import run_python

from groute_py.kernels.cpu.as_python import as_python
from groute_py.kernels.cpu.draw import draw, key, mix

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

UNSIGNED = (0, 3, 2**32 - 1, 2**63 + 9, 2**64 - 1)
SIGNED = (-(2**31), -7, 2, 2**31 - 1)
THREE = np.uint64(3)


def results(a: Any, b: Any) -> Any:
    """Of every operator that kernels have, on numbers of these types."""
    sums = a + b, a - b, a * b, a + 1, 1 - b
    bits = a & b, a | b, a ^ b, ~a, a >> THREE, (a & 255) << THREE
    parts = a // (b | 1), a % (b | 1), -a
    return sums, bits, parts, (a < b, a == b, min(a, a), np.int64(a), np.uint8(b), np.uint64(a))


def places(bytes_: NDArray[np.uint8], numbers: NDArray[np.int32], at: NDArray[np.uint32]) -> int:
    """A kernel that has items of arrays for numbers and puts numbers into arrays."""
    total = 0
    for one in at:
        bytes_[one] += np.uint8(200)
        numbers[one] = numbers[one] * 3 - bytes_[one]
    for place in range(at[0], at[1]):
        total += np.int64(at[0] - at[1] + place)
    made = np.full(3, at[1], dtype=np.int64)
    made[0] -= 1
    order = np.argsort(numbers[at[0] :], kind="mergesort")
    return total + made[0] * np.int64(len(made)) + order[0]


@pytest.fixture(scope="module")
def compiled() -> Callable[..., Any]:
    return numba.njit(results)  # type: ignore[no-any-return]


def numbers() -> Iterator[tuple[Any, Any]]:
    for kinds in product((np.uint64, np.int64), repeat=2):
        for values in product(*(UNSIGNED if kind is np.uint64 else SIGNED for kind in kinds)):
            yield kinds[0](values[0]), kinds[1](values[1])


def test_integers_are_as_compiled(compiled: Callable[..., Any]) -> None:
    for a, b in numbers():
        assert as_python(results)(a, b) == compiled(a, b), (a, b)


def test_items_are_as_compiled() -> None:
    def given() -> tuple[NDArray[Any], ...]:
        at = np.array([2, 5, 2], np.uint32)
        return np.arange(100, 106, dtype=np.uint8), np.full(6, 2**30, np.int32), at

    expected, found = given(), given()
    assert as_python(places)(*found) == numba.njit(places)(*expected)
    assert [array.tolist() for array in found] == [array.tolist() for array in expected]


def test_kernels_call_kernels() -> None:
    assert as_python(draw.__wrapped__)(key(1, 2), 3) == draw(key(1, 2), 3)
    assert as_python(mix.__wrapped__)(np.uint64(2**64 - 1)) == mix(np.uint64(2**64 - 1))


SOLVE = """
import groute_py
graph = groute_py.generate("road:9x8")
result = groute_py.sssp(graph, source=3, device="cpu")
groute_py.verify(graph, result)
print(result.distances.tolist(), result.predecessors.tolist())
"""


def test_a_solve() -> None:
    interpreted, compiled = run_python(SOLVE, NUMBA_DISABLE_JIT="1"), run_python(SOLVE)
    assert interpreted.returncode == compiled.returncode == 0, interpreted.stderr
    assert interpreted.stdout == compiled.stdout
