"""What the doctor looks at: each finding says what was found, and what to do if it is wrong."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import groute_py
from groute_py.comm import awareness
from groute_py.comm.connect import connect
from groute_py.device.choose import gpu_problem
from groute_py.environment import place
from groute_py.errors import SetupError
from groute_py.launch import mpirun
from groute_py.settings import settings


@dataclass(frozen=True)
class Finding:
    """Attributes:
    what: the thing looked at.
    state: ``good``, ``absent`` (optional and not there) or ``wrong``.
    found: what was found.
    advice: what to do; empty when nothing.
    """

    what: str
    state: str
    found: str
    advice: str = ""


def examine() -> list[Finding]:
    """Look at everything; under a launcher this is collective. Rank 0's findings count."""
    return [
        Finding("groute-py", "good", groute_py.__version__),
        Finding("python", "good", f"{platform.python_version()} on {platform.platform()}"),
        *_packages(),
        *_mpi(),
        *_gpus(),
        _cache(),
    ]


def _packages() -> Iterator[Finding]:
    for name in ("numpy", "numba", "click", "rich", "mpi4py"):
        yield _package(name, "pip install groute-py")
    for name in ("cupy-cuda12x", "cupy-cuda13x"):
        try:
            yield Finding(name, "good", metadata.version(name))
        except metadata.PackageNotFoundError:
            continue


def _package(name: str, advice: str) -> Finding:
    try:
        return Finding(name, "good", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, "wrong", "not installed", advice)


def _mpi() -> Iterator[Finding]:
    here = place()
    launcher = f"{here.launcher}, {here.size} ranks" if here.launcher else "none, one rank"
    yield Finding("launcher", "good", launcher)
    try:
        library = awareness.library()
    except SetupError as problem:
        advice = "pip install 'groute-py[mpich]', or load your site's MPI module"
        state = "wrong" if here.size > 1 else "absent"
        yield Finding("MPI library", state, str(problem), advice)
        return
    yield Finding("MPI library", "good", library)
    yield _mpirun(library)
    yield _world()
    aware, reason = awareness.gpu_aware()
    yield Finding("GPU-aware MPI", "good" if aware else "absent", reason)


def _mpirun(library: str) -> Finding:
    try:
        path = mpirun.find_mpirun()
        kind = mpirun.flavour(path)
    except SetupError as problem:
        return Finding("mpirun", "absent", str(problem), "pip install 'groute-py[mpich]'")
    shown = f"{path} ({kind})"
    if awareness.belongs(kind, library):
        return Finding("mpirun", "good", shown)
    advice = "use the mpirun that comes with the MPI library, or `python -m groute_py.launch`"
    return Finding("mpirun", "wrong", f"{shown} does not belong to {library}", advice)


def _world() -> Finding:
    try:
        channel = connect()
    except SetupError as problem:
        return Finding("ranks", "wrong", str(problem), "start with the mpirun of the MPI library")
    hosts = channel.gather(platform.node())
    return Finding("ranks", "good", f"{channel.size} on {len(set(hosts))} host(s)")


def _gpus() -> Iterator[Finding]:
    problem = gpu_problem()
    if problem is not None:
        yield Finding("GPU", "absent", problem)
        return
    from groute_py.device.inventory import gpus, peer_access

    found = gpus()
    for gpu in found:
        yield Finding(f"GPU {gpu.index}", "good", gpu.shown())
    if len(found) > 1:
        matrix = peer_access()
        blocked = [(a, b) for a, row in enumerate(matrix) for b, ok in enumerate(row) if not ok]
        shown = "every pair" if not blocked else f"not between {blocked}"
        yield Finding("peer access", "good" if not blocked else "absent", shown)


def _cache() -> Finding:
    folder = settings().cache_folder
    nearest = next((p for p in (folder, *folder.parents) if p.exists()), Path("/"))
    if os.access(nearest, os.W_OK):
        size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        return Finding("cache folder", "good", f"{folder}, {size / 1e6:,.1f} MB")
    advice = "set GROUTE_PY_CACHE to a folder that can be written"
    return Finding("cache folder", "wrong", f"{folder} cannot be written", advice)
