"""The file of a command's raw numbers: always complete, and of this command alone."""

from __future__ import annotations

import json
import os
import time
from itertools import count
from pathlib import Path
from typing import Any


class RawNumbers:
    """A file that is replaced after each case.

    Args:
        folder: the file's folder.
        about: the first part of its name. The time follows, and a number if another command that
            started in the same second has that name.
    """

    def __init__(self, folder: Path, about: str) -> None:
        self._stem = folder / f"{about}-{time.strftime('%Y-%m-%d-%H%M%S')}"
        self._path: Path | None = None

    @property
    def name(self) -> str:
        """The file's name, or ``none`` before the first write."""
        return self._path.name if self._path is not None else "none"

    def write(self, content: dict[str, Any]) -> None:
        """Replace the file's content."""
        self._stem.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._stem.with_name(f"{self._stem.name}-{os.getpid()}.part")
        unfinished.write_text(json.dumps(content, indent=1) + "\n")
        self._path = self._path or _taken(self._stem)
        unfinished.replace(self._path)


def _taken(stem: Path) -> Path:
    """Create the first file whose name is free."""
    for number in count(1):
        path = stem.with_name(f"{stem.name}{f'-{number}' if number > 1 else ''}.json")
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise AssertionError("numbers end")
