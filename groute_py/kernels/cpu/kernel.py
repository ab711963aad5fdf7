"""The decorators of CPU kernels: Numba is loaded for the first that the build did not compile.

A kernel that calls another one has it compiled along. Where Numba can write to no cache folder it
refuses to compile, and a full disk ends it; here the kernel is compiled for this run instead.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, update_wrapper
from threading import RLock
from types import FunctionType
from typing import Any, cast

from groute_py.errors import CacheWarning, SetupError
from groute_py.kernels.cpu import ahead
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
        """Run the form of the arguments' types: the build's, the cache's, or compiled now."""
        if self._built and (form := self._built.get(ahead.kinds_of(arguments))):
            return form(arguments)
        return (self._dispatcher or self.dispatcher)(*arguments)

    @cached_property
    def _built(self) -> dict[ahead.Kinds, ahead.BuiltKernel]:
        return ahead.forms_of(self._function)

    @property
    def dispatcher(self) -> Any:
        """Numba's object, which has the compiled forms."""
        with _lock:
            if self._dispatcher is None:
                options = {"forceinline": True} if self._is_inlined else {}
                dispatcher = _njit()(nogil=True, **options)(self._function)
                if dispatcher is self._function:
                    raise SetupError("kernels run only compiled; unset NUMBA_DISABLE_JIT")
                dispatcher._cache = FileCache(dispatcher)
                self._dispatcher = dispatcher
            return self._dispatcher

    @property
    def names(self) -> dict[str, Any]:
        """The globals that its code names."""
        names, values = self._function.__code__.co_names, self._function.__globals__
        return {name: values[name] for name in names if name in values}

    def copy(self, others: dict[str, Any], ending: str) -> Kernel:
        """Return a kernel of the same code with some other globals, and a name that ends so."""
        own = self._function
        function = FunctionType(own.__code__, own.__globals__ | others, own.__name__)
        function.__qualname__, function.__doc__ = own.__qualname__ + ending, own.__doc__
        return Kernel(function, is_inlined=self._is_inlined)

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


class Instruction:
    """A function that writes LLVM's code where kernels call it, as `numba.extending.intrinsic`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def kind(self) -> Any:
        """Numba's type of the function."""
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        function = intrinsic(self._function)
        cpu_target.typing_context.refresh()  # which it has been entered for
        return cpu_target.typing_context.resolve_value_type(function)


class ByType(Instruction):
    """A function of kernels that is compiled from what it returns for Numba's types of arguments.

    It is inlined where kernels call it, as if it were written there.
    """

    @cached_property
    def kind(self) -> Any:
        """Numba's type of the function."""
        from numba.core.registry import cpu_target
        from numba.extending import overload

        self._function.__annotations__.clear()  # Numba compares them with those of what it returns
        overload(self._function, inline="always")(self._function)
        cpu_target.typing_context.refresh()  # which it has been entered for
        return cpu_target.typing_context.resolve_value_type(self._function)


def by_type(choose: Callable[..., Any]) -> Any:
    """See `ByType`; ``choose`` gets Numba's types and returns a function of the arguments."""
    return ByType(choose)


def load_compiler() -> None:
    """Load Numba now, in this thread, unless the build has compiled kernels."""
    with _lock:  # Numba cannot be loaded by two threads at once
        if not ahead.count():
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

    @typeof_impl.register(Instruction)
    def type_of_instruction(value: Instruction, context: Any) -> Any:
        return value.kind

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


def cache_folder() -> str:
    """Return the folder of Numba's compiled kernels; "" if it finds none that it can write."""
    from numba.core.caching import FunctionCache

    try:
        return str(FunctionCache(cache_folder).cache_path)
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
