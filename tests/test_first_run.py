"""What the first run compiles counts as compiling, not as upload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EMULATED, NO_GPU, Job

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(NO_GPU is not None, reason=str(NO_GPU))]

KINDS = {
    "delta-stepping": ("cuda", "CudaDevice", {}),
    "bfs": ("alone.bfs_cuda", "BreadthFirstCuda", {}),
    "frontier-dijkstra": ("alone.frontier_cuda", "FrontierCuda", {"criterion": "out"}),
    "csr-bellman-ford": ("alone.pull_cuda", "CsrCuda", {}),
    "ell-bellman-ford": ("alone.pull_cuda", "EllCuda", {}),
    "dense-bellman-ford": ("alone.pull_cuda", "DenseCuda", {}),
}


@pytest.mark.parametrize("method", list(KINDS))
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_it_is_rehearsed_once(method: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a share goes through when it is loaded, with one that keeps nothing behind."""
    from importlib import import_module

    from groute_py.device import cuda_loaded

    module, name, choices = KINDS[method]
    kind = getattr(import_module(f"groute_py.device.{module}"), name)
    loaded: list[Any] = []
    fill = kind._fill

    def counting(device: Any, *arguments: Any) -> None:
        loaded.append(arguments[1:])
        fill(device, *arguments)

    monkeypatch.setattr(kind, "_fill", counting)
    monkeypatch.setattr(cuda_loaded, "_REHEARSED", set())
    device = kind(0, direct=False, **choices)
    for arc_count in (7, 1 << 31):
        for _ in range(2):
            device.rehearse(np.dtype(dtype), arc_count, 1)
        assert loaded == [(np.dtype(dtype), 1, arc_count)]
        assert device._graph == device._arrays == {}
        loaded.clear()


@pytest.mark.skipif(EMULATED, reason="in a process of its own, which emulates nothing")
@pytest.mark.parametrize("method", ["frontier-dijkstra", "csr-bellman-ford"])
def test_upload_is_short(method: str, groute: Job, tmp_path: Path) -> None:
    words = ["sssp", "road:60x60", "-s", "7", "--algorithm", method, "--device", "cuda", "--json"]
    done = groute(*words, CUPY_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    seconds = json.loads(done.stdout)["seconds"]
    assert seconds["upload"] < min(0.5, seconds["compile"])
