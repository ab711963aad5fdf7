"""Files of small graphs, and a folder for what the cache keeps of one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.prepared_town import write_town


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """The file of the graph."""
    return write_town(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The folder, which is not there yet."""
    return tmp_path / "copies"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a small town."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "town.csv").write_text(
        "from,to,km\nhome,work,5\nwork,pub,2\npub,home,1\nzoo,home,4\n"
    )
    return tmp_path
