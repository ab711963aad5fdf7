"""Libraries that only some files or pictures need; they come with extras of ``groute-py``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groute_py.errors import SetupError


def library(name: str, what: str, extra: str | None = "formats") -> Any:
    """Import an optional library, which an extra brings along, or none."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0] if not name.startswith("backports.") else name
        hint = f"pip install {package}" + (f", or groute-py[{extra}]" if extra else "")
        raise SetupError(f"{what} needs {package}, which is not installed: {hint}") from error
