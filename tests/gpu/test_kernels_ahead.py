"""Kernels that a build has compiled are run; those that the driver refuses are compiled anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.build_scripts import build_script
from support.skips import EMULATED, needs_gpu

from groute_py.kernels import ahead
from groute_py.kernels.source import BLOCK, SUMMARY, options, text_of

pytestmark = needs_gpu

needs_binaries = pytest.mark.skipif(EMULATED, reason="emulated kernels are no binaries")

CHOICES = options(np.dtype("int32"), wide_offsets=False, mode="alone")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the build would have put the program `SUMMARY` for this GPU."""
    import cupy as cp

    target = f"sm_{cp.cuda.Device().compute_capability[:-1]}0"
    monkeypatch.setattr(ahead, "FOLDER", tmp_path)
    return tmp_path / ahead.file_name(text_of(SUMMARY), CHOICES, target)


def loaded() -> Any:
    """The program, as a new process loads it."""
    from groute_py.device.cuda.runtime.compile import _module, capability

    return _module.__wrapped__(SUMMARY, CHOICES, capability(), extended="")


@needs_binaries
def test_it_is_loaded_from_the_build(built: Path) -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")
    compiled = build_script("compile_gpu_kernels").compiled
    done = compiled(text_of(SUMMARY), CHOICES, built.name.split(".")[1])
    built.write_bytes(done.cubin)
    made = loaded()
    assert made.file_path == str(built)
    for name in SUMMARY.entry_points:
        assert made.get_function(name).max_threads_per_block >= BLOCK


@needs_binaries
def test_what_the_driver_refuses_is_compiled(built: Path) -> None:
    built.write_bytes(b"no machine code")
    made = loaded()
    assert made.file_path is None
    assert made.get_function(SUMMARY.entry_points[0]).max_threads_per_block >= BLOCK


def test_each_kind_of_gpu_has_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where one process works on one and then on another."""
    from groute_py.device.cuda.runtime import compile

    asked: list[str] = []
    monkeypatch.setattr(ahead, "FOLDER", tmp_path)
    monkeypatch.setattr(compile, "_built", lambda *words: asked.append(words[-1]) or object())
    compile._module.cache_clear()
    result = []
    for kind in ("90", "80", "90"):
        monkeypatch.setattr(compile, "capability", lambda kind=kind: kind)
        result.append(compile.module(SUMMARY, CHOICES))
    compile._module.cache_clear()
    assert asked == ["90", "80"]
    assert result[0] is result[2] is not result[1]
