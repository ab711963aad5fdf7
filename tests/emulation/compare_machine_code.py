"""Whether the kernels of two commits are the same machine code; names and lines may differ.

In the folder tests:

python -m emulation.compare_machine_code HEAD~3
python -m emulation.compare_machine_code HEAD~3 HEAD

The second commit is the working tree if it is left out. Ends with 1 and the kernels that differ.
Each program is compiled for compute capability 9.0, for the types and modes of `VARIANTS`.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from concurrent.futures import ProcessPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from support.build_scripts import build_script
from support.machine_code import machine_code
from support.places import ROOT

compiled = build_script("compile_gpu_kernels").compiled

KERNELS = "groute_py/kernels"
VARIANTS = [
    *((name, False, "alone", False) for name in ("int32", "int64", "float32", "float64")),
    ("int32", True, "alone", True),
    ("int32", False, "rounds", False),
    ("int32", False, "fused", False),
    ("float64", False, "fused", True),
    ("int32", True, "hierarchical", False),
]
"""The type of distances, wide offsets, the mode, and whether deferred arcs are pulled."""

Code = dict[str, bytes]
"""Machine code by program, variant and section."""


def kernels_of(commit: str | None, folder: Path) -> Path:
    """The folder of the kernels of a commit, put into a folder; None for the working tree."""
    if commit is None:
        return ROOT / KERNELS
    words = ["git", "-C", str(ROOT), "archive", commit, KERNELS]
    archive = subprocess.run(words, capture_output=True, check=True).stdout
    folder.mkdir()
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / KERNELS


def source_in(kernels: Path) -> Any:
    """The module that knows the programs."""
    spec = spec_from_file_location("source", kernels / "source.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["source"] = module
    spec.loader.exec_module(module)
    return module


def code_of(kernels: Path, program: int, variant: tuple[str, bool, str, bool]) -> Code:
    """The machine code of one program in one variant."""
    source = source_in(kernels)
    name, wide, mode, pulls = variant
    choices = source.options(np.dtype(name), wide_offsets=wide, mode=mode, pulls=pulls)
    done = compiled(source.text_of(source.PROGRAMS[program]), choices, "sm_90")
    assert done.good, done.log
    where = f"{source.PROGRAMS[program].entry_points[-1]} {' '.join(map(str, variant))} "
    return {where + name: code for name, code in machine_code(done.cubin).items()}


def all_code(kernels: Path, pool: ProcessPoolExecutor) -> Code:
    """That of all programs; those that know one mode only are compiled in it."""
    source = source_in(kernels)
    jobs = [
        pool.submit(code_of, kernels, program, variant)
        for program in range(len(source.PROGRAMS))
        for variant in VARIANTS
        if variant[2:] == ("alone", False) or source.PROGRAMS[program] is source.SOLVE
    ]
    return {name: code for job in jobs for name, code in job.result().items()}


def main(old: str, new: str | None = None) -> int:
    with TemporaryDirectory() as folder, ProcessPoolExecutor() as pool:
        olds = all_code(kernels_of(old, Path(folder) / "old"), pool)
        news = all_code(kernels_of(new, Path(folder) / "new"), pool)
    differ = sorted(name for name in olds.keys() | news.keys() if olds.get(name) != news.get(name))
    print("\n".join(differ))
    print(f"{len(differ)} of {len(olds | news)} sections differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
