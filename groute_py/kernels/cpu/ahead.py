"""Kernels that were compiled when the package was built: they run without Numba.

The build saves the machine code of kernels that usual commands call, for one processor family and
one version of Numba, whose C functions take arrays apart. Any version of Python links it in
milliseconds. For other processors, versions, sources or types Numba compiles.
"""

from __future__ import annotations

import hashlib
import importlib.util
import pickle
import platform
import sys
from collections.abc import Callable, Iterable
from ctypes import PYFUNCTYPE, c_int, c_void_p, cast, py_object, string_at
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "compiled"
"""Has the files of the build; there is none in a checkout."""

CPU = {"x86_64": "x86-64-v3"}
"""LLVM's names of the processors that are compiled for, by machine; ``generic`` elsewhere."""

NEEDED = {"x86_64": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")}
"""Features that such a processor must have."""

ENVIRONMENTS = "numba._dynfunc"

HELPERS = {
    "numba._helperlib": "numba_",
    ENVIRONMENTS: "numba_",
    "numba.core.runtime._nrt_python": "NRT_",
}
"""Numba's modules with functions for machine code, and the prefixes of their names there."""

ARRAYS = (np.ndarray, np.memmap)

LAYOUTS = {
    0x100 | bits | writeable: ("C" if bits & 1 else "F" if bits else "A", writeable > 0)
    for bits in range(4)
    for writeable in (0, 0x400)
}
"""Layout of an array, and whether it can be written, by the FLAGS of an aligned one."""

FLAGS = 0x503

INTEGER = np.dtype(np.int64)

NONE, OTHER = "none", "other"
"""Kinds of None, and of what no saved form takes. (A dtype of floats is equal to None.)"""

OF_PYTHON = {bool: np.dtype(bool), float: np.dtype(float), type(None): NONE}

Name = tuple[str, str]
"""Module and name of a kernel, or of a class."""

Kinds = tuple[object, ...]
"""Kinds of the arguments: a dtype for a number, a tuple for an array or a tuple."""

_lock = Lock()


class BuiltKernel:
    """A kernel that was compiled for some kinds of arguments."""

    def __init__(self, wrapper: str, variable: str, constants: list[Any], code: bytes) -> None:
        """Keep an ELF object, and names in it: of the function, and of what leads to constants."""
        self._wrapper, self._variable, self._code = wrapper, variable, code
        self._constants = constants
        self._function: Callable[..., Any] | None = None

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        """Run it."""
        return (self._function or self._link())(None, arguments, None)

    def _link(self) -> Callable[..., Any]:
        from llvmlite.binding import ObjectFileRef

        with _lock:
            if self._function is None:
                linker = _linker()
                linker.add_object_file(ObjectFileRef.from_data(self._code))
                linker.finalize_object()
                self._environment = _extension(ENVIRONMENTS).Environment({})
                self._environment.consts.extend(self._constants)
                variable = linker.get_global_value_address(self._variable)
                c_void_p.from_address(variable).value = id(self._environment)
                prototype = PYFUNCTYPE(py_object, c_void_p, py_object, c_void_p)
                self._function = prototype(linker.get_function_address(self._wrapper))
            return self._function


def save(kernels: Iterable[Any], folder: Path) -> Path:
    """Save all that this process has compiled of some `Kernel`; return the file."""
    forms: dict[Name, dict[Kinds, tuple[str, str, list[Any], bytes]]] = {}
    for kernel in kernels:
        own = forms.setdefault(_name(kernel.__wrapped__), {})
        for types, result in kernel.dispatcher.overloads.items():
            if OTHER not in (kinds := tuple(map(_kind_of_type, types))):
                names = result.fndesc.llvm_cpython_wrapper_name, result.fndesc.env_name
                _, _, (code, *_) = result.library.serialize_using_object_code()
                own[kinds] = *names, result.environment.consts, code
    path = folder / _file_name()
    content = pickle.dumps(forms)
    path.write_bytes(_digest(content) + content)
    return path


def count() -> int:
    """Count the forms of kernels that the build compiled and this process can use."""
    with _lock:
        return sum(map(len, _saved().values()))


def forms_of(function: Callable[..., Any]) -> dict[Kinds, BuiltKernel]:
    """Return what the build compiled of a kernel, by the kinds of arguments."""
    with _lock:
        return _saved().get(_name(function), {})


def kinds_of(values: tuple[Any, ...]) -> Kinds:
    """Return the kinds of arguments, as Numba tells them apart."""
    return tuple(map(_kind, values))


def _kind(value: Any) -> object:
    of = type(value)
    if of in ARRAYS:
        return value.dtype, value.ndim, LAYOUTS.get(value.flags.num & FLAGS, OTHER)
    if of is int:
        return INTEGER if -(2**63) <= value < 2**63 else OTHER
    if isinstance(value, tuple):
        return _name(of), *map(_kind, value)
    return value.dtype if isinstance(value, np.generic) else OF_PYTHON.get(of, OTHER)


def _kind_of_type(of: Any) -> object:
    """Return the kind of a type of Numba's, as `_kind` does of values, or OTHER."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    if isinstance(of, types.Array):
        kind = _kind_of_type(of.dtype)
        return (kind, of.ndim, (of.layout, of.mutable)) if of.aligned else OTHER
    if isinstance(of, types.BaseTuple):
        elements = [_kind_of_type(each) for each in of.types]
        name = _name(getattr(of, "instance_class", tuple))
        return OTHER if OTHER in elements else (name, *elements)
    if isinstance(of, types.Number | types.Boolean) and not isinstance(of, types.Literal):
        return as_dtype(of)
    return NONE if of is types.none else OTHER


@cache
def _linker() -> Any:
    """LLVM's linker of machine code in this process, which knows Numba's C functions."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.add_symbol("_Py_NoneStruct", id(None))
    for module, prefix in HELPERS.items():
        for name, address in _extension(module).c_helpers.items():
            binding.add_symbol(name if name.startswith("_") else prefix + name, address)
    if "numba" not in sys.modules:  # whose function loads it
        binding.add_symbol("numba_unpickle", cast(_unpickle, c_void_p).value)
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


@PYFUNCTYPE(py_object, c_void_p, c_int, c_void_p)
def _unpickle(place: int, size: int, digest: int) -> Any:
    """Load a constant of machine code: a class of arrays, or an exception."""
    return pickle.loads(string_at(place, size))


@cache
def _extension(name: str) -> Any:
    """Load a module of Numba's that is written in C, without Numba."""
    if name in sys.modules:
        return sys.modules[name]
    place = _numba().joinpath(*name.split(".")[1:])
    path = next(path for end in EXTENSION_SUFFIXES if (path := Path(f"{place}{end}")).is_file())
    loader = ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@cache
def _saved() -> dict[Name, dict[Kinds, BuiltKernel]]:
    """Machine code that the build compiled for this machine and Numba."""
    if not FOLDER.is_dir() or not (path := FOLDER / _file_name()).is_file() or not _suits():
        return {}
    file = path.read_bytes()
    size = hashlib.sha256().digest_size
    if file[:size] != _digest(content := file[size:]):
        return {}
    return {
        name: {kinds: BuiltKernel(*parts) for kinds, parts in own.items()}
        for name, own in pickle.loads(content).items()
    }


def _name(of: Any) -> Name:
    return of.__module__, of.__qualname__


def _file_name() -> str:
    """Name the file of this platform and the Numba that is installed, as its metadata's folder.

    A folder that another version has left there makes a name that no build gives.
    """
    versions = sorted(folder.stem for folder in _numba().parent.glob("numba-*.dist-info"))
    return "-".join([sys.platform, platform.machine(), *versions]) + ".kernels"


@cache
def _numba() -> Path:
    """Find Numba's folder, without loading it."""
    package = importlib.util.find_spec("numba")
    assert package
    assert package.origin
    return Path(package.origin).parent


def _suits() -> bool:
    """Return True if this processor runs the code."""
    from llvmlite.binding import get_host_cpu_features

    has = get_host_cpu_features()
    return all(has.get(feature) for feature in NEEDED.get(platform.machine(), ()))


def _digest(content: bytes) -> bytes:
    """Return a digest of a file's content, the kernels' sources, and the size of Python's objects.

    It tells a damaged file from a whole one, whose code is run.
    """
    digest = hashlib.sha256(content)
    digest.update(bytes([object.__basicsize__]))  # threads without a lock have larger
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()
