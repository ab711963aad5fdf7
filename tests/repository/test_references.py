"""Comments and docstrings refer to files and sections that exist."""

from __future__ import annotations

import re
from pathlib import Path

from support.places import ROOT

REFERENCE = re.compile(r"\b((?:docs|benchmarks/results)/[\w./+-]*\w)(#[\w-]+)?")
SUFFIXES = {".py", ".cu", ".cuh"}


def sections(document: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_code_refers_to_what_exists() -> None:
    wrong, seen = [], 0
    for folder in ("groute_py", "benchmarks", "tests", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in SUFFIXES or path == Path(__file__).resolve():
                continue
            for name, anchor in REFERENCE.findall(path.read_text(encoding="utf-8")):
                seen += 1
                target = ROOT / name
                if not target.exists() or (anchor and anchor[1:] not in sections(target)):
                    wrong.append(f"{path.relative_to(ROOT)}: {name}{anchor}")
    assert not wrong
    assert seen > 10


def test_links_between_pages_lead_to_sections() -> None:
    wrong = []
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for name, anchor in re.findall(r"\]\(([^)#:\s]*)#([\w-]+)\)", page.read_text("utf-8")):
            target = page if not name else page.parent / name
            if target.suffix == ".md" and anchor not in sections(target):
                wrong.append(f"{page.relative_to(ROOT)}: {name}#{anchor}")
    assert not wrong
