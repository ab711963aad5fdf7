"""CUDA kernels that the build has compiled: found for their text, options and processor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.build_scripts import build_script

from groute_py.kernels import ahead
from groute_py.kernels.source import BREADTH_FIRST, CERTIFICATE, GRID, MODES, SOLVE, options

BUILD = build_script("compile_gpu_kernels")

FLOATS = "float32", "float64"
CHOICES = options(np.dtype("int32"), wide_offsets=False, mode="alone")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a build has compiled of the text ``code`` for one processor."""
    monkeypatch.setattr(ahead, "FOLDER", tmp_path)
    path = tmp_path / ahead.file_name("code", CHOICES, "sm_90")
    path.write_bytes(b"machine code")
    return path


def test_it_is_found(built: Path) -> None:
    assert ahead.find("code", CHOICES, "90") == built
    assert ahead.find("code", CHOICES, "93") == built  # a later minor capability
    assert ahead.counts() == {"sm_90": 1}


def test_another_is_not(built: Path) -> None:
    assert ahead.find("code ", CHOICES, "90") is None
    assert ahead.find("code", CHOICES[:-1], "90") is None
    assert ahead.find("code", CHOICES, "80") is None
    assert ahead.find("code", CHOICES, "100") is None
    assert ahead.find("code", CHOICES, "120") is None


def test_a_checkout_has_none() -> None:
    assert not ahead.FOLDER.exists()


def test_usual_variants_are_some_of_all() -> None:
    usual, every = BUILD.usual_variants(), BUILD.all_variants()
    assert len(set(usual)) == len(usual)
    assert len(set(every)) == len(every)
    assert set(usual) < set(every)
    assert (SOLVE, CHOICES) in usual
    assert (BREADTH_FIRST, CHOICES) in usual
    for name in ("int64", "float32"):  # the distances of int32 weights have 64 bits for users
        assert (CERTIFICATE, options(np.dtype(name), wide_offsets=False, mode="alone")) in usual
    kinds = [options(np.dtype(name), wide_offsets=False, mode="alone") for name in FLOATS]
    for variants in usual, every:  # distances of rasters are floats, whatever the weights
        assert [choices for program, choices in variants if program == GRID] == kinds


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pulls", [False, True])
def test_all_variants_have_what_solves_ask_for(mode: str, pulls: bool) -> None:
    wide = options(np.dtype("float64"), wide_offsets=True, mode=mode, pulls=pulls)
    assert (SOLVE, wide) in BUILD.all_variants()
