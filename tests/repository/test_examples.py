"""Examples run and say what they should; so does every command and script in the documents."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from support.documents import (
    PAGES,
    RANKS,
    answers,
    blocks,
    follow,
    make_desk,
    on_one_rank,
    pages,
    run,
    steps,
)
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
    "left_turns.py": [
        "13,828 turns cost 9,000 or are forbidden",
        "free turns: 47,741, 12 times to the left",
        "costly left turns: 128,936, 4 times to the left",
    ],
    "within_reach.py": [
        "vertex 1815 is 22.4 m from its depot",
        "748 vertices are within 30,000 of a depot",
        "the last area has 2 polygons, with 188 holes",
        "the map has",
    ],
    "many_sources.py": ["the most central of 8 is vertex 20100"],
    "travel_times_of_day.py": [
        "96 times of day, 3 x 3 places",
        "Harbour to Hospital: 90 minutes, 138 at 17:00",
        "at night from Harbour to Hospital over 93 corners",
    ],
}
ARGUMENTS = {"road_path.py": ["100x100"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with `groute-py` and `python` in bin/."""
    return make_desk(tmp_path)


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
    "docs/openstreetmap.md",
    "docs/prepared.md",
    "docs/tables.md",
    "docs/turns.md",
]
"""The documents with commands and their answers; those of a document share a folder."""


def test_all_consoles_are_known() -> None:
    known = {*CONSOLES, *PAGES}
    assert not [name for name in pages() if blocks(name, "console") and name not in known]


@pytest.mark.parametrize("document", CONSOLES)
def test_console_of_the_documents(folder: Path, document: str) -> None:
    """With one rank, whatever the number in the document is."""
    for step in steps("".join(blocks(document, "console"))):
        follow(folder, *on_one_rank(step))


@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize("document", ["README.md", "docs/command-line.md"])
def test_ranks_of_the_documents(folder: Path, document: str) -> None:
    for line, shown in steps("".join(blocks(document, "console"))):
        if " generate " in line or RANKS.match(line):
            follow(folder, RANKS.sub(r"python -m groute_py.launch -n \2 -- ", line), shown)


TUTORIALS = [
    "docs/centrality.md",
    "docs/from-scipy.md",
    "docs/from-networkx.md",
    "docs/from-cugraph.md",
    "docs/how-to/routes.md",
    "docs/objectives.md",
    "docs/reach.md",
    "docs/turns.md",
    "docs/weights.md",
]


@pytest.mark.parametrize("document", ["README.md", "docs/python.md", *TUTORIALS])
def test_python_of_the_documents(folder: Path, document: str) -> None:
    text = "\n".join(blocks(document, "python"))
    if "town.gr" in text:
        run("groute-py", "generate", "road:60x40", "-o", "town.gr", cwd=folder)
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    done = run(sys.executable, script, cwd=folder)
    assert done.returncode == 0, done.stderr
    for answer in answers(script.read_text("utf-8")):
        assert answer in done.stdout


def test_every_command_has_a_section() -> None:
    from groute_py.cli.main import commands

    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert [name for name in commands.commands if f"\n## {name}\n" not in text] == []


@pytest.mark.parametrize("document", pages())
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:\s]+)", text):
        assert ((ROOT / document).parent / link).exists(), link
