"""Checks of arguments; each error names the expected and the given value."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import Any

from groute_py.errors import InputError, quote


def check_kind(what: str, value: Any, kind: type, description: str) -> None:
    """Raise `InputError` for a value that is not of a type.

    >>> check_kind("spec", "road:9x9", str, "a text such as 'road:9x9'")
    """
    if not isinstance(value, kind):
        raise InputError(f"{what} must be {description}, not {type(value).__name__}")


def as_index(value: Any) -> int:
    """An integer as Python's; as `operator.index`, but `TypeError` for True and False, too.

    >>> as_index(4)
    4
    """
    if type(value).__name__ in ("bool", "bool_"):  # NumPy's, too
        raise TypeError("'bool' object cannot be interpreted as an integer")
    return operator.index(value)


def vertex_number(what: str, value: Any) -> int:
    """A vertex as a Python integer; `InputError` for what is none.

    >>> vertex_number("target", 4)
    4
    """
    try:
        return as_index(value)
    except TypeError:
        raise InputError(
            f"{what} must be an integer, the index of a vertex, not {quote(value)}"
        ) from None


def file_path(what: str, value: Any) -> Path:
    """A path; `InputError` for what is neither text nor a path, or what no file can be called.

    >>> file_path("graph", "usa.gr").name
    'usa.gr'
    """
    try:
        path = Path(value)
    except TypeError:
        raise InputError(f"{what} must be a path, not {quote(value)}") from None
    if "\0" in str(path):
        problem = "is no name of a file: there is a null character in it"
        raise InputError(f"{what} {quote(str(path))} {problem}")
    return path


def check_choice(what: str, name: Any, choices: Iterable[str]) -> None:
    """Raise `InputError` for a name that is not one of those known.

    >>> check_choice("order", "rcm", ("none", "rcm"))
    """
    names = tuple(choices)
    if not isinstance(name, str) or name not in names:
        raise InputError(f"{what} {quote(name)} is unknown; choose one of {', '.join(names)}")


def check_truth(what: str, value: Any) -> None:
    """Raise `InputError` for a value that is neither True nor False.

    >>> check_truth("hops", False)
    """
    if not isinstance(plain(value), bool):
        raise InputError(f"{what} must be True or False, not {quote(value)}")


def plain(value: Any) -> Any:
    """A scalar or an array without a dimension, NumPy's or CuPy's, as Python's; others as they are.

    >>> plain("4"), plain(None)
    ('4', None)
    """
    return value.item() if getattr(value, "shape", None) == () else value


def check_number(what: str, value: Any) -> None:
    """Raise `InputError` unless the value is a real number that float64 holds."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputError(f"{what} must be a number, not {quote(value)}")
    try:
        float(value)
    except OverflowError:
        raise InputError(f"{what} is out of range; the greatest number is 1.8e308") from None


def check_whole_number(what: str, value: Any) -> None:
    """Raise `InputError` unless the value is an integer or a float without a fraction."""
    check_number(what, value)
    if not float(value).is_integer():
        raise InputError(f"{what} must be an integer, not {quote(value)}")


def check_cutoff(value: Any) -> None:
    """Raise `InputError` for what no distance can be compared with, or all are beyond."""
    check_number("cutoff", value)
    if math.isnan(value):
        raise InputError("cutoff must be a number, not NaN")
    if value < 0:
        raise InputError(f"cutoff must not be negative, as {value} is")
