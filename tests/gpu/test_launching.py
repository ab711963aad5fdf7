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
def linked() -> Any:
    """Kernels in a stream that has failed."""
    from groute_py.device.cuda.sssp.linked_kernels import LinkedKernels

    def refuse() -> NoReturn:
        raise RuntimeError("unspecified launch failure")

    gpu = SimpleNamespace(stream=SimpleNamespace(ptr=0, synchronize=refuse))
    kernel = SimpleNamespace(exchange_with=lambda _: None)
    parts: Any = SimpleNamespace(graph=SimpleNamespace(gpu=gpu), kernel=kernel)
    link: Any = SimpleNamespace(peers=lambda **_: None)
    return LinkedKernels(link, parts, all_linked=True)


@pytest.mark.parametrize("status", [AT_WORK, FAILED])
def test_a_kernel_at_work_is_told_from_one_that_failed(
    status: int, linked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groute_py.device.cuda.sssp import linked_kernels

    asked = SimpleNamespace(streamQuery=lambda _: status)
    monkeypatch.setattr(linked_kernels, "runtime", asked)
    if status == AT_WORK:
        assert not linked.finished()
    else:
        with pytest.raises(RuntimeError, match="launch failure"):
            linked.finished()


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
