"""Memory of answers is page-locked when a second answer has it, until it is freed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

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
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryPool]:
    """A pool of its own, beside which nothing is locked: earlier tests may have left some."""
    from groute_py.device.cuda.runtime import pinned

    pool = MemoryPool(4 * LEAST_BYTES)
    monkeypatch.setattr(pinned, "ANSWERS", pool)
    with patch.dict(pinned._locked, clear=True):
        yield pool


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


def test_the_ranks_of_a_host_share_what_may_be_locked(
    locks: Locks, pool: MemoryPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groute_py.device.cuda.runtime.pinned import lock_reused

    for name, value in (("SIZE", "6"), ("RANK", "0"), ("LOCAL_SIZE", "2")):
        monkeypatch.setenv(f"OMPI_COMM_WORLD_{name}", value)
    arrays = [pool.empty(LEAST_BYTES, np.uint8) for _ in range(3)]
    arrays.clear()
    arrays += [pool.empty(LEAST_BYTES, np.uint8) for _ in range(3)]
    assert [lock_reused(array) for array in arrays] == [True, True, False]


def test_a_child_disowns_what_its_parent_has_locked(locks: Locks, pool: MemoryPool) -> None:
    from groute_py.device.cuda.runtime import pinned

    pool.empty(LEAST_BYTES, np.uint8)
    array = pool.empty(LEAST_BYTES, np.uint8)
    assert pinned.lock_reused(array)
    with warnings.catch_warnings(action="ignore"):  # of threads
        child = os.fork()
    if child == 0:
        place = array.ctypes.data
        del array
        pool.clear()
        os._exit(len(pinned._locked) + len(locks.unlocked) + (place not in locks.locked))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pinned.lock_reused(array)
    assert not locks.unlocked


def test_an_interrupt_leaves_nothing_locked(
    locks: Locks, pool: MemoryPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cupy.cuda import runtime

    from groute_py.device.cuda.runtime.pinned import lock_reused

    def interrupted(at: int, *_: Any) -> None:
        locks.locked.append(at)
        raise KeyboardInterrupt

    monkeypatch.setattr(runtime, "hostRegister", interrupted)
    pool.empty(LEAST_BYTES, np.uint8)
    array = pool.empty(LEAST_BYTES, np.uint8)
    with pytest.raises(KeyboardInterrupt):
        lock_reused(array)
    del array
    pool.clear()
    assert len(locks.locked) == 1
    assert locks.unlocked == locks.locked


def test_an_interrupted_copy_ends_before_its_memory_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import cupy as cp

    from groute_py.device.cuda.runtime import transfer

    done = list[str]()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    stream = SimpleNamespace(synchronize=lambda: done.append("synchronized"))
    monkeypatch.setattr(transfer, "lock_reused", lambda _: True)
    monkeypatch.setattr(transfer, "begin_copy", interrupted)
    monkeypatch.setattr(transfer.cp.cuda, "get_current_stream", lambda: stream)
    values = cp.zeros(9, np.int64)
    with pytest.raises(KeyboardInterrupt):
        transfer.put_on_host(np.empty(9, np.int64), values, np.copyto)
    assert done == ["synchronized"]


def test_every_other_value_of_an_array_that_is_copied_in_pieces() -> None:
    import cupy as cp

    from groute_py.engine.late import Mirrored

    count = 3 * (4 << 20) // 8 + 5
    some = Mirrored(cp.asarray(np.arange(2 * count))[::2])
    np.testing.assert_array_equal(some.on_host, np.arange(0, 2 * count, 2))


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
