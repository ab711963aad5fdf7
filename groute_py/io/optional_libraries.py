"""Libraries that only some files or pictures need; they come with extras of ``groute-py``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groute_py.errors import SetupError


def library(name: str, what: str, extra: str = "formats") -> Any:
    """Import an optional library."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0] if not name.startswith("backports.") else name
        hint = f"pip install {package}, or groute-py[{extra}]"
        raise SetupError(f"{what} needs {package}, which is not installed: {hint}") from error
