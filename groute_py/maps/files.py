"""Pictures as files: PNG or SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groute_py.errors import InputError, quote
from groute_py.maps.sheet import drawing
from groute_py.system.atomic_file import check_writable, replacing, translating_errors

FORMS: dict[str, dict[str, Any]] = {
    ".png": {"format": "png", "metadata": {"Software": None}},
    ".svg": {"format": "svg", "metadata": {"Date": None, "Creator": None}},
}
"""The way in which Matplotlib saves a picture, by suffix."""


def check_picture(path: Path) -> None:
    """Raise an error now if no picture could be saved at a path later."""
    if path.suffix not in FORMS:
        forms = ", ".join(FORMS)
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; a picture is {forms}")
    check_writable(path)
    drawing("figure")


def save_picture(figure: Any, title: str, path: Path) -> None:
    """Write a figure of Matplotlib; the file is complete or absent."""
    form = FORMS[path.suffix]
    with translating_errors(path), replacing(path) as file:
        figure.savefig(file, **{**form, "metadata": {"Title": title, **form["metadata"]}})
