"""Compiled programs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.runtime.memory_plan import is_wide
from groute_py.kernels.source import Program, options, text_of


@cache
def module(
    program: Program,
    distance_type: np.dtype[Any],
    *,
    wide_offsets: bool,
    mode: str,
    pulls: bool = False,
) -> Any:
    """A program for one distance type, from CuPy's disk cache if it is there; once a process."""
    choices = options(distance_type, wide_offsets=wide_offsets, mode=mode, pulls=pulls)
    return cp.RawModule(code=text_of(program), options=choices, backend="nvrtc")


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
    compiled = module(program, distance_type, wide_offsets=wide, mode=mode, pulls=pulls)
    return {name: compiled.get_function(name) for name in program.entry_points}
