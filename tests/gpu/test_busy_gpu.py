"""A GPU on which CUDA cannot begin: it is full, or another process has it alone."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pytest
from support.command import run_command
from support.skips import needs_gpu

from groute_py import Graph, SetupError, apsp, sssp
from groute_py.cli.doctor_checks import examine

pytestmark = needs_gpu

UNAVAILABLE = 46
"""cudaErrorDevicesUnavailable, as in compute mode ``EXCLUSIVE_PROCESS``."""

TWO = Graph(np.array([0, 1, 1]), np.array([1], np.int32), np.array([5], np.int32))


def refuse(*_: Any) -> NoReturn:
    from cupy.cuda import runtime

    raise runtime.CUDARuntimeError(UNAVAILABLE)


class Busy:
    """Not to be had."""

    use = refuse

    def __init__(self, number: int) -> None:
        self.id = number


@pytest.fixture
def _busy(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.runtime import gpu

    monkeypatch.setattr(gpu.cp.cuda, "Device", Busy)
    monkeypatch.setattr(gpu, "room_on", refuse)


@pytest.mark.usefixtures("_busy")
@pytest.mark.parametrize("solve", [sssp, lambda graph, _, device: list(apsp(graph, device=device))])
def test_is_told_in_one_message(solve: Any) -> None:
    with pytest.raises(
        SetupError, match=r"^CUDA cannot begin on GPU 0 of .*:.*nvidia-smi"
    ) as result:
        solve(TWO, 0, device="cuda")
    assert result.value.exit_code == 2


@pytest.mark.usefixtures("_busy")
def test_the_doctor_says_so() -> None:
    about = {finding.what: finding for finding in examine()}["GPU 0"]
    assert about.state == "wrong"
    assert "CUDA cannot begin there" in about.observation
    assert "nvidia-smi" in about.advice
    told = run_command("doctor", "--json")
    assert told.exit_code == 0
    assert "CUDA cannot begin there" in told.output


def test_of_others_the_doctor_says_what_is_free() -> None:
    about = {finding.what: finding for finding in examine()}["GPU 0"]
    assert about.state == "good"
    assert about.observation.endswith(" GB free")
