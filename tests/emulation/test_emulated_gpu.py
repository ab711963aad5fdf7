"""The tests of GPUs' devices in emulation: of one, of several, and of their exchange."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.emulation.cpp import LIBRARIES
from support.places import ROOT, TESTS
from support.skips import needs_compiler

LONGEST_S = 900
"""That the tests of a file may take."""

SELECTED = {
    "python/test_solvers.py": ("(distances_and_tree or TestShapes) and not nothing_but", 60),
    "python/test_methods.py": ("TestShapes and not (with_a_hub and contraction)", 50),
    "gpu/test_full_gpu.py": ("not dijkstra-3 and not bellman-ford-3", 79),
    "gpu/test_recording.py": ("", 36),
    "gpu/test_redistribution.py": ("", 107),
    "gpu/test_unmapped_memory.py": ("", 6),
    "gpu/test_numbered.py": ("", 5),
    "gpu/test_together.py": ("", 38),
    "gpu/test_local_steps.py": ("", 21),
    "gpu/test_growing_buckets.py": ("not share_a_byte or int32", 24),
    "gpu/test_pull_phase.py": ("", 109),
    "gpu/test_busy_gpu.py": ("", 4),
    "gpu/test_hierarchy.py": ("not dense", 59),
    "gpu/test_nearest_sweep.py": ("", 45),
    "gpu/test_customization.py": ("", 3),
    "gpu/test_assignment.py": ("", 26),
    "python/test_assign.py": ("", 28),
    "python/test_assign_figures.py": ("of_nothing", 3),
    "cli/test_assign_command.py": ("equilibrium or goes_on", 2),
    "python/test_customize.py": ("", 56),
    "python/test_label_shares.py": ("", 9),
    "gpu/test_cutoff.py": ("", 18),
    "gpu/test_locked_memory.py": ("", 10),
    "gpu/test_first_run.py": ("warmed_up or compiled", 16),
    "gpu/test_cupy_kernels.py": ("", 2),
    "gpu/test_kernels_asked.py": ("", 9),
    "gpu/test_kernels_ahead.py": ("its_own", 1),
    "gpu/test_launching.py": ("", 3),
    "gpu/test_many_memory.py": ("", 12),
    "gpu/test_few_levels.py": ("", 60),
    "python/test_betweenness.py": ("endpoints", 1),
    "python/test_apsp.py": ("no_arcs or cycle_of_weight or sources_of_sssp or on_ranks", 12),
    "python/test_apsp_ranges.py": ("beyond_32 or beyond_64_bits or float32_sums", 16),
    "python/test_summary.py": ("", 11),
    "python/test_isochrone.py": ("many_sources", 9),
    "python/test_k_nearest.py": ("stay", 7),
    "python/test_certificate.py": ("", 44),
    "unit/test_long_messages.py": ("", 2),
}
"""All but what takes a GPU long, which would take minutes here; and how many tests that are."""

LONG = {
    *(
        "gpu/test_redistribution.py",
        "gpu/test_full_gpu.py",
        "gpu/test_pull_phase.py",
        "gpu/test_recording.py",
        "gpu/test_hierarchy.py",
        "gpu/test_nearest_sweep.py",
        "gpu/test_kernels_asked.py",
        "gpu/test_few_levels.py",
    ),
    *("python/test_solvers.py", "gpu/test_together.py", "python/test_customize.py"),
    "python/test_assign.py",
}
"""Files that take a minute or more."""

WITH_SEVERAL = {
    *("gpu/test_redistribution.py", "gpu/test_numbered.py", "gpu/test_together.py"),
    "gpu/test_unmapped_memory.py",
    *("gpu/test_kernels_asked.py", "python/test_certificate.py"),
}
"""On four GPUs, the others on one."""

BLOCKS = {
    "gpu/test_growing_buckets.py": 2,
    "gpu/test_pull_phase.py": 2,
    "gpu/test_recording.py": 2,
    "gpu/test_local_steps.py": 2,
    "gpu/test_together.py": 3,
}
"""In each persistent kernel, the others with one."""


@pytest.fixture(scope="module", autouse=True)
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What one process has compiled the others take, those of other workers too."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "libraries"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LIBRARIES, str(folder))
        yield


@pytest.mark.timeout(1800)
@needs_compiler
@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=[pytest.mark.slow] if f in LONG else []) for f in SELECTED],
)
def test_in_emulation(file: str, tmp_path: Path) -> None:
    done = in_emulation(file, tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    said = re.search(r"(\d+) passed", done.stdout)
    assert said is not None, done.stdout[-1000:]
    assert int(said[1]) >= SELECTED[file][1]


def in_emulation(file: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a file by a pytest with a folder of its own: two that clear up one folder may fail."""
    plugins = ["-p", "support.emulation.plugin", "-p", "no:cacheprovider"]
    words = ["-m", "pytest", "-q", *plugins, f"--basetemp={folder / 'run'}"]
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    gpus = "4" if file in WITH_SEVERAL else "1"
    blocks = str(BLOCKS.get(file, 1))
    emulated = {"EMULATED_GPUS": gpus, "EMULATED_BLOCKS": blocks}
    return subprocess.run(
        [sys.executable, *words, "-m", "gpu", "-k", SELECTED[file][0], str(TESTS / file)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | emulated,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
@needs_compiler
def test_what_sanitizers_watch() -> None:
    words = ["grid", "delta-stepping", "batch"]
    program = (
        "from support.emulation import plugin\n"
        "from gpu import each_kernel\n"
        f"each_kernel.main({words})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=TESTS,
        env=os.environ | {"EMULATED_BLOCKS": "2"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.count(" is right\n") == 10


@pytest.mark.timeout(1800)
@needs_compiler
@pytest.mark.parametrize(
    ("grid", "hosts"),
    [
        ("", ""),
        *(pytest.param(*c, marks=pytest.mark.slow) for c in (("1", ""), ("", "2"), ("1", "2"))),
    ],
)
def test_exchange(grid: str, hosts: str) -> None:
    exchange({"EMULATED_GRID": grid, "GROUTE_PY_HOSTS": hosts})


@pytest.mark.slow
@pytest.mark.timeout(1800)
@needs_compiler
@pytest.mark.parametrize("grid", ["", "1", "roomy"])
@pytest.mark.parametrize("way", ["EMULATED_GROWTH", "EMULATED_PULL"])
def test_exchange_as_on_large_graphs(way: str, grid: str) -> None:
    """In buckets that grow, and where deferred arcs are pulled."""
    exchange({"EMULATED_GRID": grid, way: "1"})


@pytest.mark.slow
@pytest.mark.timeout(1800)
@needs_compiler
def test_exchange_by_short_rings() -> None:
    exchange({"EMULATED_LAPS": "1"})


def exchange(settings: dict[str, str]) -> None:
    """Seven graphs on emulated GPUs, whose kernels have three blocks each."""
    given = {name: value for name, value in settings.items() if value}
    expected = "hierarchical" if settings.get("GROUTE_PY_HOSTS") else "fused"
    done = subprocess.run(
        [sys.executable, "-m", "emulation.exchange_in_emulation", expected, "7"],
        cwd=TESTS,
        env=os.environ | {"EMULATED_GPUS": "4", "EMULATED_BLOCKS": "3"} | given,
        capture_output=True,
        text=True,
    )
    said = re.fullmatch(r"7 graphs right, pulled after (\d+) steps\n", done.stdout)
    assert said is not None, done.stdout + done.stderr[-2000:]
    # where hosts meet between runs, each begins with what has come from others
    full = given.get("EMULATED_GRID") == "1"
    assert (int(said[1]) > 0) == (full or "GROUTE_PY_HOSTS" in given)
