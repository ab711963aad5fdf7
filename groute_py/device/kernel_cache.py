"""The folder where CuPy keeps compiled kernels; it fails on import if it may not make one."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import warnings
from importlib.util import find_spec
from tempfile import TemporaryFile, mkdtemp

from groute_py.errors import CacheWarning
from groute_py.system.settings import cupy_cache, set_cupy_cache


def find_kernel_cache() -> None:
    """Before CuPy is imported: give it a folder for this run if it could not write to its own."""
    if "cupy" in sys.modules or find_spec("cupy") is None:
        return
    folder = cupy_cache()
    if (problem := _why_not_written(folder)) is None:
        return
    temporary = mkdtemp(prefix="groute-py-cupy-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    set_cupy_cache(temporary)
    shown = folder or "''"
    text = f"CuPy keeps compiled kernels for this run only: {shown} cannot be written ({problem})"
    warnings.warn(f"{text}; CUPY_CACHE_DIR names another folder", CacheWarning, stacklevel=3)


def _why_not_written(folder: str) -> str | None:
    """Make a folder as CuPy would, and a file in it; the reason why that cannot be, or None."""
    try:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - a Path of "" would be this folder
        with TemporaryFile(dir=folder):
            return None
    except OSError as problem:
        return problem.strerror or str(problem)
