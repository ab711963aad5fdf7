"""Memory of answers is page-locked when a second answer has it, until it is freed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.skips import needs_gpu

from groute_py.system.memory_pool import LEAST_BYTES, MemoryPool

pytestmark = needs_gpu


class Locks:
    """Memory that CUDA has been asked to lock and to unlock."""

    def __init__(self) -> None:
        self.locked, self.unlocked = list[int](), list[int]()


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> Locks:
    from cupy.cuda import runtime

    locks = Locks()
    monkeypatch.setattr(runtime, "hostRegister", lambda at, size, flags: locks.locked.append(at))
    monkeypatch.setattr(runtime, "hostUnregister", locks.unlocked.append)
    return locks


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> MemoryPool:
    from groute_py.device.cuda.runtime import pinned

    pool = MemoryPool(4 * LEAST_BYTES)
    monkeypatch.setattr(pinned, "ANSWERS", pool)
    return pool


def test_from_its_second_use_until_it_is_freed(locks: Locks, pool: MemoryPool) -> None:
    from groute_py.device.cuda.runtime.pinned import lock_reused

    assert not lock_reused(pool.empty(LEAST_BYTES, np.uint8))
    second, other = (pool.empty(LEAST_BYTES, np.uint8) for _ in range(2))
    assert lock_reused(second)
    assert lock_reused(second[7:].view(np.int8))
    assert not lock_reused(other)
    assert not lock_reused(np.empty(LEAST_BYTES, np.uint8))
    place = second.ctypes.data
    del second
    assert (locks.locked, locks.unlocked) == ([place], [])
    pool.clear()
    assert (locks.locked, locks.unlocked) == ([place], [place])


def test_no_more_than_may_stay_idle(locks: Locks, pool: MemoryPool) -> None:
    from groute_py.device.cuda.runtime.pinned import lock_reused

    arrays = [pool.empty(LEAST_BYTES, np.uint8) for _ in range(4)]
    arrays.clear()
    arrays += [pool.empty(LEAST_BYTES, np.uint8) for _ in range(4)]
    pool.most = 3 * LEAST_BYTES
    assert [lock_reused(array) for array in arrays] == [True, True, True, False]


def test_memory_that_cannot_be_locked(pool: MemoryPool, monkeypatch: pytest.MonkeyPatch) -> None:
    from cupy.cuda import runtime

    from groute_py.device.cuda.runtime.pinned import lock_reused

    class Refused(runtime.CUDARuntimeError):
        def __init__(self) -> None:
            RuntimeError.__init__(self, "refused")

    def refused(*_: Any) -> None:
        raise Refused

    monkeypatch.setattr(runtime, "hostRegister", refused)
    pool.empty(LEAST_BYTES, np.uint8)
    assert not lock_reused(pool.empty(LEAST_BYTES, np.uint8))


@pytest.mark.parametrize("count", [LEAST_BYTES // 8, LEAST_BYTES])
def test_copies_are_whole(count: int) -> None:
    import cupy as cp

    from groute_py.device.cuda.runtime.transfer import to_host

    answers = list[tuple[NDArray[Any], NDArray[Any]]]()
    for value in range(6):
        expected = np.arange(count) + value
        answer = to_host(cp.asarray(expected))
        np.testing.assert_array_equal(answer, expected)
        answers = [*answers[-1:], (answer, expected)]  # the memory of one before is used again
        for answer, expected in answers:
            np.testing.assert_array_equal(answer, expected)
