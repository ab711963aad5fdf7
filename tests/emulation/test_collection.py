"""Tests of GPUs run on GPUs: collecting them must not replace CuPy by its emulation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.places import TESTS

COLLECT = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]


def test_all_tests_are_collected_without_emulation() -> None:
    done = subprocess.run(
        [sys.executable, *COLLECT, str(TESTS)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "test_collection.py::test_all_tests_are_collected_without_emulation" in done.stdout


def test_a_run_that_would_be_emulated_is_refused(tmp_path: Path) -> None:
    (tmp_path / "strays.py").write_text(
        "def pytest_collection():\n    import support.emulation.cupy\n"
    )
    done = subprocess.run(
        [sys.executable, *COLLECT, "-p", "strays", str(TESTS / "cli" / "test_atomic.py")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(TESTS)])},
        check=False,
    )
    assert done.returncode == 4
    assert "GPU tests would run in emulation" in done.stderr
