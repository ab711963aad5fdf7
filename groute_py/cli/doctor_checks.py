"""The checks of ``groute-py doctor``; each finding has a remedy if something is wrong."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import groute_py
from groute_py.cli import doctor_job as job
from groute_py.comm import awareness
from groute_py.comm.connect import connect
from groute_py.device.registry import gpu_problem
from groute_py.errors import InputError, SetupError
from groute_py.io.cache_folder import base_folder
from groute_py.kernels import ahead as gpu_kernels
from groute_py.kernels.cpu import ahead as cpu_kernels
from groute_py.kernels.cpu.kernel import cache_folder
from groute_py.launch import mpirun
from groute_py.system.environment import place
from groute_py.system.settings import settings

if TYPE_CHECKING:
    from groute_py.device.cuda.runtime.gpu import Gpu


@dataclass(frozen=True)
class Finding:
    """The state of a thing: ``good``, ``absent`` (optional and not there) or ``wrong``.

    ``advice`` is empty when nothing is to be done; ``detail`` says more for programs.
    """

    what: str
    state: str
    observation: str
    advice: str = ""
    detail: Any = None


DIFFERENCES = {
    "software": lambda sight: sight.software,
    "MPI libraries": lambda sight: sight.library,
    "GPU-awareness": lambda sight: sight.aware,
}
"""Facts that should be the same on every rank, and their places in a `job.RankView`."""


def examine() -> list[Finding]:
    """Look at everything; under a launcher this is collective. Rank 0's findings count."""
    return [
        Finding("groute-py", "good", groute_py.__version__),
        Finding("python", "good", f"{platform.python_version()} on {platform.platform()}"),
        *_packages(),
        *_mpi(),
        *_gpus(),
        *_kernels(),
        _cache(),
    ]


def _packages() -> Iterator[Finding]:
    needed = ("numpy", "numba", "click", "rich", "mpi4py")
    for name in (*needed, "cupy-cuda12x", "cupy-cuda13x"):
        try:
            yield Finding(name, "good", metadata.version(name))
        except metadata.PackageNotFoundError:
            if name in needed:
                yield Finding(name, "wrong", "not installed", "pip install groute-py")


def _mpi() -> Iterator[Finding]:
    here = place()
    launcher = f"{here.launcher}, {here.size} ranks" if here.launcher else "none, one rank"
    yield Finding("launcher", "good", launcher)
    try:
        library = awareness.mpi_library()
    except SetupError as problem:
        advice = "pip install 'groute-py[mpich]', or load your site's MPI module"
        state = "wrong" if here.size > 1 else "absent"
        yield Finding("MPI library", state, str(problem), advice)
        return
    yield Finding("MPI library", "good", library)
    yield _mpirun(library)
    yield from _ranks()
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


def _ranks() -> Iterator[Finding]:
    try:
        channel = connect()
    except SetupError as problem:
        yield Finding("ranks", "wrong", str(problem), "start with the mpirun of the MPI library")
        return
    if channel.size == 1:
        yield Finding("ranks", "good", "1 on 1 host(s)")
        return
    sights = job.sights(channel)
    hosts = {sight.host for sight in sights}
    yield Finding("ranks", "good", f"{channel.size} on {len(hosts)} host(s)")
    yield from about_the_job(sights)


def about_the_job(sights: list[job.RankView]) -> Iterator[Finding]:
    """Yield what each rank sees, and what does not go together."""
    for rank, sight in enumerate(sights):
        yield Finding(f"rank {rank}", "good", sight.shown(), detail=asdict(sight))
    for what, of in DIFFERENCES.items():
        if differs := job.differing(sights, of):
            yield Finding(what, "wrong", differs, "let all ranks use the same")
    if problem := job.hidden(sights):
        what, _, advice = problem.partition("; ")
        yield Finding("GPU binding", "wrong", what, advice)
    elif names := list(job.shared_gpus(sights)):
        advice = "start as many ranks on a host as it has GPUs"
        yield Finding("GPU binding", "wrong", f"taken several times: {'; '.join(names)}", advice)
    elif all(sight.gpu for sight in sights):
        yield Finding("GPU binding", "good", "a GPU for each rank, seen by all of its host")
    yield Finding("exchange", "good", job.exchange(sights))
    skew_s = job.skew_s(sights)
    good = skew_s < job.TOLERABLE_SKEW_S
    advice = "" if good else "let the hosts keep time (NTP): cached graphs are judged by it"
    yield Finding("clocks", "good" if good else "wrong", f"{skew_s:.3f} s apart", advice)
    shared = "all ranks see the same" if job.cache_is_shared(sights) else "each host has its own"
    yield Finding("cache of the job", "good", shared)


