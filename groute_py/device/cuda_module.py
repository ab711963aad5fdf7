"""Compiled programs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy as cp
import numpy as np

from groute_py.kernels.source import Program, options, text_of


@cache
def module(program: Program, distance_type: np.dtype[Any], *, wide_offsets: bool) -> Any:
    """A program for one distance type, from CuPy's disk cache if it is there; once a process."""
    choices = options(distance_type, wide_offsets=wide_offsets)
    return cp.RawModule(code=text_of(program), options=choices, backend="nvrtc")
