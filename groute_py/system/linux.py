"""Refuse other systems before Linux-only modules are imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import PureWindowsPath

ADVICE = "groute-py runs on Linux; on Windows use WSL2"

WRONG_USAGE = 2


def check_system(platform: str = sys.platform, words: Sequence[str] = sys.orig_argv) -> None:
    """End the command in one line, and an import by an error, where this is not Linux."""
    if platform.startswith("linux"):
        return
    problem = f"{ADVICE} (this is {platform})"
    if not is_command(words):
        raise ImportError(problem)
    print(f"groute-py: {problem}", file=sys.stderr)
    raise SystemExit(WRONG_USAGE)


def is_command(words: Sequence[str]) -> bool:
    """Return whether an interpreter runs ``groute-py`` or ``python -m groute_py``."""
    for before, word in zip(("", *words), words, strict=False):
        if before == "-m" or (word.startswith("-m") and word != "-m"):
            module = word if before == "-m" else word.removeprefix("-m")
            return module.partition(".")[0] == "groute_py"
        if PureWindowsPath(word).stem.removesuffix("-script") == "groute-py":
            return True
    return False
