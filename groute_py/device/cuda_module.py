"""Compiled programs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.memory import is_wide
from groute_py.kernels.source import Program, options, text_of


@cache
def module(
    program: Program, distance_type: np.dtype[Any], *, wide_offsets: bool, alone: bool
) -> Any:
    """A program for one distance type, from CuPy's disk cache if it is there; once a process."""
    choices = options(distance_type, wide_offsets=wide_offsets, alone=alone)
    return cp.RawModule(code=text_of(program), options=choices, backend="nvrtc")


def kernels_of(
    program: Program, distance_type: np.dtype[Any], arc_count: int, *, alone: bool
) -> dict[str, Any]:
    """All of its kernels, by name, for so many arcs; ``alone`` for a rank that has no peers."""
    compiled = module(program, distance_type, wide_offsets=is_wide(arc_count), alone=alone)
    return {name: compiled.get_function(name) for name in program.entry_points}


def compile_now(
    program: Program, distance_type: np.dtype[Any], arc_count: int, *, alone: bool
) -> None:
    """So that no solve waits for it, and other processes find it in the disk cache."""
    kernels = kernels_of(program, distance_type, arc_count, alone=alone)
    assert kernels[program.entry_points[0]].kernel is not None
