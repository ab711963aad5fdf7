"""What times depend on: processors, GPUs, versions of packages, the commit."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import groute_py
from groute_py.comm.awareness import mpi_library
from groute_py.device.registry import gpu_problem
from groute_py.errors import SetupError
from groute_py.system.environment import place

PACKAGES = (
    *("numpy", "numba", "scipy", "mpi4py", "cupy-cuda12x", "cupy-cuda13x", "cugraph-cu13"),
    *("networkx", "igraph", "networkit", "pandana", "routingkit-cch", "scikit-image"),
    *("xarray-spatial", "numba-cuda"),
)

MPI_VERSION = (
    "import mpi4py; mpi4py.rc.initialize = False; "
    "from groute_py.comm.awareness import mpi_library; print(mpi_library())"
)


def environment(device: str, commit: str | None = None) -> dict[str, Any]:
    """The environment as plain values for JSON.

    Args:
        device: ``cpu`` or ``cuda``.
        commit: the commit of the checkout, if git cannot tell it.
    """
    cuda = device == "cuda" and gpu_problem() is None
    return {
        "device": device,
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
        "gpus": _gpus() if cuda else [],
        "versions": {
            "groute-py": groute_py.__version__,
            "python": platform.python_version(),
            **{name: version for name in PACKAGES if (version := _version(name))},
            "mpi": _mpi_library(),
            **(_cuda() if cuda else {}),
        },
        "commit": commit or _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _gpus() -> list[str]:
    from groute_py.device.cuda.runtime.gpu import gpus

    return [f"{gpu.name}, {gpu.total_bytes / 1e9:.0f} GB" for gpu in gpus()]


def _cuda() -> dict[str, Any]:
    from cupy.cuda import runtime

    return {
        "cuda driver": runtime.driverGetVersion(),
        "cuda runtime": runtime.runtimeGetVersion(),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _mpi_library() -> str | None:
    """The version of the MPI library; a child process asks if this one does not use MPI."""
    try:
        if place().size > 1:
            return mpi_library()
        command = [sys.executable, "-c", MPI_VERSION]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (SetupError, subprocess.CalledProcessError):
        return None


def _commit() -> str | None:
    """The checkout's commit, with ``-dirty`` if files differ from it."""
    git, here = shutil.which("git"), Path(__file__).parent
    if git is None:
        return None
    command = [git, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
