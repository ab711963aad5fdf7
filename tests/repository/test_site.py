"""The pages of the site run, and hold what the code documents."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from support.documents import PAGES, answers, code, follow_here, make_desk, on_one_rank, steps
from support.places import ROOT

import groute_py
from groute_py import centrality, csgraph, errors
from groute_py.networkx.info import FUNCTIONS

ERRORS = (ROOT / "docs/how-to/errors.md").read_text(encoding="utf-8")

NEXT_STRING = re.compile(r'"\s*\n\s*f?"')
"""Between two parts of a text that takes several lines."""


@pytest.mark.parametrize("page", [name for name in PAGES if code(name, "console", "python")])
def test_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks in their order, in one folder, with one rank."""
    monkeypatch.chdir(make_desk(tmp_path))
    names: dict[str, object] = {"__name__": "__main__"}
    for language, text in code(page, "console", "python"):
        if language == "console":
            for step in steps(text):
                follow_here(tmp_path, *on_one_rank(step))
        else:
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(text, page, "exec"), names)
            assert not [answer for answer in answers(text) if answer not in out.getvalue()]


def test_every_exit_code_and_error_has_a_cause_and_a_cure() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", ERRORS, re.MULTILINE)
    assert {int(number) for number, _ in rows} == errors.EXIT_CODES.keys()
    shown = {name: int(number) for number, names in rows for name in re.findall(r"`(\w+)`", names)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert shown == {
        kind.__name__: kind.exit_code
        for kind in kinds
        if issubclass(kind, errors.GrouteError) and kind is not errors.GrouteError
    }


def test_the_errors_that_a_page_shows_are_those_of_the_code() -> None:
    tables = re.findall(r"^\| (`.*?`) \|", ERRORS, re.MULTILINE)
    shown = [message for row in tables for message in re.findall(r"`(.+?)`(?:,|$)", row)]
    assert len(shown) > 20
    text = written()
    for message in shown:
        parts = [part for part in re.split(r"…", message) if len(part.strip(" ;:(),.")) > 1]
        assert parts, message
        assert all(part.strip() in text for part in parts), message


def test_the_exit_codes_of_the_command_line_are_documented() -> None:
    text = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    table = text.split("### Exit codes")[1].split("\n## ")[0]
    assert {int(n) for n in re.findall(r"^\| (\d+) \|", table, re.M)} == errors.EXIT_CODES.keys()


def test_every_variable_is_documented() -> None:
    text = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    table = text.split("## Environment variables")[1]
    code = (ROOT / "groute_py/system/settings.py").read_text(encoding="utf-8")
    read = set(re.findall(r'"(GROUTE_PY_\w+)"', code))
    assert read == set(re.findall(r"^\| `(GROUTE_PY_\w+)`", table, re.MULTILINE))


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("groute_py", {*groute_py.__all__, "open"} - {"UNREACHED"}),
        ("groute_py.centrality", {*centrality.__all__}),
        ("groute_py.csgraph", {*csgraph.__all__}),
        ("groute_py.networkx.backend", {*FUNCTIONS}),
    ],
)
def test_every_public_name_has_a_page(module: str, names: set[str]) -> None:
    text = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    parts = text.split(".. currentmodule:: ")
    listed = [part for part in parts if part.startswith(f"{module}\n")]
    assert set(re.findall(r"^   (\w+)$", "".join(listed), re.MULTILINE)) == names


def written() -> str:
    """The code of the package; what stands in several strings, one behind another, in one."""
    paths = (ROOT / "groute_py").rglob("*.py")
    return "".join(NEXT_STRING.sub("", path.read_text(encoding="utf-8")) for path in paths)
