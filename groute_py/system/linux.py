"""Refuse other systems before Linux-only modules are imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

ADVICE = "groute-py runs on Linux; on Windows use WSL2"

COMMAND = re.compile(r"[^\0]+(\0-[^m\0][^\0]*)*\0(-m\0?groute_py\b|[^-\0][^\0]*\bgroute-py\b)")
"""Words, with \\0 between them, by which an interpreter runs the command."""


def check_system(platform: str = sys.platform, words: Sequence[str] = sys.orig_argv) -> None:
    """End the command in one line with code 2, and an import by an error, but on Linux."""
    if platform.startswith("linux"):
        return
    problem = f"{ADVICE} (this is {platform})"
    if not COMMAND.match("\0".join(words)):
        raise ImportError(problem)
    print(f"groute-py: {problem}", file=sys.stderr)
    raise SystemExit(2)
