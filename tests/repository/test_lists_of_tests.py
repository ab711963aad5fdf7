"""Each line of slow.txt names a test that there is."""

from __future__ import annotations

import re

import pytest
from support.places import TESTS
from support.slow import PATTERNS


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_names_a_test(pattern: str) -> None:
    file, _, rest = pattern.partition("::")
    text = (TESTS / file).read_text(encoding="utf-8")
    names = re.findall(r"\b(?:def|class) ([Tt]est\w+)", text)
    assert names
    asked = re.match(r"(?:Test\w+::)?(test_\w*)", rest)
    assert rest == "*" or (asked and any(name.startswith(asked[1]) for name in names))
