"""Numba's file cache of a kernel, which a run can do without.

Where Numba can write to no cache folder it refuses to compile, and a full disk ends it; here the
kernel is compiled for this run instead.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cache
from typing import Any

from groute_py.errors import CacheWarning

NOWHERE = "neither the package nor a cache folder of the user can be written"

NO_FOLDER = "no locator available"
"""Words of Numba's error then."""


class FileCache:
    """The cache of a kernel, which is compiled in each run if files cannot be read or written."""

    def __init__(self, dispatcher: Any) -> None:
        self._problem = "" if _has_cache(dispatcher) else NOWHERE
        self._own = dispatcher._cache

    def load_overload(self, types: Any, target_context: Any) -> Any:
        """The compiled form for these types, or None."""
        try:
            return self._own.load_overload(types, target_context)
        except OSError:
            return None
        except (AttributeError, ImportError):  # of another version, with types of other names
            with suppress(OSError):
                self._own.flush()
            return None

    def save_overload(self, types: Any, result: Any) -> None:
        """Keep a compiled form; a warning says why that cannot be."""
        problem = self._problem
        try:
            self._own.save_overload(types, result)
        except OSError as error:
            problem = error.strerror or str(error)
        if problem:
            _warn(problem)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


def folder() -> str:
    """Return the folder of Numba's compiled kernels; "" if it finds none that it can write."""
    from numba.core.caching import FunctionCache

    try:
        return str(FunctionCache(folder).cache_path)
    except RuntimeError as error:
        if NO_FOLDER in str(error):
            return ""
        raise


def _has_cache(dispatcher: Any) -> bool:
    """Give it a file cache; False where Numba finds no folder for one."""
    try:
        dispatcher.enable_caching()
    except RuntimeError as error:
        if NO_FOLDER in str(error):
            return False
        raise
    return True


@cache
def _warn(problem: str) -> None:
    """Once for each reason."""
    text = f"Numba keeps compiled kernels for this run only: {problem}"
    warnings.warn(f"{text}; NUMBA_CACHE_DIR names another folder", CacheWarning, stacklevel=3)