def _gpus() -> Iterator[Finding]:
    if place().rank > 0:
        return  # one process that begins on every GPU is enough
    problem = gpu_problem()
    if problem is not None:
        yield Finding("GPU", "absent", problem)
        return
    from groute_py.device.cuda.runtime.gpu import gpus, peer_access

    present = gpus()
    about = [_about(gpu) for gpu in present]
    yield from about
    if len(present) > 1:
        matrix = peer_access()
        blocked = [(a, b) for a, row in enumerate(matrix) for b, ok in enumerate(row) if not ok]
        shown = "every pair" if not blocked else f"not between {blocked}"
        yield Finding("peer access", "good" if not blocked else "absent", shown, detail=matrix)
        good = zip(present, about, strict=True)
        yield from _peer_speed([gpu.index for gpu, finding in good if finding.state == "good"])


def _about(gpu: Gpu) -> Finding:
    from groute_py.device.cuda.runtime.gpu import REMEDY, room_on

    what, shown = f"GPU {gpu.index}", gpu.shown()
    try:
        return Finding(what, "good", f"{shown}, {room_on(gpu.index) / 1e9:.1f} GB free")
    except RuntimeError as problem:  # CUDA's
        return Finding(what, "wrong", f"{shown}; CUDA cannot begin there: {problem}", REMEDY)


def _peer_speed(among: list[int]) -> Iterator[Finding]:
    from groute_py.device.cuda.peer.bandwidth import ways

    try:
        yield from about_ways(ways(among))
    except RuntimeError as problem:  # CUDA's, where a GPU has no memory left or is not ours alone
        yield Finding("peer bandwidth", "absent", f"cannot be measured: {problem}")


def about_ways(ways: dict[tuple[int, int], Any]) -> Iterator[Finding]:
    """Yield bandwidth and latency between peers; ``ways`` as `device.cuda.peer.bandwidth.ways`."""
    peers = {pair: way for pair, way in ways.items() if pair[0] != pair[1]}
    if not peers:
        return
    own_us = min(way.latency_us for pair, way in ways.items() if pair[0] == pair[1])
    speeds = {pair: way.gigabytes_per_s for pair, way in peers.items()}
    slow = [f"{a} and {b}" for (a, b), speed in speeds.items() if speed < max(speeds.values()) / 2]
    advice = f"slower than others: {', '.join(slow)}; use GPUs that NVLink joins" if slow else ""
    shown = f"{min(speeds.values()):,.0f} to {max(speeds.values()):,.0f} GB/s"
    detail = {f"{a} to {b}": asdict(way) for (a, b), way in ways.items()}
    yield Finding("peer bandwidth", "absent" if slow else "good", shown, advice, detail)
    times = [way.latency_us for way in peers.values()]
    shown = f"{min(times):.2f} to {max(times):.2f} µs a load, {own_us:.2f} from own memory"
    yield Finding("peer latency", "good", shown)


def _kernels() -> Iterator[Finding]:
    """Yield which kernels are compiled, and where a run keeps the rest."""
    here, there = cpu_kernels.count(), gpu_kernels.counts()
    none = "none are compiled yet; first runs compile them"
    shown = f"{here} compiled on installation" if here else none
    yield Finding("CPU kernels", "good" if here else "absent", shown)
    shown = ", ".join(f"{count} compiled for {target}" for target, count in there.items()) or none
    yield Finding("GPU kernels", "good" if there else "absent", shown)
    if folder := cache_folder():
        yield Finding("Numba's cache", "good", folder)
    else:
        advice = "set NUMBA_CACHE_DIR to a folder that can be written"
        yield Finding("Numba's cache", "wrong", "none: each run compiles again", advice)


def _size(path: Path) -> int:
    """Return the bytes of a file; 0 if it is gone or may not be looked at."""
    with suppress(OSError):
        return path.stat().st_size if path.is_file() else 0
    return 0


def _cache() -> Finding:
    folder = settings().cache_folder
    try:
        nearest = next((p for p in (folder, *folder.parents) if p.exists()), Path("/"))
        writable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    except OSError:  # a name that is too long, a folder that may not be searched
        writable = False
    try:
        if writable:
            base_folder()
    except InputError as problem:
        return Finding("cache folder", "wrong", str(problem), "no copy of a graph is kept or used")
    except OSError:
        writable = False
    if writable:
        size = sum(map(_size, folder.rglob("*")))
        return Finding("cache folder", "good", f"{folder}, {size / 1e6:,.1f} MB")
    advice = "set GROUTE_PY_CACHE to a folder that can be written"
    return Finding("cache folder", "wrong", f"{folder} cannot be written", advice)
