"""Problem files of the DIMACS challenge."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from groute_py import FormatError
from groute_py.io.pairs import read_pairs, read_sources


def test_the_samples_of_the_challenge(data_folder: Path) -> None:
    assert read_sources(data_folder / "dimacs9" / "sample.ss").shape == (3,)
    assert read_pairs(data_folder / "dimacs9" / "sample.p2p").shape == (3, 2)
    sources = read_sources(data_folder / "dimacs9" / "USA-road-d.NY.ss")
    assert len(sources) == 532
    assert 1 <= sources.min() <= sources.max() <= 264_346


def test_small(tmp_path: Path) -> None:
    (tmp_path / "a.ss").write_bytes(gzip.compress(b"c two\r\np aux sp ss 2\r\ns 7\r\n\r\ns 1"))
    assert read_sources(tmp_path / "a.ss").tolist() == [7, 1]
    (tmp_path / "a.p2p").write_text("p aux sp p2p 1\nq 3 4\n")
    assert read_pairs(tmp_path / "a.p2p").tolist() == [[3, 4]]
    (tmp_path / "a.ss").write_text("p aux sp ss 0\n")
    assert read_sources(tmp_path / "a.ss").tolist() == []


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("p aux sp ss 2\ns 1\n", None, "promises 2 lines `s`, but has 1"),
        ("s 1\n", 1, "expected `s ID` behind `p aux sp ss N`"),
        ("p aux sp ss 1\ns 1 2\n", 2, "got 's 1 2'"),
        ("p aux sp ss 1\ns -1\n", 2, "expected a vertex id, got '-1'"),
        ("p aux sp p2p 1\nq 1 2\n", 1, "expected `p aux sp ss N`"),
        ("p aux sp ss 1\np aux sp ss 1\n", 2, "behind"),
        ("p aux sp ss x\n", 1, "expected `p aux sp ss N`"),
        (f"p aux sp ss 1\ns {10**30}\n", 2, "expected a vertex id"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, line: int | None, says: str) -> None:
    (tmp_path / "a.ss").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_sources(tmp_path / "a.ss")
    assert says in str(caught.value)
    assert caught.value.line == line
