"""Compile CUDA kernels for the wheel: ``python compile_gpu_kernels.py FOLDER [usual|all [sm_90]]``.

NVRTC compiles without a GPU. ``usual`` takes a minute of one core for each processor, ``all`` ten.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from groute_py.kernels import ahead
from groute_py.kernels.nvrtc import compiled
from groute_py.kernels.source import text_of

BUILDS = {
    "usual": (ahead.usual_variants, ahead.USUAL_TARGETS),
    "all": (ahead.all_variants, ahead.TARGETS),
}


def main(folder: Path, which: str, *chosen: str) -> None:
    """Save the machine code of each variant for each processor, or for some of those there are."""
    variants, targets = BUILDS[which]
    if chosen:
        targets = tuple(target for target in ahead.TARGETS if target in chosen)
    work = [(*variant, target) for variant in variants() for target in targets]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        sizes = pool.map(_save, [folder] * len(work), *zip(*work, strict=True))
        print(f"{len(work)} CUDA programs, {sum(sizes) / 1e6:.1f} MB")


def _save(folder: Path, program: ahead.Program, choices: tuple[str, ...], target: str) -> int:
    """Compile one program; returns the bytes of its code."""
    text = text_of(program)
    done = compiled(text, choices, target)
    if not done.good:
        raise SystemExit(done.log)
    (folder / ahead.file_name(text, choices, target)).write_bytes(done.cubin)
    return len(done.cubin)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(sys.argv[2:] or ["usual"]))
