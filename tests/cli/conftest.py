"""A graph of roads as a text, and a folder for what the cache keeps of it."""

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
