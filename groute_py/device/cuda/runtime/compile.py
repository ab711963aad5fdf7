"""Compiled programs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.runtime.memory_plan import is_wide
from groute_py.kernels.source import Program, options, text_of


@cache
def module(program: Program, choices: tuple[str, ...]) -> Any:
    """A program for some options, from CuPy's disk cache if it is there; once a process."""
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
    choices = options(distance_type, wide_offsets=wide, mode=mode, pulls=pulls)
    compiled = module(program, choices)
    return {name: compiled.get_function(name) for name in program.entry_points}
