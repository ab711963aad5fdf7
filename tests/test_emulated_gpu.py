"""The tests of GPUs' devices in emulation: of one, of several, and of their exchange."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

SOLVERS = "(distances_and_tree or TestShapes) and not sinking"
MANY = (
    "no_arcs or cycle_of_weight or beyond_32 or beyond_64_bits or float32_sums or sources_of_sssp "
    "or on_ranks or test_many_memory"
)
"""All but what takes a GPU long: it would take minutes here."""


@pytest.mark.timeout(1800)
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize(
    ("files", "which", "least"),
    [
        (["test_solvers.py"], SOLVERS, 60),
        (["test_apsp.py", "test_many_memory.py"], MANY, 24),
    ],
)
def test_in_emulation(files: list[str], which: str, least: int) -> None:
    words = ["-m", "pytest", "-q", "-p", "emulated_gpu", "-p", "no:cacheprovider", "-m", "gpu"]
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, *words, "-k", which, *(str(HERE / name) for name in files)],
        cwd=HERE.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    said = re.search(r"(\d+) passed, \d+ deselected", done.stdout)
    assert said is not None, done.stdout[-1000:]
    assert int(said[1]) >= least


@pytest.mark.timeout(1800)
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize(
    ("setting", "expected"),
    [("", "fused"), ("EMULATED_THICK", "fused"), ("GROUTE_PY_HOSTS", "hierarchical")],
)
def test_exchange(setting: str, expected: str) -> None:
    environ = os.environ | {"EMULATED_GPUS": "4"} | ({setting: "2"} if setting else {})
    done = subprocess.run(
        [sys.executable, str(HERE / "exchange_in_emulation.py"), expected, "8"],
        env=environ,
        capture_output=True,
        text=True,
    )
    said = re.fullmatch(r"8 graphs right, shown after (\d+) turns\n", done.stdout)
    assert said is not None, done.stdout + done.stderr[-2000:]
    assert (int(said[1]) > 0) == (setting == "EMULATED_THICK")
