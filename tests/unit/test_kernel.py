"""The decorators of CPU kernels: when Numba is loaded, and what a kernel may call."""

from __future__ import annotations

import importlib
import sys

import numba
import numpy as np
import pytest

from groute_py.errors import SetupError
from groute_py.kernels.cpu import kernel as kernels
from groute_py.kernels.cpu.draw import below, draw, key
from groute_py.system.clock import Clock, running


def test_a_kernel_calls_another() -> None:
    start = key(1, 2)
    assert draw(start, 3) != draw(start, 4)
    assert below(1 << 31, 10) == 5
    assert draw.__name__ == "draw"
    assert draw.signatures == draw.dispatcher.signatures
    assert draw.signatures


def test_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    with pytest.raises(SetupError, match="unset NUMBA_DISABLE_JIT"):
        kernels.Kernel(below.__wrapped__)(np.uint64(1 << 31), np.uint64(10))


def test_commands_do_without_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, kernels.BLAS, raising=False)
    with kernels._without_blas():
        assert kernels.BLAS not in sys.modules
    with running(Clock("start")), kernels._without_blas(), pytest.raises(ImportError):
        importlib.import_module(kernels.BLAS)
    assert kernels.BLAS not in sys.modules
