"""The MPI library in use, and its support of device memory."""

from __future__ import annotations

import ctypes
import re

from groute_py.errors import SetupError
from groute_py.system.settings import settings

FLAVOURS = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel"}
"""Name that a library of each launcher's kind gives itself."""


def mpi_library() -> str:
    """The MPI library's own name and version."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:
        what = str(problem).partition("\n")[0]  # behind it stands each name that was tried
        raise SetupError(f"no MPI library can be loaded ({what})") from problem
    return name_and_version(MPI.Get_library_version())


def name_and_version(text: str) -> str:
    """Up to the number in what an MPI library says of itself.

    >>> name_and_version("Open MPI v4.1.6, package: Debian OpenMPI, ident: 4.1.6")
    'Open MPI v4.1.6'
    """
    version = re.match(r"[^,\n]*?\d+(\.\w+)+", text)
    return " ".join((version[0] if version else text.split("\n")[0]).split()).rstrip("\x00")


def belongs(flavour: str, library_name: str) -> bool:
    """Return True if a launcher of this flavour starts ranks of this library."""
    return FLAVOURS.get(flavour, flavour) in library_name


def gpu_aware() -> tuple[bool, str]:
    """Return whether MPI takes device pointers, and which source says so.

    Own setting, else the ``mpi_memory_alloc_kinds`` info key (MPI 4.1), else
    ``MPIX_Query_cuda_support``, else no.
    """
    setting = settings().gpu_aware_mpi
    if setting is not None:
        return setting, f"GROUTE_PY_GPU_AWARE_MPI={int(setting)}"
    from mpi4py import MPI

    kinds = MPI.COMM_WORLD.Get_info().get("mpi_memory_alloc_kinds")
    if kinds is not None:
        return "cuda" in kinds, f"mpi_memory_alloc_kinds={kinds}"
    try:
        query = ctypes.CDLL(None).MPIX_Query_cuda_support
    except AttributeError:
        return False, "the library has no MPIX_Query_cuda_support"
    return bool(query()), f"MPIX_Query_cuda_support={query()}"
