"""A job that is killed, as the kernel does it, and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.command import as_json, run_command
from support.kept_rows import listing

COUNT = 2400


def on_one_core() -> None:
    """So that it takes some seconds on any machine."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def test_routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    sources, targets = random.permutation(14400)[:COUNT] + 1, random.integers(1, 14401, (2, COUNT))
    lines = [f"{s},{t}\n" for row in targets for s, t in zip(sources, row, strict=True)]
    (tmp_path / "pairs.csv").write_text("".join(lines))
    words = ["route", "road:120x120", "--pairs", "pairs.csv", "--paths", "--device", "cpu", "-o"]
    command = [sys.executable, "-m", "groute_py", *words, "out.csv"]
    with subprocess.Popen(command, preexec_fn=on_one_core) as running:
        folder, end, written = tmp_path / "out.csv.partial", time.monotonic() + 60, 0
        while time.monotonic() < end and running.poll() is None:
            sizes = [parts.stat().st_size for parts in folder.glob("parts-*")]
            before, written = written, sum(sizes)
            if 0 < before == written:
                break  # else it may be writing
            time.sleep(0.05)
        running.kill()
    assert running.returncode == -signal.SIGKILL
    assert listing(tmp_path) == ["out.csv.partial", "pairs.csv"]
    result = as_json(run_command(*words, "out.csv", "--resume", "--json"))
    assert 0 < result["solved_now"] < COUNT
    run_command(*words, "wanted.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "wanted.csv").read_bytes()
    assert listing(tmp_path) == ["out.csv", "pairs.csv", "wanted.csv"]
