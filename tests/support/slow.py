"""The tests that slow.txt lists."""

from __future__ import annotations

import re
from fnmatch import translate

from support.places import TESTS

LINES = (TESTS / "slow.txt").read_text(encoding="utf-8").splitlines()
PATTERNS = [line for line in LINES if line and not line.startswith("#")]
LISTED = re.compile("|".join(translate(f"tests/{pattern}") for pattern in PATTERNS))


def is_slow(test: str) -> bool:
    """Whether a test is listed, by its id from the repository's root."""
    return LISTED.match(test) is not None
