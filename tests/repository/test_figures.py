"""The figures of the documents are what ``python docs/figures`` writes, and a page shows each."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from support.places import ROOT

FOLDER = ROOT / "docs/figures"
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "groute_py/kernels/exchange/PROTOCOL.md"]


def test_figures_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    rendered = runpy.run_path(str(FOLDER / "__main__.py"))["rendered"]()
    for path in FOLDER.glob("*.py"):
        if path.name != "__main__.py":  # that is pytest's own
            sys.modules.pop(path.stem, None)
    assert len(rendered) == 7
    old = [path.name for path, text in rendered.items() if Path(path).read_text("utf-8") != text]
    assert not old, "run: python docs/figures"
    shown = "".join(page.read_text("utf-8") for page in PAGES)
    assert not [path.name for path in rendered if f"images/{path.name})" not in shown]
