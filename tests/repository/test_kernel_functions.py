"""Functions of the CUDA kernels are short."""

from __future__ import annotations

import re
from pathlib import Path

from support.places import ROOT

LONGEST = 60
"""Lines from the signature to the closing brace."""


def functions(text: str) -> list[tuple[str, int]]:
    """The functions of a formatted file: their first lines, and how many lines they have.

    clang-format puts the closing brace of a function of several lines below the beginning of its
    signature.
    """
    result = list[tuple[str, int]]()
    lines = text.splitlines()
    for first, line in enumerate(lines):
        if not re.match(r'\s*(__device__|extern "C" __global__|inline|static)\b', line):
            continue
        if line.endswith((";", "}")):
            continue
        end = " " * (len(line) - len(line.lstrip())) + "}"
        last = next((k for k in range(first + 1, len(lines)) if lines[k].startswith(end)), first)
        result.append((line.strip(), last - first + 1))
    return result


def test_no_function_is_long() -> None:
    folder = ROOT / "groute_py/kernels"
    kernels = sorted([*folder.rglob("*.cu"), *folder.rglob("*.cuh")])
    result = [
        (length, path.relative_to(ROOT), line)
        for path in kernels
        for line, length in functions(Path(path).read_text(encoding="utf-8"))
    ]
    assert len(result) > 200
    assert not [function for function in result if function[0] > LONGEST]


def test_a_long_function_is_found() -> None:
    body = "    work();\n" * LONGEST
    text = f'extern "C" __global__ void __launch_bounds__(1)\n    busy() {{\n{body}}}\n'
    assert functions(text) == [('extern "C" __global__ void __launch_bounds__(1)', LONGEST + 3)]
