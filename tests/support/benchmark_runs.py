"""``python -m benchmarks`` in this process, on tiny cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.places import ROOT

Bench = Callable[..., tuple[Result, list[dict[str, Any]]]]
"""Takes cases and ``more`` options; gives what was said and the records."""


def bench_of(option: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Runs each case once.

    Args:
        option: what is measured, such as ``--jobs``.
        folder: for the numbers.
        monkeypatch: makes the benchmarks importable.
    """
    monkeypatch.syspath_prepend(str(ROOT))
    main = import_module("benchmarks.__main__").main  # not checked as strictly as tests are

    def run(*cases: str, more: tuple[str, ...] = ()) -> tuple[Result, list[dict[str, Any]]]:
        words = [option, "--output", str(folder / "out"), "--repeat", "1", *more]
        done = CliRunner().invoke(
            main, words + [word for case in cases for word in ("--case", case)]
        )
        files = list((folder / "out").glob("*.json"))
        return done, json.loads(files[0].read_text())["records"] if files else []

    return run
