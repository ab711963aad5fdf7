"""Kernels that the build has compiled: found for their sources and types, else left to Numba."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groute_py.kernels.cpu import ahead, kernel
from groute_py.kernels.cpu.kernel import Kernel


def doubled(values: Any) -> Any:
    return 2 * values[0]


class Own:
    """Numba's cache, which has nothing and counts what is asked of it."""

    def __init__(self) -> None:
        self.asked = 0

    def load_overload(self, types: Any, target_context: Any) -> None:
        self.asked += 1

    def save_overload(self, types: Any, result: Any) -> None:
        """Nowhere."""


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a build that has compiled `doubled` for int64."""
    monkeypatch.setattr(kernel, "KERNELS", [])
    made = Kernel(doubled)
    made.dispatcher._cache = Own()
    assert made(np.array([21])) == 42
    monkeypatch.setattr(ahead, "FOLDER", tmp_path)
    ahead._saved.cache_clear()
    yield ahead.save([made], tmp_path)
    ahead._saved.cache_clear()


def again(values: Any) -> tuple[Any, int]:
    """What a new process gets from the kernel, and how often Numba's cache is asked."""
    result, own = Kernel(doubled), Own()
    result.dispatcher._cache = ahead.AheadCache(doubled, own)
    return result(values), own.asked


def test_what_was_compiled_is_found(saved: Path) -> None:
    assert again(np.array([4])) == (8, 0)
    assert again(np.array([4.5])) == (9.0, 1)


@pytest.mark.parametrize("what", ["sources", "processor", "version"])
def test_what_does_not_fit_is_left(what: str, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "sources":
        monkeypatch.setattr(ahead, "_digest", lambda: b"others")
    elif what == "processor":
        monkeypatch.setattr(ahead, "_suits", lambda: False)
    else:
        saved.rename(saved.with_name("cpython-31-x86_64-numba-0.1.kernels"))
    assert again(np.array([4])) == (8, 1)
