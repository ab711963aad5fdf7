"""Libraries that only some files or pictures need; they come with extras of ``groute-py``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groute_py.errors import SetupError


def library(name: str, what: str, extra: str = "formats") -> Any:
    """Import an optional library.

    Args:
        name: the module.
        what: what it is needed for, as in "reading Parquet".
        extra: the extra of groute-py that it comes with.

    Raises:
        SetupError: it is not installed; the message says how to install it.
    """
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0] if not name.startswith("backports.") else name
        hint = f"pip install {package}, or groute-py[{extra}]"
        raise SetupError(f"{what} needs {package}, which is not installed: {hint}") from error


def library_if_there(name: str) -> Any:
    """An optional library, or None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None
