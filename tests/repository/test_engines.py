"""Each script of the page on other engines runs, with the real library, and answers as SciPy."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.documents import blocks, run
from support.graphs import scipy_distances
from support.places import ROOT

import groute_py
from groute_py.launch.mpirun import command, plan

PAGE, TOWN = "docs/engines.md", groute_py.generate("road:60x40")

SCRIPTS = {
    name.removeprefix("# "): (line, text)
    for text in blocks(PAGE, "python")
    for name, _, line in [text.partition("\n")[0].partition(": ")]
}

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("ray", "pyspark")]
MPI = pytest.param("mpi4py.futures", marks=[pytest.mark.mpi, pytest.mark.one_mpi])


def test_all_scripts_are_known() -> None:
    names = {"joblib", "concurrent.futures", "mpi4py.futures", "dask", "ray", "pyspark"}
    assert SCRIPTS.keys() == names


@pytest.mark.parametrize("engine", ["joblib", "concurrent.futures", "fork", MPI, "dask", *SLOW])
def test_script_of_an_engine(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line, text = SCRIPTS["concurrent.futures" if engine == "fork" else engine]
    if engine == "fork":
        text = text.replace('get_context("spawn")', 'get_context("fork")')
    elif find_spec(engine.partition(".")[0]) is None:
        pytest.skip(f"{engine} is not installed")
    if engine == "pyspark" and "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        pytest.skip("PySpark needs a JVM")
    groute_py.write_graph(groute_py.prepare(TOWN, device="cpu"), tmp_path / "town.prepared")
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    launch = command(plan(3, [])) if engine == "mpi4py.futures" else [sys.executable, "-m"]
    words = line.partition("python ")[2].split()
    monkeypatch.setenv("GROUTE_PY_DEVICE", "cpu")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    done = run(*launch[: launch.index("-m")], *words, cwd=tmp_path)
    rows = [scipy_distances(TOWN, source)[source + 1] for source in range(0, 2400, 2)]
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) == np.median(rows)
    assert f": {np.median(rows)}." in (ROOT / PAGE).read_text("utf-8")
