"""Examples run and say what they should; so does every command and script in the documents."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT

from groute_py.launch.mpirun import command, plan

SAYS = {
    "road_path.py": ["10,000 vertices", "9,543 of 10,000 vertices", "saved in"],
    "scipy_and_networkx.py": ["SciPy: 994 vertices", "Valjean to Jondrette: 4"],
    "under_mpirun.py": ["1 ranks", "38,269 vertices reached, sum of distances 5,816,109,663"],
    "negative_weights.py": ["by EUR → USD → GBP → JPY", "EUR → USD → GBP → EUR: 5.60 % profit"],
    "deliveries.py": [
        "depot 20100 serves 20,973 vertices",
        "its least costs are those of the nearest depots: True",
        "from 20100 to 20105 over 16 vertices, 30,777",
    ],
    "within_reach.py": [
        "vertex 1815 is 22.4 m from its depot",
        "748 vertices are within 30,000 of a depot",
        "the last area has 2 polygons, with 184 holes",
        "the map has",
    ],
    "many_sources.py": ["the most central of 8 is vertex 20100"],
}
ARGUMENTS = {"road_path.py": ["100x100"]}

VARIES = re.compile(r"  (time|ranks|mode|method|relaxations|bytes sent) ")
"""Lines of an answer that depend on the machine and the moment."""


def run(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run with this interpreter's `python` and `groute-py` first on PATH."""
    path = os.pathsep.join([*([str(cwd / "bin")] if cwd else []), os.environ["PATH"]])
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steps(document: str) -> list[tuple[str, list[str]]]:
    """(command, the lines shown under it) of all console blocks."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(document, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with `groute-py` and `python` in bin/."""
    (tmp_path / "bin").mkdir()
    for name, more in (("groute-py", " -m groute_py"), ("python", "")):
        script = tmp_path / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{more} "$@"\n')
        script.chmod(0o755)
    return tmp_path


def follow(desk: Path, command: str, shown: list[str]) -> None:
    done = run("bash", "-c", command, cwd=desk)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    said = (done.stdout + done.stderr).splitlines()
    missing = [line for line in shown if line not in said and not VARIES.match(line)]
    assert not missing, f"{command}\n{done.stdout}{done.stderr}"


def test_all_examples_are_known() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", SAYS)
def test_example(name: str) -> None:
    done = run(sys.executable, ROOT / "examples" / name, *ARGUMENTS.get(name, []))
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout


@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("under_mpirun.py", ["3 ranks", "sum of distances 5,816,109,663"]),
        ("many_sources.py", ["the most central of 8 is vertex 20100"]),
    ],
)
def test_example_on_ranks(name: str, says: list[str]) -> None:
    words = command(plan(3, []))
    words[words.index("-m") :] = [str(ROOT / "examples" / name)]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    for part in says:
        assert done.stdout.count(part) == 1, done.stdout


CONSOLES = [
    "README.md",
    "docs/centrality.md",
    "docs/command-line.md",
    "docs/files.md",
    "docs/prepared.md",
    "docs/tables.md",
]
"""The documents with commands and their answers; those of a document share a folder."""

RANKS = re.compile(r"^(mpirun|python -m groute_py\.launch) -n (\d+) (-- |groute-py )")
"""How a document starts several ranks."""


def test_all_consoles_are_known() -> None:
    documents = ["README.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]
    assert sorted(CONSOLES) == sorted(name for name in documents if blocks(name, "console"))


@pytest.mark.parametrize("document", CONSOLES)
def test_console_of_the_documents(desk: Path, document: str) -> None:
    """With one rank, whatever the number in the document is."""
    for line, shown in steps(document):
        if RANKS.match(line):
            line = RANKS.sub("groute-py ", line)
            shown = [s for s in shown if not s.startswith(("  order ", "  cut "))]
        follow(desk, line, shown)


@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize("document", ["README.md", "docs/command-line.md"])
def test_ranks_of_the_documents(desk: Path, document: str) -> None:
    for line, shown in steps(document):
        if " generate " in line or RANKS.match(line):
            follow(desk, RANKS.sub(r"python -m groute_py.launch -n \2 -- ", line), shown)


TUTORIALS = [
    "docs/centrality.md",
    "docs/from-scipy.md",
    "docs/from-networkx.md",
    "docs/from-cugraph.md",
    "docs/reach.md",
]


@pytest.mark.parametrize("document", ["README.md", "docs/python.md", *TUTORIALS])
def test_python_of_the_documents(desk: Path, document: str) -> None:
    run("groute-py", "generate", "road:60x40", "-o", "town.gr", cwd=desk)
    script = desk / "script.py"
    script.write_text("\n".join(blocks(document, "python")), encoding="utf-8")
    done = run(sys.executable, script, cwd=desk)
    assert done.returncode == 0, done.stderr
    for answer in re.findall(r"^print\(.*\)\s+# ([\[\d].*)$", script.read_text("utf-8"), re.M):
        assert answer in done.stdout


def test_every_option_is_documented() -> None:
    from groute_py.cli.main import commands

    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name, entry in commands.commands.items():
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        for option in (o for p in entry.params for o in p.opts if o.startswith("--")):
            assert option in section, f"{name} {option}"


@pytest.mark.parametrize(
    "document", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]
)
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:\s]+)", text):
        assert ((ROOT / document).parent / link).exists(), link
