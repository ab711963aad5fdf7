"""Rows of `.csv` files: their lines, their delimiters, and how often memory is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from groute_py import FormatError, GraphError
from groute_py.graph.ids import Numbering
from groute_py.io.pairs import read_pairs_in
from groute_py.io.text import lines as module
from groute_py.io.text.lines import csv_rows
from groute_py.system import memory_limits


@pytest.mark.parametrize(
    ("text", "delimiters", "rows"),
    [
        (b"", ",", [(1, [])]),
        (b"\xef\xbb\xbfa,b\r\n\r\n1,2", ",", [(1, ["a", "b"]), (2, []), (3, ["1", "2"])]),
        (b'a,"b\nc"\nd\n', ",", [(2, ["a", "b\nc"]), (3, ["d"])]),
        (b"a;b,c\n1;2\n", "\t;,", [(1, ["a", "b,c"]), (2, ["1", "2"])]),
    ],
)
def test_lines_and_fields(
    text: bytes, delimiters: str, rows: list[tuple[int, list[str]]], tmp_path: Path
) -> None:
    (tmp_path / "it.csv").write_bytes(text)
    assert list(csv_rows(tmp_path / "it.csv", "rows", 1, delimiters)) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'a\n"b', "it.csv:2: unexpected end of data"),
        (b'a\n"b"c\n', "it.csv:2: ',' expected after '\"'"),
        (b"a\n\nb\xff\n", "it.csv:3: expected text in UTF-8"),
    ],
)
def test_wrong_text(text: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "it.csv").write_bytes(text)
    with pytest.raises(FormatError, match=message):
        list(csv_rows(tmp_path / "it.csv", "rows", 1))


def test_more_rows_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "it.csv").write_text("1,2\n" * 9)
    monkeypatch.setattr(module, "CHECKED_EVERY", 4)
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: memory_limits.LITTLE + 1)
    with pytest.raises(GraphError, match="more than 8 rows would take"):
        list(csv_rows(tmp_path / "it.csv", "rows", memory_limits.LITTLE // 4))


def test_memory_is_looked_at_once_for_many_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(memory_limits, "LITTLE", 0)
    monkeypatch.setattr(module, "CHECKED_EVERY", 300)
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: looks.append(1))
    (tmp_path / "it.csv").write_text("1,2\n" * 1000)
    assert len(read_pairs_in(tmp_path / "it.csv", Numbering(3), "it")) == 1000
    assert len(looks) == 3  # after 300, 600 and 900
