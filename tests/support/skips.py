"""What some tests need, and are skipped without."""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from groute_py.device.registry import gpu_problem

NO_GPU = gpu_problem()

EMULATED = "support.emulation.cupy" in sys.modules
"""Whether GPUs are emulated, where everything but the smallest graphs takes long."""


def needs(problem: str | None) -> pytest.MarkDecorator:
    """Skip for a reason, if there is one."""
    return pytest.mark.skipif(problem is not None, reason=str(problem))


needs_gpu = [pytest.mark.gpu, needs(NO_GPU)]

needs_linked_gpus = [
    *needs_gpu,
    pytest.mark.skipif(not EMULATED, reason="threads of one process cannot map its own memory"),
]


def require_metis() -> None:
    """Skip the module or test if METIS is not installed."""
    try:
        version("cmeel-metis")
    except PackageNotFoundError:
        pytest.skip("needs METIS", allow_module_level=True)


def hide_metis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have METIS not installed from here on."""
    library = "groute_py.graph.hierarchy.separators.metis.METIS"
    monkeypatch.setattr(library, ("no-such-package", "libmetis"))


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
