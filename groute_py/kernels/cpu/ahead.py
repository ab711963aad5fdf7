"""Kernels that were compiled when the package was built, so that a first run need not.

The build saves the machine code of kernels that usual commands call, for one processor family and
one version of Python and of Numba. For others, other sources, or other types Numba compiles.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "compiled"
"""Has the files of the build; there is none in a checkout."""

CPU = {"x86_64": "x86-64-v3"}
"""LLVM's names of the processors that are compiled for, by machine; ``generic`` elsewhere."""

NEEDED = {"x86_64": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")}
"""Features that such a processor must have."""

Key = tuple[str, str, str]
"""Module and name of a kernel, and the types of its arguments."""


class AheadCache:
    """The cache of a kernel: the build's, and behind it Numba's own."""

    def __init__(self, function: Callable[..., Any], own: Any) -> None:
        self._function, self._own = function, own

    def load_overload(self, types: Any, target_context: Any) -> Any:
        """The compiled form for these types, or None."""
        saved = _saved().get(_key(self._function, types))
        if saved is not None:
            from numba.core.compiler import CompileResult  # loaded already: it asks for the form

            return CompileResult._rebuild(target_context, *pickle.loads(saved))
        return self._own.load_overload(types, target_context)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


def save(kernels: Iterable[Any], folder: Path) -> Path:
    """Save all that this process has compiled of some `Kernel`; return the file."""
    from numba.core.serialize import dumps

    forms: dict[Key, bytes] = {}
    for kernel in kernels:
        for types, result in kernel.dispatcher.overloads.items():
            forms[_key(kernel.__wrapped__, types)] = dumps(result._reduce())
    path = folder / _file_name()
    path.write_bytes(pickle.dumps((_digest(), forms)))
    return path


def count() -> int:
    """Count the forms of kernels that the build compiled and this process can use."""
    return len(_saved())


@cache
def _saved() -> dict[Key, bytes]:
    """Machine code that the build compiled for this machine, Python and Numba."""
    path = FOLDER / _file_name()
    if not path.is_file() or not _suits():
        return {}
    digest, forms = pickle.loads(path.read_bytes())
    return forms if digest == _digest() else {}


def _key(function: Callable[..., Any], types: Any) -> Key:
    return function.__module__, function.__qualname__, repr(types)


def _file_name() -> str:
    import numba

    parts = (
        sys.implementation.cache_tag,
        sys.platform,
        platform.machine(),
        f"numba-{numba.__version__}",
    )
    return f"{'-'.join(parts)}.kernels"


def _suits() -> bool:
    """Return True if this processor runs the code."""
    from llvmlite.binding import get_host_cpu_features

    has = get_host_cpu_features()
    return all(has.get(feature) for feature in NEEDED.get(platform.machine(), ()))


def _digest() -> bytes:
    """Return a digest of the sources of all kernels: one may contain another."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()
