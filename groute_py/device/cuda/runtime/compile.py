"""Compiled programs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import driver

from groute_py.device.cuda.runtime.memory_plan import is_wide
from groute_py.kernels import ahead
from groute_py.kernels.source import Program, options, text_with


def module(program: Program, choices: tuple[str, ...], extended: str = "") -> Any:
    """Return a program for the current GPU, from the build, CuPy's cache or the compiler.

    ``extended`` is the expression of `kernels/primitives/algebra.cuh`, if there is one.
    """
    return _module(program, choices, capability(), extended)


def capability() -> str:
    """The compute capability of the current GPU, such as ``90``."""
    return str(cp.cuda.Device().compute_capability)


@cache
def _module(program: Program, choices: tuple[str, ...], of_gpu: str, extended: str) -> Any:
    text = text_with(program, extended)
    if ahead.FOLDER.is_dir() and (built := _built(program, text, choices, of_gpu)) is not None:
        return built
    return cp.RawModule(code=text, options=choices, backend="nvrtc")


def _built(program: Program, text: str, choices: tuple[str, ...], of_gpu: str) -> Any:
    """Return the build's program for a capability; None without one or with an older driver."""
    path = ahead.find(text, choices, of_gpu)
    if path is None:
        return None
    try:
        module = cp.RawModule(path=str(path))
        module.get_function(program.entry_points[0])  # loads it
    except driver.CUDADriverError:
        return None
    return module


def kernels_of(
    program: Program,
    distance_type: np.dtype[Any],
    arc_count: int,
    mode: str = "alone",
    *,
    pulls: bool = False,
    extended: str = "",
) -> dict[str, Any]:
    """The kernels of a program by name, for a number of arcs and a mode."""
    wide = is_wide(arc_count)
    choices = options(distance_type, wide_offsets=wide, mode=mode, pulls=pulls)
    compiled = module(program, choices, extended)
    return {name: compiled.get_function(name) for name in program.entry_points}
