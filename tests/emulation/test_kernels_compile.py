"""The CUDA kernels compile, without a GPU: NVRTC for every distance type and architecture."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from groute_py.graph.operators import operator_for
from groute_py.kernels import source
from groute_py.kernels.source import (
    MODES,
    PROGRAMS,
    SOLVE,
    Program,
    files_of,
    options,
    text_of,
    text_with,
)

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")
from support.build_scripts import build_script
from support.machine_code import machine_code

compiled = build_script("compile_gpu_kernels").compiled

TYPES = ["int32", "int64", "float32", "float64"]
OLDEST = "compute_80"
FILES = [(program, name) for program in PROGRAMS for name in files_of(program)]
ONCE = {name: program for program, name in reversed(FILES)}
"""Each file with the first program that it belongs to."""

VARIANTS = [
    *(("int32", wide, mode, "compute_90") for wide in (False, True) for mode in MODES),
    *((name, wide, "alone", OLDEST) for name in TYPES for wide in (False, True)),
    ("int64", False, "fused", OLDEST),
    *((name, True, "hierarchical", OLDEST) for name in ("float32", "float64")),
    *((name, False, "rounds", OLDEST) for name in ("int32", "float64")),
    *(
        (name, False, mode, "compute_100")
        for name, mode in (("float32", "fused"), ("float64", "alone"))
    ),
]
"""Types, whether offsets are wide, modes, architectures."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "name", "wide", "mode", "architecture"),
    [(p, *v) for v in VARIANTS for p in PROGRAMS if p is SOLVE or "alone" in v],
)
def test_every_variant_compiles(
    program: Program, name: str, wide: bool, mode: str, architecture: str
) -> None:
    choices = options(np.dtype(name), wide_offsets=wide, mode=mode)
    done = compiled(text_of(program), choices, architecture)
    assert done.good, done.log
    assert "warning" not in done.log, done.log
    missing = [point for point in program.entry_points if f".entry {point}(" not in done.ptx]
    assert not missing
    assert f".target sm_{architecture.removeprefix('compute_')}" in done.ptx


PULLING = [
    *(("int32", wide, "alone", "compute_90") for wide in (False, True)),
    ("int32", False, "fused", "compute_90"),
    ("int64", False, "alone", OLDEST),
    ("float32", False, "alone", "compute_100"),
    ("float64", True, "fused", OLDEST),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wide", "mode", "architecture"), PULLING)
def test_kernels_that_pull_compile(name: str, wide: bool, mode: str, architecture: str) -> None:
    choices = options(np.dtype(name), wide_offsets=wide, mode=mode, pulls=True)
    done = compiled(text_of(SOLVE), choices, architecture)
    assert done.good, done.log
    assert "warning" not in done.log, done.log


@pytest.mark.parametrize(
    ("expression", "kind", "mode"),
    [
        (
            "max(abs(-distance) // 7 * 7, distance) + (7 if weight < 3 else weight)",
            "int64",
            "alone",
        ),
        ("max(distance, weight, 5000000000)", "int64", "fused"),
        ("max(distance * 1.25 + weight, 1e-5) + abs(weight) / 3", "float64", "alone"),
    ],
)
def test_kernels_of_expressions_compile(expression: str, kind: str, mode: str) -> None:
    extended = operator_for(expression, np.arange(9, dtype=kind), "small").cuda
    choices = options(np.dtype(kind), wide_offsets=False, mode=mode)
    done = compiled(text_with(SOLVE, extended), choices, OLDEST)
    assert done.good, done.log
    assert "warning" not in done.log, done.log


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.sources[-1])
def test_no_entry_point_is_unlisted(program: Program) -> None:
    choices = options(np.dtype("int32"), wide_offsets=False, mode="hierarchical")
    done = compiled(text_of(program), choices, OLDEST)
    assert done.good, done.log
    entries = [line for line in done.ptx.splitlines() if ".entry " in line]
    assert sorted(line.split(".entry ")[1].split("(")[0] for line in entries) == sorted(
        program.entry_points
    )


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The kernels in a folder of their own, where they may be broken."""
    here = Path(source.__file__).parent
    for name in ONCE:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(here / name, tmp_path / name)
    monkeypatch.setattr(source, "__file__", str(tmp_path / "source.py"))
    text_of.cache_clear()
    yield tmp_path
    text_of.cache_clear()


def with_line(path: Path, number: int, line: str) -> None:
    """Insert a line so that it is line ``number`` of the file."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[: number - 1], line, *lines[number - 1 :]]) + "\n")
    text_of.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("name", ONCE)
def test_an_error_names_file_and_line(copied: Path, name: str) -> None:
    last = len((copied / name).read_text().splitlines()) + 1
    with_line(copied / name, last, "#error deliberate")
    choices = options(np.dtype("int32"), wide_offsets=False, mode="hierarchical")
    done = compiled(text_of(ONCE[name]), choices, OLDEST)
    assert not done.good
    assert f"{name}({last})" in done.log
    assert "deliberate" in done.log


@pytest.mark.parametrize(("program", "name"), FILES)
def test_every_file_is_in_the_text(copied: Path, program: Program, name: str) -> None:
    """CuPy's cache knows a kernel by its text, so a changed header must change the text."""
    before = text_of(program)
    with_line(copied / name, 3, "// changed")
    assert text_of(program) != before


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.sources[-1])
def test_nothing_is_included(program: Program) -> None:
    """By the compiler: a file could change without the text changing, or be absent."""
    lines = text_of(program).splitlines()
    assert not [line for line in lines if line.lstrip().startswith("#include")]
    assert not [line for line in lines if "#pragma once" in line]


def test_all_files_are_listed() -> None:
    here = Path(source.__file__).parent
    result = {path for path in here.rglob("*") if path.suffix in (".cu", ".cuh")}
    assert {path.relative_to(here).as_posix() for path in result} == set(ONCE)


@pytest.mark.parametrize("name", ONCE)
def test_a_file_compiles_by_itself(name: str) -> None:
    """It includes all that it uses."""
    choices = options(np.dtype("int32"), wide_offsets=False, mode="hierarchical", pulls=True)
    done = compiled(text_of(Program((name,))), choices, OLDEST)
    assert done.good, done.log


def test_editors_have_the_same_options() -> None:
    """`compile_flags.txt` is what clangd compiles each file with."""
    flags = (Path(source.__file__).parent / "compile_flags.txt").read_text().split()
    choices = options(np.dtype("int32"), wide_offsets=False, mode="hierarchical", pulls=True)
    assert flags == ["-xcuda", choices[0], "-I.", *choices[1:]]


def test_options_tell_all_variants_apart() -> None:
    which = product(TYPES, (False, True), MODES)
    variants = {options(np.dtype(n), wide_offsets=w, mode=mode) for n, w, mode in which}
    assert len(variants) == 2 * len(TYPES) * len(MODES)


KERNEL = """
extern "C" __global__ void twice(int* values, int count) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < count) values[place] *= 2;
}
"""


def test_names_and_lines_are_no_machine_code() -> None:
    same = KERNEL.replace("place", "index").replace("{", "{\n\n", 1)
    other = KERNEL.replace("*= 2", "*= 6")
    codes = [machine_code(compiled(text, (), "sm_90").cubin) for text in (KERNEL, same, other)]
    assert codes[0].keys() >= {".text.twice"}
    assert codes[0] == codes[1]
    assert codes[0][".text.twice"] != codes[2][".text.twice"]
