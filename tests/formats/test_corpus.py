"""Inputs that once showed a fault, each replayed in the fuzzer's worker.

``corpus/index.toml`` says of each file which format it is read as, how that has to end, and what
it showed. ``pending`` marks those whose fault is still there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from fuzz.judge import Judge
from support.places import TESTS

CORPUS = TESTS / "corpus"
INDEX: list[dict[str, Any]] = tomllib.loads((CORPUS / "index.toml").read_text())["input"]


def _parameter(entry: dict[str, Any]) -> Any:
    pending = pytest.mark.xfail(strict=True, reason=entry["shows"])
    return pytest.param(entry, id=entry["file"], marks=[pending] if entry.get("pending") else [])


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(megabytes=1024, limit_s=60) as judge:
        yield judge


@pytest.mark.slow
@pytest.mark.parametrize("entry", [_parameter(entry) for entry in INDEX])
def test_replayed(judge: Judge, entry: dict[str, Any]) -> None:
    verdict = judge.verdict(entry["format"], (CORPUS / entry["file"]).read_bytes())
    assert verdict.end == entry["end"], verdict


def test_the_index_names_every_file_once() -> None:
    names = [entry["file"] for entry in INDEX]
    assert sorted(names) == sorted(p.name for p in CORPUS.iterdir() if p.name != "index.toml")
    assert all(entry["shows"] and entry["end"] in ("read", "refused") for entry in INDEX)
