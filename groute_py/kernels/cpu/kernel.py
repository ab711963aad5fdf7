"""The decorators of CPU kernels: Numba is loaded when the first kernel is called, not before.

A kernel that calls another one has it compiled along.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from threading import RLock
from typing import Any, cast

from groute_py.errors import SetupError
from groute_py.kernels.cpu.ahead import AheadCache
from groute_py.kernels.cpu.file_cache import FileCache
from groute_py.system import clock
from groute_py.system.memory_limits import check_addresses

BLAS = "scipy.linalg"
"""Numba looks for BLAS there. That takes 0.2 s, and no kernel multiplies matrices."""

KERNELS: list[Kernel] = []
"""All kernels of the modules that have been imported."""

_lock = RLock()


class Kernel:
    """A function that Numba compiles when it is called, or inlines in the kernels that call it."""

    def __init__(self, function: Callable[..., Any], *, is_inlined: bool = False) -> None:
        update_wrapper(self, function)
        self._function, self._is_inlined = function, is_inlined
        self._dispatcher: Any = None
        KERNELS.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the form of the arguments' types, which is compiled or taken from the cache."""
        return (self._dispatcher or self.dispatcher)(*arguments)

    @property
    def dispatcher(self) -> Any:
        """Numba's object, which has the compiled forms."""
        with _lock:
            if self._dispatcher is None:
                options = {"forceinline": True} if self._is_inlined else {}
                dispatcher = _njit()(nogil=True, **options)(self._function)
                if dispatcher is self._function:
                    raise SetupError("kernels run only compiled; unset NUMBA_DISABLE_JIT")
                dispatcher._cache = AheadCache(self._function, FileCache(dispatcher))
                self._dispatcher = dispatcher
            return self._dispatcher

    @property
    def signatures(self) -> list[Any]:
        """The types for which it is compiled."""
        return [] if self._dispatcher is None else list(self._dispatcher.signatures)


def kernel(function: Callable[..., Any]) -> Any:
    """Let Numba compile a function when it is called."""
    return Kernel(function)


def inlined_kernel(function: Callable[..., Any]) -> Any:
    """See `kernel`; callers contain this function."""
    return Kernel(function, is_inlined=True)


def load_compiler() -> None:
    """Load Numba now, in this thread, which else the first call of a kernel does in its own."""
    with _lock:  # Numba cannot be loaded by two threads at once
        _njit()


@cache
def _njit() -> Any:
    """Numba's decorator; a kernel that another one names then counts as its dispatcher."""
    check_addresses()
    with clock.phase("import"), _without_blas():
        from numba import njit
        from numba.core.registry import cpu_target
        from numba.extending import typeof_impl

        cpu_target.target_context.refresh()

    @typeof_impl.register(Kernel)
    def type_of(value: Kernel, context: Any) -> Any:
        return typeof_impl(value.dispatcher, context)

    return njit


@contextmanager
def _without_blas() -> Iterator[None]:
    """Let imports of SciPy's BLAS fail in a command; other processes may have kernels with it."""
    if clock.current() is None or BLAS in sys.modules:
        yield
        return
    sys.modules[BLAS] = cast("Any", None)
    try:
        yield
    finally:
        del sys.modules[BLAS]
