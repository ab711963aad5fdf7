"""The tests that slow.txt lists."""

from __future__ import annotations

from fnmatch import fnmatchcase

from support.places import TESTS

LINES = (TESTS / "slow.txt").read_text(encoding="utf-8").splitlines()
PATTERNS = [line for line in LINES if line and not line.startswith("#")]


def is_slow(test: str) -> bool:
    """Whether a test is listed, by its id from the repository's root."""
    return any(fnmatchcase(test, f"tests/{pattern}") for pattern in PATTERNS)
