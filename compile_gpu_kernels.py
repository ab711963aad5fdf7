"""Compile CUDA kernels for the wheel: ``python compile_gpu_kernels.py FOLDER [usual|all [sm_90]]``.

NVRTC compiles without a GPU or a driver. ``usual`` takes a minute of one core for each processor,
``all`` 15.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.ahead import file_name
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
    text_of,
)

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")
"""The processors that are compiled for: the first of each major compute capability."""

USUAL_TARGETS = ("sm_90", "sm_100")
"""Processors of ``GROUTE_PY_GPU_KERNELS=usual``."""

LINKING = ("alone", "fused")
"""The modes that ``auto`` takes on the GPUs of one host."""

OF_OWN_TYPES = (SOLVE, CERTIFICATE, LOADING, LINKS, GRID, GENERATE)
"""Programs whose types are not those of the weights, and the solver."""

FAST = "--Ofast-compile=max"
"""Leaves out most of the optimization, which takes over nine tenths of the time."""


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


class Compiled(NamedTuple):
    """Success, the compiler's messages, and the PTX, or for ``sm_`` the object."""

    good: bool
    log: str
    ptx: str
    cubin: bytes


def compiled(text: str, choices: Sequence[str], architecture: str) -> Compiled:
    """Compile a program to PTX (``compute_90``), for messages, or to machine code (``sm_90``)."""
    from cuda.bindings import nvrtc

    program = _ask(nvrtc.nvrtcCreateProgram, text.encode(), b"joined.cu", 0, [], [])
    try:
        fast = [FAST] if architecture.startswith("compute_") else []
        words = [word.encode() for word in (*choices, *fast, f"-arch={architecture}")]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
        good = status == nvrtc.nvrtcResult.NVRTC_SUCCESS
        log = _bytes_of(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
        ptx = cubin = b""
        if good and architecture.startswith("sm_"):
            cubin = _bytes_of(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        elif good:
            ptx = _bytes_of(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        return Compiled(good, _text(log), _text(ptx), cubin)
    finally:
        _ask(nvrtc.nvrtcDestroyProgram, program)


def _ask(call: Callable[..., Any], *arguments: Any) -> Any:
    from cuda.bindings import nvrtc

    status, *rest = call(*arguments)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    return rest[0] if rest else None


def _bytes_of(program: Any, size: Callable[..., Any], content: Callable[..., Any]) -> bytes:
    # NVRTC writes into the bytes: one byte more, so that they are never a constant of Python's
    buffer = bytes(_ask(size, program) + 1)
    _ask(content, program, buffer)
    return buffer[:-1]


def _text(content: bytes) -> str:
    return content.decode(errors="replace").rstrip("\0")


BUILDS = {
    "usual": (usual_variants, USUAL_TARGETS),
    "all": (all_variants, TARGETS),
}


def main(folder: Path, which: str, *chosen: str) -> None:
    """Save the machine code of each variant for each processor, or for some of those there are."""
    variants, targets = BUILDS[which]
    if chosen:
        targets = tuple(target for target in TARGETS if target in chosen)
    work = [(*variant, target) for variant in variants() for target in targets]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        sizes = pool.map(_save, [folder] * len(work), *zip(*work, strict=True))
        print(f"{len(work)} CUDA programs, {sum(sizes) / 1e6:.1f} MB")


def _save(folder: Path, program: Program, choices: tuple[str, ...], target: str) -> int:
    """Compile one program; returns the bytes of its code."""
    text = text_of(program)
    done = compiled(text, choices, target)
    if not done.good:
        raise SystemExit(done.log)
    (folder / file_name(text, choices, target)).write_bytes(done.cubin)
    return len(done.cubin)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(sys.argv[2:] or ["usual"]))
