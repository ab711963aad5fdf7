"""Compiled programs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import driver

from groute_py.device.cuda.runtime.memory_plan import is_wide
from groute_py.kernels import ahead
from groute_py.kernels.source import Program, options, text_of


@cache
def module(program: Program, choices: tuple[str, ...]) -> Any:
    """A program for some options, once a process: of the build, of CuPy's cache, or compiled."""
    text = text_of(program)
    if ahead.FOLDER.is_dir() and (built := _built(program, text, choices)) is not None:
        return built
    return cp.RawModule(code=text, options=choices, backend="nvrtc")


def _built(program: Program, text: str, choices: tuple[str, ...]) -> Any:
    """What the build compiled for the current GPU; None where there is nothing, or the driver is
    too old for it.
    """
    path = ahead.find(text, choices, cp.cuda.Device().compute_capability)
    if path is None:
        return None
    try:
        made = cp.RawModule(path=str(path))
        made.get_function(program.entry_points[0])  # loads it
    except driver.CUDADriverError:
        return None
    return made


def kernels_of(
    program: Program,
    distance_type: np.dtype[Any],
    arc_count: int,
    mode: str = "alone",
    *,
    pulls: bool = False,
) -> dict[str, Any]:
    """The kernels of a program by name, for a number of arcs and a mode."""
    wide = is_wide(arc_count)
    choices = options(distance_type, wide_offsets=wide, mode=mode, pulls=pulls)
    compiled = module(program, choices)
    return {name: compiled.get_function(name) for name in program.entry_points}
