"""Pictures as files: PNG, SVG, or a page of HTML with the picture in it."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from groute_py.errors import InputError, quote
from groute_py.maps.sheet import drawing
from groute_py.system.atomic_file import check_writable, replacing, translating_errors

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 0; background: white; }} img {{ display: block; margin: 0 auto; }}
img {{ max-width: 100%; height: auto; }}</style>
</head>
<body>
<img alt="{title}" src="data:image/png;base64,{image}">
</body>
</html>
"""


def check_picture(path: Path) -> None:
    """Raise an error now if no picture could be saved at a path later."""
    if path.suffix not in FORMS:
        forms = ", ".join(FORMS)
        raise InputError(f"{path}: unknown suffix {quote(path.suffix)}; a picture is {forms}")
    check_writable(path)
    drawing("figure")


def save_picture(figure: Any, title: str, path: Path) -> None:
    """Write a figure of Matplotlib; the file is complete or absent."""
    with translating_errors(path), replacing(path) as file:
        FORMS[path.suffix](figure, title, file)


def _png(figure: Any, title: str, file: IO[bytes]) -> None:
    figure.savefig(file, format="png", metadata={"Title": title, "Software": None})


def _svg(figure: Any, title: str, file: IO[bytes]) -> None:
    figure.savefig(file, format="svg", metadata={"Title": title, "Date": None, "Creator": None})


def _html(figure: Any, title: str, file: IO[bytes]) -> None:
    image = io.BytesIO()
    _png(figure, title, image)
    packed = base64.b64encode(image.getvalue()).decode("ascii")
    file.write(PAGE.format(title=html.escape(title), image=packed).encode())


FORMS: dict[str, Callable[[Any, str, IO[bytes]], None]] = {
    ".png": _png,
    ".svg": _svg,
    ".html": _html,
}
"""The writers of pictures, by suffix."""
