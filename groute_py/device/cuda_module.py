"""Compiled programs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.memory import is_wide
from groute_py.kernels.source import Program, options, text_of


@cache
def module(program: Program, distance_type: np.dtype[Any], *, wide_offsets: bool) -> Any:
    """A program for one distance type, from CuPy's disk cache if it is there; once a process."""
    choices = options(distance_type, wide_offsets=wide_offsets)
    return cp.RawModule(code=text_of(program), options=choices, backend="nvrtc")


def kernels_of(program: Program, distance_type: np.dtype[Any], arc_count: int) -> dict[str, Any]:
    """All of its kernels for so many arcs, by name."""
    compiled = module(program, distance_type, wide_offsets=is_wide(arc_count))
    return {name: compiled.get_function(name) for name in program.entry_points}


def compile_now(program: Program, distance_type: np.dtype[Any], arc_count: int) -> None:
    """So that no solve waits for it, and other processes find it in the disk cache."""
    compiled = module(program, distance_type, wide_offsets=is_wide(arc_count))
    kernel = compiled.get_function(program.entry_points[0])
    assert kernel.kernel is not None
