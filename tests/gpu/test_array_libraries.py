"""The real CuPy, PyTorch, JAX and cuDF give graphs and ends on a GPU, and take answers there."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import pytest
from gpu import array_libraries
from support.processes import run
from support.skips import EMULATED, needs_gpu

pytestmark = needs_gpu


@pytest.mark.skipif(not EMULATED, reason="runs in a process of its own")
def test_arrays_of_an_emulated_gpu() -> None:
    array_libraries.check(array_libraries.ARRAYS["cupy"]())


@pytest.mark.skipif(EMULATED, reason="a process of its own emulates nothing")
@pytest.mark.parametrize("name", ["cupy", "torch", "jax", "cudf"])
def test_a_library(name: str) -> None:
    if find_spec(name) is None:
        pytest.skip(f"needs {name}")
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = run(sys.executable, array_libraries.__file__, name, environ=paths, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("agrees\n")
