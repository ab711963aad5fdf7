"""What the build of a wheel does: which kernels it compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.build_scripts import build_script
from support.places import ROOT


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The build hook, and on it what it would have compiled. Hatchling need not be there."""
    for kind in ("builders.hooks", "metadata"):
        name = f"hatchling.{kind}.plugin.interface"
        interface: Any = ModuleType(name)
        interface.BuildHookInterface = interface.MetadataHookInterface = object
        monkeypatch.setitem(sys.modules, name, interface)
    hook: Any = build_script("hatch_build").KernelsHook()
    hook.compiled = []
    hook._compile = lambda script, folder, build, *words: hook.compiled.append((script, *words))
    return hook


def build_data() -> dict[str, Any]:
    """Return data as Hatchling hands it to a hook."""
    return {"force_include": {}, "sbom_files": [], "pure_python": True}


@pytest.mark.parametrize(
    ("wanted", "compiled"),
    [
        ("usual", ("compile_gpu_kernels.py", "usual")),
        ("all", ("compile_gpu_kernels.py", "all")),
    ],
)
def test_kernels(
    wanted: str, compiled: tuple[str, ...], hook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUTE_PY_GPU_KERNELS", wanted)
    hook.initialize("standard", build_data())
    assert hook.compiled == [("compile_kernels.py", "all"), compiled]
    hook.finalize("standard", {}, "")


@pytest.mark.parametrize(
    ("shown", "targets"),
    [("9.0\n9.0\n12.0\n", ["sm_120", "sm_90"]), ("8.6\n", ["sm_80"]), ("No devices\n", [])],
)
def test_gpu_kernels_for_this_machine(
    shown: str, targets: list[str], hook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{shown}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("GROUTE_PY_GPU_KERNELS", raising=False)
    hook.initialize("standard", build_data())
    kernels = [("compile_gpu_kernels.py", "usual", *targets)] if targets else []
    assert hook.compiled == [("compile_kernels.py", "usual"), *kernels]
    assert any("cuda" in name for name in hook.dependencies()) == bool(targets)
    hook.finalize("standard", {}, "")


@pytest.mark.parametrize(("wanted", "cpu_kernels"), [("none", "all"), ("here", "usual")])
def test_no_gpu_kernels(
    wanted: str, cpu_kernels: str, hook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # and no nvidia-smi
    monkeypatch.setenv("GROUTE_PY_GPU_KERNELS", wanted)
    hook.initialize("standard", build_data())
    assert hook.compiled == [("compile_kernels.py", cpu_kernels)]
    assert not any("cuda" in name for name in hook.dependencies())
    hook.finalize("standard", {}, "")


def test_an_unknown_choice_is_refused_before_anything_is_compiled(
    hook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUTE_PY_GPU_KERNELS", "most")
    for begin in (hook.dependencies, lambda: hook.initialize("standard", build_data())):
        with pytest.raises(ValueError, match="=most: expected here, usual, all or none"):
            begin()
    assert hook.compiled == []


def test_a_wheel_with_machine_code_is_for_this_platform(
    hook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUTE_PY_GPU_KERNELS", "none")
    without, having = build_data(), build_data()
    hook.initialize("standard", without)
    assert "tag" not in without
    having["force_include"]["scratch/it.kernels"] = "groute_py/kernels/cpu/compiled/it.kernels"
    hook.initialize("standard", having)
    assert not having["pure_python"]
    assert having["tag"].startswith("py3-none-linux_")
    assert "-" not in having["tag"].removeprefix("py3-none-")


def test_a_bill_of_materials_goes_into_the_wheel(
    hook: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUTE_PY_GPU_KERNELS", "none")
    monkeypatch.setenv("GROUTE_PY_SBOM", "groute-py.cdx.json")
    data = build_data()
    hook.initialize("standard", data)
    assert data["sbom_files"] == [str(tmp_path / "groute-py.cdx.json")]


AT_WORK = r"""
from importlib.util import find_spec

import groute_py
import numpy as np
from compile_kernels import run_commands, run_seldom_commands
from groute_py import read_graph
from groute_py.device.cpu.methods import contraction
from groute_py.kernels.cpu.kernel import KERNELS

def forms():
    return {(kernel.__qualname__, types) for kernel in KERNELS for types in kernel.signatures}

run_commands()
run_seldom_commands()
saved = forms()
for head, letter, ending in (
    ("p sp 3 3\n", "a ", ""),
    ("%%MatrixMarket matrix coordinate real general\n3 3 3\n", "", ".5"),
):
    for tails in (1, 2, 3), (3, 1, 2):
        with open("text", "w") as file:
            file.write(head + "".join(f"{letter}{tail} 2 5{ending}\n" for tail in tails))
        read_graph("text", cache=False)
        assert forms() == saved, (head, tails, forms() - saved)

with groute_py.open("it.prepared", device="cpu", cutoff=9) as solver:
    for _ in range(contraction.PATIENCE + 1):
        solver.sssp(3)
assert forms() == saved, forms() - saved

for kind in ("float32", "float64"):
    words = {"allocation": True, "back_direction": True, "device": "cpu"}
    groute_py.cost_distance(np.ones((80, 70), kind), [(3, 4)], **words).path(70, 60)
assert forms() == saved, forms() - saved

if find_spec("cmeel_pth"):
    town = groute_py.customize("road:20x20", device="cpu")
    town.pairs([3], [7])
    town.update([5, 7], arcs=[4, 9])
    town.paths([3, 5], [7, 9])
    town.matrix(range(400), range(400))
    town.rows([3, 5])
    graph = groute_py.generate("road:20x20")
    times, table = groute_py.BPR(graph.weights + 1.0, 9), [[0, 2.0], [1.0, 0]]
    groute_py.assign(graph, table, times=times, skims=["time"], device="cpu")
    assert forms() == saved, forms() - saved

large = groute_py.generate("road:400x400")
for kind in ("int32", "float64"):
    groute_py.sssp(large.with_weights(large.weights.astype(kind)), 80200, device="cpu")
    assert forms() == saved, forms() - saved
"""
"""The kernels that take arcs in order, and in another one, those of trees within a cutoff, of
rasters, of an order from separators, and of several threads."""


def test_kernels_of_usual_work_are_of_the_build(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_WORK],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


WITHOUT_NUMBA = """
import sys
from pathlib import Path
from groute_py.kernels.cpu import ahead
ahead.FOLDER = Path("built")
from compile_kernels import run_commands, run_seldom_commands
run_commands()
run_seldom_commands()
assert ahead.count() > 150, ahead.count()
assert "numba" not in sys.modules
"""


def test_usual_work_needs_no_numba_with_the_kernels_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "built").mkdir()
    for words in ([ROOT / "compile_kernels.py", "built", "all"], ["-c", WITHOUT_NUMBA]):
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


def test_libraries_that_were_installed_for_the_build(
    hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip installs them in a folder of its own, where cuda-bindings does not look."""
    result = tmp_path / "nvidia" / "cu13" / "lib"
    result.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/lib/own")
    paths = hook._environment()["LD_LIBRARY_PATH"].split(os.pathsep)
    assert str(result) in paths
    assert paths[-1] == "/usr/lib/own"
