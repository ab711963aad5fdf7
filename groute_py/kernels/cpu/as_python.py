"""Kernels run as Python, under ``NUMBA_DISABLE_JIT=1``: for debuggers, and to see what tests run.

Compiled integers differ from Python's and from NumPy's. All have 64 bits once they are computed
with. A result is unsigned where both operands are, and where a left operand is shifted that is;
otherwise it is signed. Numbers that come into a kernel or out of an array therefore become `int`,
which is signed, or `Unsigned`. Signed sums that leave 64 bits are not cut: kernels avoid them.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any, cast

import numpy as np

MASK = 2**64 - 1
INTEGERS = (np.uint8, np.uint32, np.uint64, np.int32, np.int64)
"""The types that kernels name."""
ARRAYS = ("array", "cumsum", "argsort", "empty", "empty_like", "full", "ones", "zeros")
"""The functions of NumPy that kernels make arrays with."""


class Unsigned(int):
    """An unsigned integer of 64 bits."""

    def __neg__(self) -> Unsigned:
        return Unsigned(MASK & -int(self))

    def __invert__(self) -> Unsigned:
        return Unsigned(MASK ^ int(self))

    def __abs__(self) -> Unsigned:
        return self


def signed(number: int) -> int:
    """The signed number with the same low 64 bits."""
    return ((int(number) + 2**63) & MASK) - 2**63


def _computed(function: Callable[[int, int], int], left: int, right: int, is_shift: bool) -> int:
    if isinstance(left, Unsigned) and (is_shift or isinstance(right, Unsigned)):
        return Unsigned(function(int(left), int(right)) & MASK)
    return signed(function(signed(left), signed(right)))


def _operator(name: str) -> None:
    """Let a binary operator, on either side, be as compiled."""
    function = getattr(operator, f"__{name}__")
    is_shift = name.endswith("shift")

    def forward(self: int, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return _computed(function, self, other, is_shift)

    def backward(self: int, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return _computed(function, other, self, is_shift)

    setattr(Unsigned, f"__{name}__", forward)
    setattr(Unsigned, f"__r{name}__", backward)


for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    _operator(_name)


class Widened(np.ndarray[Any, Any]):
    """An array whose integers come out with 64 bits, and go in cut to its type."""

    def __getitem__(self, place: Any) -> Any:
        return widened(super().__getitem__(place))

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(value, int) and self.dtype.kind in "iu":
            value = _cut(value, self.dtype)
        super().__setitem__(place, value)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))


def widened(value: Any) -> Any:
    """Convert an argument, a constant or an item of an array to what a kernel sees."""
    if isinstance(value, np.ndarray):
        return value.view(Widened)
    if isinstance(value, np.unsignedinteger):
        return Unsigned(value)
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, tuple):
        return _each(widened, value)
    return value


def _narrowed(value: Any) -> Any:
    """Convert a kernel's result to what a caller sees of a compiled one."""
    if isinstance(value, Widened):
        return value.view(np.ndarray)
    if isinstance(value, tuple):
        return _each(_narrowed, value)
    return int(value) if isinstance(value, Unsigned) else value


def _each(change: Callable[[Any], Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
    made = tuple(map(change, values))
    return type(values)(*made) if hasattr(values, "_fields") else made


def _cut(value: Any, dtype: np.dtype[Any]) -> Any:
    """An integer as one of a type."""
    bits = 8 * dtype.itemsize
    low = int(value) & (2**bits - 1)
    return Unsigned(low) if dtype.kind == "u" else low - (low >> (bits - 1) << bits)


def _conversion(dtype: np.dtype[Any]) -> Any:
    """Return the stand-in for a type of integers: a function that converts, and names the type."""

    def convert(value: Any) -> Any:
        return _cut(value, dtype)

    convert.dtype = dtype  # type: ignore[attr-defined]
    return convert


def _making(function: Callable[..., Any]) -> Callable[..., Any]:
    def make(*arguments: Any, **keywords: Any) -> Any:
        named = {name: _plain(value) for name, value in keywords.items()}
        return widened(function(*map(_plain, arguments), **named))

    return make


def _plain(argument: Any) -> Any:
    return getattr(argument, "dtype", argument) if isinstance(argument, FunctionType) else argument


def _range(*bounds: Any) -> Any:
    numbers = builtins.range(*map(int, bounds))
    return map(Unsigned, numbers) if all(isinstance(b, Unsigned) for b in bounds) else numbers


NUMPY = SimpleNamespace(
    **{name: getattr(np, name) for name in ("bool_", "float64", "inf", "isfinite")},
    **{kind.__name__: _conversion(np.dtype(kind)) for kind in INTEGERS},
    **{name: _making(getattr(np, name)) for name in ARRAYS},
)
"""NumPy, as kernels see it."""


@cache
def _inner(function: FunctionType) -> FunctionType:
    """A kernel as other kernels call it."""
    code, around = function.__code__, function.__globals__
    seen = {name: _seen(around[name]) for name in code.co_names if name in around}
    return FunctionType(code, seen | {"range": _range}, function.__name__)


def _seen(value: Any) -> Any:
    """Convert the value of a module's name to what a kernel sees."""
    if value is np:
        return NUMPY
    wrapped = getattr(value, "__wrapped__", None)
    is_kernel = isinstance(wrapped, FunctionType) and not isinstance(value, FunctionType)
    return _inner(cast("FunctionType", wrapped)) if is_kernel else widened(value)


def as_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as those call it that are no kernels."""

    def called(*arguments: Any) -> Any:
        return _narrowed(_inner(cast("FunctionType", function))(*map(widened, arguments)))

    return called
