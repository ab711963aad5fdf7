"""CUDA kernels that were compiled when the package was built, so that a first run need not.

Machine code is saved under a name made of its source text, options and processor, so code of other
sources is never found. It runs on GPUs of the same major compute capability; elsewhere CuPy
compiles in the first run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from groute_py.kernels.source import (
    CERTIFICATE,
    GENERATE,
    GRID,
    LINKS,
    LOADING,
    MODES,
    PROGRAMS,
    SOLVE,
    Program,
    options,
)

FOLDER = Path(__file__).parent / "compiled"
"""Has the files of the build; there is none in a checkout."""

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")
"""The processors that are compiled for: the first of each major compute capability."""

USUAL_TARGETS = ("sm_90", "sm_100")
"""Processors of ``GROUTE_PY_GPU_KERNELS=usual``."""

LINKING = ("alone", "fused")
"""The modes that ``auto`` takes on the GPUs of one host."""

OF_OWN_TYPES = (SOLVE, CERTIFICATE, LOADING, LINKS, GRID, GENERATE)
"""Programs whose types are not those of the weights, and the solver."""


class Variant(NamedTuple):
    """A program, compiled with some options."""

    program: Program
    choices: tuple[str, ...]


def usual_variants() -> list[Variant]:
    """Variants that ``auto`` takes on one host for weights of 32 bits and up to 2³¹ arcs."""
    solves = _variants(("int32", "float32"), (False,), LINKING, (False,))
    return [*solves, *_alone(CERTIFICATE, "int64", "float32"), *_others()]


def all_variants() -> list[Variant]:
    """Variants that any options take."""
    types = ("int32", "int64", "float32", "float64")
    solves = _variants(types, (False, True), tuple(MODES), (False, True))
    certificates = _alone(CERTIFICATE, "int64", "float32", "float64")
    return [*solves, *certificates, *_others()]


def file_name(text: str, choices: tuple[str, ...], target: str) -> str:
    """Name the file of the machine code of a program's text with some options for a processor."""
    digest = hashlib.sha256("\0".join((target, *choices, text)).encode())
    return f"{digest.hexdigest()[:32]}.{target}.cubin"


def counts() -> dict[str, int]:
    """Count the programs that the build compiled for each processor, such as ``sm_90``."""
    return Counter(path.name.split(".")[1] for path in sorted(FOLDER.glob("*.cubin")))


def find(text: str, choices: tuple[str, ...], capability: str) -> Path | None:
    """Find the build's code for a compute capability, such as ``90``, or an earlier minor one."""
    path = FOLDER / file_name(text, choices, f"sm_{capability[:-1]}0")
    return path if path.is_file() else None


def _variants(
    types: tuple[str, ...], wide: tuple[bool, ...], modes: tuple[str, ...], pulls: tuple[bool, ...]
) -> Iterator[Variant]:
    """Yield variants of the solver in all these ways, and of other programs in their only one."""
    for name, is_wide in product(types, wide):
        kind = np.dtype(name)
        for mode, pulled in product(modes, pulls):
            yield Variant(SOLVE, options(kind, wide_offsets=is_wide, mode=mode, pulls=pulled))
        alone = options(kind, wide_offsets=is_wide, mode="alone")
        yield from (Variant(program, alone) for program in PROGRAMS if program not in OF_OWN_TYPES)


def _others() -> Iterator[Variant]:
    """Yield the programs of assignments, rasters and generated graphs."""
    assignments = chain(_alone(LOADING, "float64"), _alone(LINKS, "float64"))
    return chain(assignments, _alone(GRID, "float32", "float64"), _alone(GENERATE, "int32"))


def _alone(program: Program, *types: str) -> Iterator[Variant]:
    """Yield a program for one GPU, for some types of distances."""
    for name in types:
        yield Variant(program, options(np.dtype(name), wide_offsets=False, mode="alone"))
