"""Kernels are compiled for one run where Numba cannot keep them."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.caching import FunctionCache
from support.processes import Job

from groute_py.cli.doctor_checks import examine
from groute_py.errors import CacheWarning
from groute_py.kernels.cpu import kernel
from groute_py.kernels.cpu.kernel import Kernel


def doubled(values: Any) -> Any:
    return 2 * values[0]


def tripled(values: Any) -> Any:
    return 3 * values[0]


class Pair(NamedTuple):
    first: int
    second: int


def first_of(pair: Any) -> Any:
    return pair[0]


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "KERNELS", [])
    kernel._warn.cache_clear()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba finds no folder to write to."""
    monkeypatch.setattr(FunctionCache._impl_class, "_locator_classes", [])


@pytest.mark.usefixtures("nowhere")
def test_no_folder_can_be_written() -> None:
    with pytest.warns(CacheWarning, match=r"this run only: neither .*; NUMBA_CACHE_DIR names"):
        assert Kernel(doubled)(np.array([21])) == 42
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Kernel(tripled)(np.array([21])) == 63


def test_where_kernels_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Kernel(doubled)(np.array([21])) == 42
    assert Path(kernel.cache_folder()).is_dir()
    monkeypatch.setattr(FunctionCache._impl_class, "_locator_classes", [])
    assert kernel.cache_folder() == ""
    result = {finding.what: finding for finding in examine()}
    assert result["Numba's cache"].state == "wrong"
    assert "NUMBA_CACHE_DIR" in result["Numba's cache"].advice


@pytest.mark.usefixtures("nowhere")
def test_nothing_is_said_before_a_kernel_is_compiled() -> None:
    assert Kernel(doubled).dispatcher._cache.load_overload((), None) is None


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk of the cache folder is full, and its files cannot be read either."""

    def refuse(*_: Any) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(FunctionCache, "load_overload", refuse)
    monkeypatch.setattr(FunctionCache, "save_overload", refuse)


@pytest.mark.usefixtures("full")
def test_a_folder_that_fails() -> None:
    with pytest.warns(CacheWarning, match="this run only: Disk quota exceeded") as said:
        results = [Kernel(each)(np.array([21])) for each in (doubled, tripled)]
    assert results == [42, 63]
    assert len(said) == 1


def test_files_of_a_version_with_other_types(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Kernel(first_of)(Pair(42, 1)) == 42
    monkeypatch.delattr(sys.modules[__name__], "Pair")
    assert Kernel(first_of)((21, 1)) == 21
    kept = Kernel(first_of)
    assert kept((63, 1)) == 63
    assert kept.dispatcher.stats.cache_misses == {}


def test_other_errors_of_numba_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("Unknown cache locator class")

    monkeypatch.setattr(FunctionCache._impl_class, "__init__", refuse)
    with pytest.raises(RuntimeError, match="Unknown cache locator class"):
        Kernel(doubled)(np.array([21]))


SCRIPT = """
import sys
from pathlib import Path
from numba.core.caching import FunctionCache
from groute_py.kernels.cpu import ahead
ahead.FOLDER = Path("none")  # a wheel's kernels need not be compiled
FunctionCache._impl_class._locator_classes = []
sys.argv = ["groute-py", "sssp", "road:9x9", "--device", "cpu"]
from groute_py.cli.main import main
main()
"""


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_command(ranks: int, script: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, and says once that nothing is kept."""
    monkeypatch.setenv("NUMBA_OPT", "0")  # compiles in less time
    done = script(SCRIPT, ranks)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("NUMBA_CACHE_DIR names another folder") == 1
    assert "Traceback" not in done.stderr
    assert "reached            68" in done.stdout
