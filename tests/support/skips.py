"""What some tests need, and are skipped without."""

from __future__ import annotations

import shutil
import sys

import pytest

from groute_py.device.choose import gpu_problem

NO_GPU = gpu_problem()

EMULATED = "support.emulation.cupy" in sys.modules
"""Whether GPUs are emulated, where everything but the smallest graphs takes long."""

needs_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(NO_GPU is not None, reason=str(NO_GPU)),
]

needs_linked_gpus = [
    *needs_gpu,
    pytest.mark.skipif(not EMULATED, reason="threads of one process cannot map its own memory"),
]

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def needs(tool: str | None) -> pytest.MarkDecorator:
    """Skip with the reason, if there is one."""
    return pytest.mark.skipif(tool is not None, reason=str(tool))
