"""Each line of slow.txt and of as_python.txt names a test that there is."""

from __future__ import annotations

import re

import pytest
from support.places import TESTS
from support.slow import PATTERNS

AS_PYTHON = (TESTS / "as_python.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_names_a_test(pattern: str) -> None:
    file, _, rest = pattern.partition("::")
    text = (TESTS / file).read_text(encoding="utf-8")
    names = re.findall(r"\b(?:def|class) ([Tt]est\w+)", text)
    assert names
    asked = re.match(r"(?:Test\w+::)?(test_\w*)", rest)
    assert rest == "*" or (asked and any(name.startswith(asked[1]) for name in names))


@pytest.mark.parametrize("test", AS_PYTHON)
def test_it_is_the_id_of_a_test(test: str) -> None:
    """Without this, an old name would end ``make coverage`` only."""
    file, *names = test.partition("[")[0].split("::")
    text = (TESTS.parent / file).read_text(encoding="utf-8")
    assert all(re.search(rf"\b(?:def|class) {name}\b", text) for name in names)
