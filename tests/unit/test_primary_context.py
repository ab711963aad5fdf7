"""CUDA's context is made of the rank's GPU, in a thread, and only where a GPU may be used."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.command import run_command

from groute_py import GrouteError
from groute_py.device import primary_context, registry
from groute_py.device.primary_context import begin_context
from groute_py.device.registry import NEAR_FAR, look_ahead

GPUS = 3


class Driver:
    """A driver of a host with `GPUS` GPUs, or one that fails at its begin."""

    def __init__(self, code: int = 0) -> None:
        self._code, self.made = code, list[int]()

    def cuInit(self, flags: int) -> int:  # noqa: N802 - the driver's name
        return self._code

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = GPUS
        return 0

    def cuDeviceGet(self, device: Any, number: int) -> int:  # noqa: N802
        device._obj.value = 10 + number
        return 0

    def cuDevicePrimaryCtxRetain(self, context: Any, device: Any) -> int:  # noqa: N802
        self.made.append(device.value)
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A driver, beside a CuPy that has not been imported."""
    made = Driver()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: made)
    monkeypatch.setattr(primary_context, "_begun", set())
    monkeypatch.setattr(primary_context, "find_spec", lambda name: SimpleNamespace())
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    return made


@pytest.mark.parametrize("local_rank", [0, 2, 4])
def test_it_is_of_the_rank_s_gpu(local_rank: int, driver: Driver) -> None:
    thread = begin_context(local_rank)
    assert thread is not None
    assert not thread.daemon
    thread.join()
    assert driver.made == [10 + local_rank % GPUS]
    assert begin_context(local_rank) is None  # once is enough


def test_without_a_driver_nothing_is_made(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert primary_context._make_context(0) == 0
    assert driver.made == []


def test_what_goes_wrong_is_left_to_cupy(driver: Driver) -> None:
    driver._code = 999
    assert primary_context._make_context(0) == 999
    assert driver.made == []


def test_without_cupy_or_with_it_imported_nothing_begins(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primary_context, "find_spec", lambda name: None)
    assert begin_context(0) is None
    monkeypatch.setattr(primary_context, "find_spec", lambda name: SimpleNamespace())
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace())
    assert begin_context(0) is None


@pytest.mark.parametrize("device", ["cpu", "auto", "cuda"])
@pytest.mark.parametrize("has_gpu", [True, False])
def test_only_where_a_gpu_may_be_used(
    device: str, has_gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(registry, "begin_context", begun.append)
    monkeypatch.setattr(registry, "gpu_problem", lambda: begun.append("CuPy"))
    makers = NEAR_FAR if has_gpu else {"cpu": NEAR_FAR["cpu"]}
    look_ahead(device, 5, makers)
    assert begun == ([5, "CuPy"] if device != "cpu" and has_gpu else [])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("sssp road:3x3", None),
        ("sssp @good.mtx", None),
        ("sssp @absent.gr", "no such file"),
        ("sssp @good.mtx -o @none/out.npz", "does not exist"),
        ("sssp @good.mtx -o @out.xyz", "unknown suffix"),
        ("sssp @good.mtx --telemetry @good.mtx", "is both GRAPH and --telemetry"),
        ("sssp @good.mtx --delta -1", "delta must be positive"),
    ],
)
def test_an_error_does_not_wait_for_it(
    words: str, problem: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(registry, "begin_context", begun.append)
    text = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 3\n"
    (tmp_path / "good.mtx").write_text(text)
    line = words.replace("@", f"{tmp_path}/").split()
    if problem is None:
        assert run_command(*line).exit_code == 0
        assert begun
        return
    with pytest.raises(GrouteError, match=problem):
        run_command(*line)
    assert not begun
