"""Memory of answers: used again once nothing refers to it, and never before."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from mmap import PAGESIZE
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.system import memory_limits
from groute_py.system.memory_pool import LEAST_BYTES, MOST_IDLE, MemoryPool

LARGE = LEAST_BYTES // 8
"""Entries of 64 bits of the least array whose memory is used again."""


@pytest.fixture
def pool() -> MemoryPool:
    return MemoryPool(8 * LEAST_BYTES)


def address(array: NDArray[Any]) -> int:
    return array.ctypes.data


def places_left(pool: MemoryPool, count: int) -> list[int]:
    """Leave memory idle, the oldest first; return where it is."""
    arrays = [pool.empty(LARGE, np.int64) for _ in range(count)]
    places = [address(array) for array in arrays]
    while arrays:
        arrays.pop(0)
    return places


def test_memory_is_used_again(pool: MemoryPool) -> None:
    first = pool.empty((2, LARGE), np.int64)
    place = address(first)
    del first
    second = pool.empty(LARGE + 1, np.float64)  # a smaller one, of another type and shape
    assert address(second) == place
    assert (second.shape, second.dtype) == ((LARGE + 1,), np.float64)
    second[:] = 1.5
    assert second.sum() == 1.5 * (LARGE + 1)


def test_the_newest_memory_is_used_first(pool: MemoryPool) -> None:
    """So a job in a loop keeps to the same memory, however much is idle."""
    places = places_left(pool, 4)
    again = [pool.empty(LARGE, np.int64) for _ in range(4)]
    assert [address(array) for array in again] == places[::-1]


@pytest.mark.parametrize("size", [LARGE - 1, 4 * LARGE + 1])
def test_arrays_much_smaller_or_larger_have_other_memory(pool: MemoryPool, size: int) -> None:
    idle = pool.empty(4 * LARGE, np.int64)
    place = address(idle)
    del idle
    assert address(pool.empty(size, np.int64)) != place


def generator_over(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    def rows() -> Iterator[NDArray[Any]]:
        yield from array

    some = rows()
    next(some)
    return some


HOLDERS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "array": lambda array: array,
    "slice": lambda array: array[1, 5:9],
    "slice of a view": lambda array: array.reshape(-1)[::2][3:],
    "transposed": lambda array: array.T,
    "other type": lambda array: array.view(np.int32),
    "subclass": lambda array: array.view(np.matrix),
    "row in a list": lambda array: [array[0]],
    "frombuffer": lambda array: np.frombuffer(array, np.uint8),
    "memoryview": memoryview,
    "DLPack": np.from_dlpack,
    "ctypes": lambda array: array.ctypes.data_as,
    "diagonal": np.diagonal,
    "broadcast": lambda array: np.broadcast_to(array, (3, *array.shape)),
    "iterator": np.nditer,
    "generator": generator_over,
    "closure": lambda array: lambda: array,
    "base": lambda array: array.base,
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_memory_that_something_refers_to_is_not_used_again(pool: MemoryPool, holder: str) -> None:
    array = pool.empty((2, LARGE), np.int64)
    place = address(array)
    reference = HOLDERS[holder](array)
    del array
    assert address(pool.empty((2, LARGE), np.int64)) != place
    pool.clear()
    del reference
    assert address(pool.empty((2, LARGE), np.int64)) == place


def test_a_pickled_array_is_a_copy(pool: MemoryPool) -> None:
    array = pool.empty(LARGE, np.int64)
    array[:] = 7
    copies = pickle.loads(pickle.dumps(array)), pickle.loads(pickle.dumps(array, protocol=5))
    del array
    pool.empty(LARGE, np.int64)[:] = 8
    assert all((copy == 7).all() for copy in copies)


def test_a_copy_has_the_values(pool: MemoryPool) -> None:
    values = np.arange(2 * LARGE).reshape(2, LARGE).T
    copy = pool.copy(values)
    np.testing.assert_array_equal(copy, values)
    assert not np.shares_memory(copy, values)


def test_threads_never_share_memory() -> None:
    pool = MemoryPool(64 * LEAST_BYTES)

    def work(seed: int) -> int:
        choose, views = random.Random(seed), []
        for step in range(200):
            mark = seed * 1000 + step
            array = pool.empty(choose.randint(LARGE, 3 * LARGE), np.int64)
            array[:] = mark
            views.append((array[choose.randrange(len(array)) :], mark))
            del array
            if len(views) > 3:
                views.pop(choose.randrange(len(views)))
            assert all((view == mark).all() for view, mark in views)
        return len(views)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == [3] * 8


def test_no_two_arrays_share_a_page(pool: MemoryPool) -> None:
    """Neighbours in a heap do, from which memory comes once larger memory has been freed."""
    np.empty(20 * LEAST_BYTES, np.uint8)
    arrays = [pool.empty(LEAST_BYTES + 12345, np.uint8) for _ in range(6)]
    ends = [(address(array), address(array) + len(array)) for array in arrays]
    pages = [range(begin // PAGESIZE, -(-end // PAGESIZE)) for begin, end in ends]
    assert len(set().union(*pages)) == sum(map(len, pages))


def test_idle_memory_is_bounded(pool: MemoryPool) -> None:
    places = places_left(pool, 20)
    again = [pool.empty(LARGE, np.int64) for _ in range(8)]
    assert sorted(map(address, again)) == sorted(places[-8:])  # the oldest were freed
    assert not pool.clear()


def test_few_arrays_stay_idle() -> None:
    pool = MemoryPool(2 * MOST_IDLE * LEAST_BYTES)
    arrays = [pool.empty(LARGE, np.int64) for _ in range(MOST_IDLE + 2)]
    places = {address(array) for array in arrays}
    arrays.clear()
    again = [pool.empty(LARGE, np.int64) for _ in range(MOST_IDLE)]
    assert {address(array) for array in again} <= places
    assert not pool.clear()


def test_memory_beyond_the_bound_does_not_stay() -> None:
    pool = MemoryPool(LEAST_BYTES - 1)
    pool.empty(LARGE, np.int64)
    assert not pool.clear()


def test_other_threads_take_and_leave_memory_at_any_time(pool: MemoryPool) -> None:
    memory = np.empty(9 * LEAST_BYTES, np.uint8)
    looks = iter([{}, {0: memory}])

    class Idle(dict[int, NDArray[Any]]):
        def copy(self) -> dict[int, NDArray[Any]]:
            return next(looks)

    pool._idle = Idle()
    pool._leave(memory)


def test_a_child_process_has_its_own(pool: MemoryPool) -> None:
    array = pool.empty(LARGE, np.int64)
    array[:] = 1
    with warnings.catch_warnings(action="ignore"):  # other tests may have left threads
        child = os.fork()
    if child == 0:  # its end is checked by the parent
        del array
        other = pool.empty(LARGE, np.int64)
        other[:] = 2
        os._exit(0 if (other == 2).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (array == 1).all()


def test_an_array_that_lives_to_the_end_ends_silently() -> None:
    """The interpreter ends it when it has no files, and modules may have no names, any more."""
    lines = (
        "import sys",
        "from groute_py.system import memory_pool",
        "from groute_py.system.memory_limits import ANSWERS",
        f"array, sys.array = (ANSWERS.empty({LARGE}, 'int64') for _ in range(2))",
        "memory_pool.MOST_IDLE = None",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_idle_memory_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = MemoryPool(8 * LEAST_BYTES)
    monkeypatch.setattr(memory_limits, "ANSWERS", idle)
    monkeypatch.setattr(memory_limits, "LITTLE", 0)
    free = {True: 100, False: 1000}
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: free[bool(idle._idle)])
    idle.empty(LARGE, np.int64)
    memory_limits.check_room(100, "it")
    assert idle._idle
    with pytest.raises(GraphError, match="100 that are available"):  # nor would there be with it
        memory_limits.check_room(101 + LEAST_BYTES, "it")
    assert idle._idle
    memory_limits.check_room(1000, "it")
    assert not idle._idle
    with pytest.raises(GraphError, match="1,001 bytes"):
        memory_limits.check_room(1001, "it")
