"""CUDA kernels that were compiled when the package was built, so that a first run need not.

Machine code is saved under a name made of its source text, options and processor, so code of other
sources is never found. It runs on GPUs of the same major compute capability; elsewhere CuPy
compiles in the first run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parent / "compiled"
"""Has the files of the build; there is none in a checkout."""


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
