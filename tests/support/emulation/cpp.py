"""Kernels for many sources as plain C++ on this machine; see emulation.cuh."""

from __future__ import annotations

import ctypes
import os
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from groute_py.kernels.source import ALL_PAIRS, Program, options, text_of

MOST_ARGUMENTS = 12

LIBRARIES = "EMULATED_LIBRARIES"
"""Names a folder where processes find what others have compiled."""


def as_cpp(program: Program) -> str:
    """A program as plain C++."""
    return in_cpp(text_of(program))


def in_cpp(text: str) -> str:
    """The same of its text."""
    return f'#include "{Path(__file__).with_name("emulation.cuh")}"\n{text}'


def compiled(text: str, choices: list[str]) -> Any:
    """Plain C++ as a library in this process; ``choices`` are what the compiler is told."""
    flags = [*choices, "-shared", "-fPIC", "-w", "-fno-strict-aliasing", "-fwrapv"]
    folder = Path(os.environ.get(LIBRARIES) or mkdtemp())
    name = sha256(f"{flags}{text}".encode()).hexdigest()
    library, made = folder / f"{name}.so", folder / f"{name}-{os.getpid()}.so"
    if not library.exists():
        source = made.with_suffix(".cpp")
        source.write_text(text)
        subprocess.run(["g++", *flags, "-o", str(made), str(source)], check=True)
        made.replace(library)
    return ctypes.CDLL(str(library))


class Emulated:
    """The kernels in a text of plain C++.

    Args:
        text: as `in_cpp` gives it.
        choices: what the compiler is told.
    """

    def __init__(self, text: str, choices: tuple[str, ...] = ()) -> None:
        self._library = compiled(text, [*choices, "-O2"])

    def __call__(self, name: str, grid: tuple[int, ...], threads: int, *arguments: Any) -> None:
        """Run a kernel; arguments are arrays and integers."""
        words = [a.ctypes.data if isinstance(a, np.ndarray) else int(a) for a in arguments]
        padded = words + [0] * (MOST_ARGUMENTS - len(words))
        columns, rows = (*grid, 1)[:2]
        self._library.launch(
            getattr(self._library, name),
            columns,
            rows,
            threads,
            (ctypes.c_uint64 * MOST_ARGUMENTS)(*padded),
        )


@cache
def emulated(name: str) -> Emulated:
    """Those of `ALL_PAIRS` for a distance type, compiled once a session."""
    choices = options(np.dtype(name), wide_offsets=False, mode="alone")
    return Emulated(as_cpp(ALL_PAIRS), tuple(choices))


def arcs_of(graph: Any, distance_type: np.dtype[Any]) -> tuple[Any, Any]:
    """Offsets and arcs as kernels load them (``Arc`` in layout/types.cuh)."""
    width = distance_type.itemsize
    layout: np.dtype[Any] = np.dtype(
        {
            "names": ["weight", "head"],
            "formats": [distance_type, np.uint32],
            "offsets": [0, width],
            "itemsize": 2 * width,
        }
    )
    arcs = np.zeros(graph.arc_count + 1, layout)  # so that there is one to point to
    arcs["weight"][:-1], arcs["head"][:-1] = graph.weights, graph.heads
    return graph.offsets.astype(np.uint32), arcs
