"""The paper cites works that its bibliography has, and all of them."""

from __future__ import annotations

import re

from support.places import ROOT

PAPER = ROOT / "paper"


def test_citations_are_the_bibliography() -> None:
    text = (PAPER / "paper.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"@(\w+)", text.partition("\n---\n")[2]))
    listed = re.findall(r"^@\w+\{(\w+),", (PAPER / "paper.bib").read_text("utf-8"), re.MULTILINE)
    assert cited == set(listed)
    assert len(listed) == len(cited) > 10


def test_pictures_are_there() -> None:
    text = (PAPER / "paper.md").read_text(encoding="utf-8")
    pictures = re.findall(r"^!\[.+\]\((.+)\)$", text, re.MULTILINE)
    assert pictures
    assert all((PAPER / name).is_file() for name in pictures)
