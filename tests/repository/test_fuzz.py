"""The fuzzer sees planted faults, and what it draws is the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzz.__main__ import arguments, fuzz, input_of
from fuzz.judge import Judge
from fuzz.minimise import minimised
from fuzz.seeds import formats
from support.planted_faults import PLANTED

SOUND = b"p sp 3 2\na 1 2 803\na 2 3 5\n"

NO_GRAPHS = ("result .npy", "result .csv")
"""Formats whose seeds are refused, or may be."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(megabytes=256, limit_s=10, preload="support.planted_faults") as judge:
        yield judge


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_seen(judge: Judge, name: bytes) -> None:
    _, says = PLANTED[name]
    verdict = judge.verdict("DIMACS", b"c plant " + name + b"\n" + SOUND)
    assert verdict.end == "fault"
    assert says in verdict.what


def test_what_follows_a_fault_is_read_as_ever(judge: Judge) -> None:
    assert judge.verdict("DIMACS", b"c plant crash\n" + SOUND).end == "fault"
    assert judge.verdict("DIMACS", SOUND).end == "read"
    assert judge.verdict("DIMACS", SOUND[:-2]).end == "refused"


@pytest.mark.parametrize("name", [n for n in formats() if not n.startswith(NO_GRAPHS)])
def test_seeds_are_read(judge: Judge, name: str) -> None:
    ends = {judge.verdict(name, seed).end for seed in formats()[name].seeds}
    assert "read" in ends
    assert "fault" not in ends


def test_a_fault_is_minimised_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "fuzz.__main__.input_of", lambda *drawn: ("DIMACS", b"c plant raw\n" + SOUND)
    )
    words = [
        "--jobs",
        "1",
        "--inputs",
        "3",
        "--preload",
        "support.planted_faults",
        "--found",
        str(tmp_path),
    ]
    findings = fuzz(arguments([*words, "--only", "DIMACS"]))
    assert findings.ends == {("DIMACS", "fault"): 3}
    (what,) = findings.faults
    assert "ValueError from" in what
    (saved,) = [path for path in tmp_path.iterdir() if not path.suffix]
    assert b"c plant raw" in saved.read_bytes()
    assert len(saved.read_bytes()) < len(b"c plant raw\n" + SOUND)
    assert what in saved.with_suffix(".txt").read_text()
    assert f"FAULT DIMACS: {what}" in capsys.readouterr().out


def test_inputs_depend_on_seed_and_number_alone() -> None:
    names = list(formats())
    drawn = [input_of(7, number, names) for number in range(200)]
    assert drawn == [input_of(7, number, names) for number in range(200)]
    assert drawn != [input_of(8, number, names) for number in range(200)]
    changed = [content not in formats()[name].seeds for name, content in drawn]
    assert sum(changed) > 150
    assert {name for name, _ in drawn} == set(names)


def test_minimised_parts_are_all_needed() -> None:
    small = minimised(bytes(range(256)), lambda part: {7, 200, 201} <= set(part))
    assert small == bytes([7, 200, 201])
