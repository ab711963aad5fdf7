"""What the first run compiles for a CPU counts as compiling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Job


@pytest.mark.parametrize(
    ("method", "ranks"),
    [
        ("delta-stepping", 1),
        ("heap-dijkstra", 1),
        ("frontier-dijkstra", 1),
        pytest.param("delta-stepping", 2, marks=pytest.mark.mpi),
    ],
)
def test_all_else_is_short(method: str, ranks: int, groute: Job, tmp_path: Path) -> None:
    words = ["sssp", "road:60x60", "--algorithm", method, "--device", "cpu", "--json"]
    done = groute(*words, ranks=ranks, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    seconds = json.loads(done.stdout)["seconds"]
    assert sum(seconds[p] for p in ("upload", "solve", "predecessors")) < seconds["compile"] / 20
