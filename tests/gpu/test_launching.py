"""Launching persistent kernels, and hearing how they end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
from support.skips import needs_gpu

pytestmark = needs_gpu

AT_WORK, FAILED = 600, 719
"""cudaErrorNotReady, cudaErrorLaunchFailure."""


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One whose stream has failed."""
    from groute_py.device.cuda.sssp.device import CudaDevice

    def refuse() -> NoReturn:
        raise RuntimeError("unspecified launch failure")

    device = CudaDevice(0, direct=False)
    device._all_linked = True
    monkeypatch.setattr(device, "_stream", SimpleNamespace(ptr=0, synchronize=refuse))
    return device


@pytest.mark.parametrize("status", [AT_WORK, FAILED])
def test_a_kernel_at_work_is_told_from_one_that_failed(
    status: int, device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groute_py.device.cuda.peer import fused as fused_kernel

    asked = SimpleNamespace(streamQuery=lambda _: status)
    monkeypatch.setattr(fused_kernel, "runtime", asked)
    if status == AT_WORK:
        assert not device.finished()
    else:
        with pytest.raises(RuntimeError, match="launch failure"):
            device.finished()


def test_no_launch_without_all_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.runtime import launch

    launched: list[Any] = []
    driver = SimpleNamespace(launchCooperativeKernel=lambda *words: launched.append(words))
    monkeypatch.setattr(launch, "driver", driver)
    types = {"first": np.uint32, "second": np.float64}
    call = launch.Call(SimpleNamespace(ptr=1), 2, 32, types)
    stream = SimpleNamespace(ptr=0)
    with pytest.raises(AssertionError, match="second"):
        call.launch(stream, first=3)
    assert not launched
    call.launch(stream, second=0.5)
    assert len(launched) == 1
