"""What the first run compiles counts as compiling, not as upload."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.graphs import scipy_distances
from support.processes import Job
from support.skips import EMULATED, needs_gpu

from groute_py import UNREACHED, generate, prepare, write_graph
from groute_py.device.base import ModeName, Terms
from groute_py.kernels.source import MODES, options
from groute_py.partition.share import Share

pytestmark = needs_gpu

KINDS = {
    "delta-stepping": ("sssp.method", "GpuMethod", {}),
    "bfs": ("methods.bfs", "BreadthFirst", {}),
    "frontier-dijkstra": ("methods.frontier_dijkstra", "FrontierDijkstra", {"criterion": "out"}),
    "csr-bellman-ford": ("methods.min_plus", "MinPlus", {"storage": "csr"}),
    "ell-bellman-ford": ("methods.min_plus", "MinPlus", {"storage": "ell"}),
    "contraction": ("methods.contraction", "Contraction", {}),
    "dense-bellman-ford": ("methods.min_plus", "MinPlus", {"storage": "dense"}),
}


@pytest.mark.parametrize("method", list(KINDS))
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_it_is_warmed_up_once(method: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a share goes through when it is loaded, with one that keeps nothing behind."""
    from importlib import import_module

    from groute_py.device.cuda.sssp import device as home

    module, name, choices = KINDS[method]
    kind = getattr(import_module(f"groute_py.device.cuda.{module}"), name)
    loaded: list[Terms] = []
    load = home.CudaDevice.load

    def counting(device: Any, share: Share, terms: Terms) -> None:
        loaded.append(terms)
        load(device, share, terms)

    monkeypatch.setattr(home.CudaDevice, "load", counting)
    monkeypatch.setattr(home, "WARMED_UP", set())
    device = home.CudaDevice(0, direct=False, method=kind, **choices)
    for arcs in (7, 1 << 31):
        terms = Terms(np.dtype(dtype), 1, "alone", arcs)
        for _ in range(2):
            device.warm_up(terms)
        assert loaded == [terms]
        assert not device.is_loaded
        loaded.clear()


@pytest.mark.parametrize("mode", MODES)
def test_a_share_finds_its_kernels_compiled(
    mode: ModeName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those for its mode, and for offsets into as many arcs as any rank has."""
    from groute_py.device.cuda.runtime import compile as compiling
    from groute_py.device.cuda.runtime import launch
    from groute_py.device.cuda.sssp import device as home

    compiled: list[tuple[str, ...]] = []

    class RawModule:
        def __init__(self, *, options: tuple[str, ...], **_: Any) -> None:
            compiled.append(options)

        def get_function(self, _: str) -> Any:
            return SimpleNamespace(kernel=SimpleNamespace(ptr=0))

    monkeypatch.setattr(home, "WARMED_UP", set())
    monkeypatch.setattr(compiling, "cp", SimpleNamespace(RawModule=RawModule))
    monkeypatch.setattr(compiling, "capability", lambda: "90")
    monkeypatch.setattr(compiling, "_module", cache(compiling._module.__wrapped__))
    monkeypatch.setattr(launch.driver, "occupancyMaxActiveBlocksPerMultiprocessor", lambda *_: 1)
    device, kind = home.CudaDevice(0, direct=False), np.dtype(np.int32)
    for arcs in (7, 1 << 31):
        terms = Terms(kind, 2, mode, arcs)
        device.warm_up(terms)
        assert compiled == [options(kind, wide_offsets=arcs > 7, mode=mode)]
        device.load(home.smallest(kind), terms)
        assert len(compiled) == 1
        device.release()
        compiled.clear()


@pytest.mark.skipif(EMULATED, reason="in a process of its own, which emulates nothing")
@pytest.mark.parametrize("method", ["frontier-dijkstra", "csr-bellman-ford"])
def test_upload_is_short(method: str, groute: Job, tmp_path: Path) -> None:
    words = ["sssp", "road:60x60", "-s", "7", "--algorithm", method, "--device", "cuda", "--json"]
    done = groute(*words, CUPY_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    seconds = json.loads(done.stdout)["seconds"]
    assert seconds["upload"] < min(0.5, seconds["compile"])


@pytest.mark.skipif(EMULATED, reason="in a process of its own, which emulates nothing")
def test_what_is_not_used_is_not_imported() -> None:
    """SciPy and its sparse matrices come with `cupyx.scipy`."""
    modules = ("sssp.device", "sssp.method", "multi_source.rows")
    lines = [f"import groute_py.device.cuda.{name}" for name in modules]
    code = "; ".join([*lines, "import sys; print(*{'cupyx.scipy', 'scipy'} & sys.modules.keys())"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


@pytest.mark.skipif(EMULATED, reason="in a process of its own, which emulates nothing")
def test_a_target_needs_no_kernels_of_cupy() -> None:
    """A mask of CuPy's brings SciPy's sparse matrices, which take longer than a solve."""
    code = (
        "import sys, groute_py; graph = groute_py.generate('road:60x60'); "
        "groute_py.sssp(graph, 7, targets=[900, 901], device='cuda'); "
        "print(*{'cupyx.scipy', 'scipy.sparse'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


@pytest.mark.skipif(EMULATED, reason="in a process of its own, which emulates nothing")
def test_a_prepared_graph_needs_nothing_that_contracts(tmp_path: Path) -> None:
    """Kernels are loaded on a small hierarchy."""
    town = tmp_path / "town.prepared"
    write_graph(prepare(generate("road:60x60"), device="cpu"), town)
    code = (
        "import sys, groute_py; "
        f"result = groute_py.sssp({str(town)!r}, 1900, device='cuda'); "
        "print(result.statistics['algorithm'], result.distances[result.reached].sum()); "
        "print(*{'cupyx.scipy', 'groute_py.device.cuda.hierarchy.rounds'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    right = scipy_distances(generate("road:60x60"), 1900)
    total = right[right != UNREACHED].sum()
    assert done.stdout.splitlines() == [f"contraction {total}", ""], done.stderr
