"""The step loop chooses its actions as the table at the head of choose_action.cuh says."""

from __future__ import annotations

import ctypes
import re
from itertools import product
from pathlib import Path

import pytest
from support.emulation.cpp import compiled
from support.places import ROOT
from support.skips import needs_compiler

pytestmark = needs_compiler

HEADER = ROOT / "groute_py/kernels/sssp/choose_action.cuh"

FACTS = (
    *("over", "near", "arrivals", "again", "spilled", "moved"),
    *("small", "pull", "far", "beyond", "peers"),
)
"""The columns of the table and the fields of ``StepFacts``."""

ACTIONS = (
    *("Finish", "RelaxLocally", "RelaxWide", "JoinBucket"),
    *("RecoverSpilled", "PullDeferred", "OpenBucket", "AwaitPeers"),
)
"""In the order of ``Action``."""

HARNESS = """
#define __device__
#define __forceinline__ inline
#include "{header}"
extern "C" int chosen({arguments}) {{
    StepFacts facts{{}};
    {assignments}
    return (int)choose_action(facts);
}}
"""


def table() -> list[tuple[str, ...]]:
    """The rows of the comment, without its title."""
    lines = re.findall(r"^// \| (.*) \|$", HEADER.read_text(encoding="utf-8"), re.MULTILINE)
    rows = [tuple(cell.strip() for cell in line.split("|")) for line in lines]
    assert rows[0] == (*FACTS, "action")
    return rows[1:]


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    text = HARNESS.format(
        header=HEADER,
        arguments=", ".join(f"int {name}" for name in FACTS),
        assignments=" ".join(f"facts.{name} = {name};" for name in FACTS),
    )
    found = compiled(text, ["-std=c++17"])
    assert isinstance(found, ctypes.CDLL)
    return found


def test_the_table_has_one_row_for_each_input_and_is_right(library: ctypes.CDLL) -> None:
    rows = table()
    for facts in product((0, 1), repeat=len(FACTS)):
        cells = [str(fact) for fact in facts]
        fitting = [
            row for row in rows if all(a in (b, "-") for a, b in zip(row[:-1], cells, strict=True))
        ]
        assert len(fitting) == 1, dict(zip(FACTS, facts, strict=True))
        assert ACTIONS[library.chosen(*facts)] == fitting[0][-1], dict(
            zip(FACTS, facts, strict=True)
        )


def test_every_row_and_every_action_is_used() -> None:
    assert {row[-1] for row in table()} == set(ACTIONS)
    body = re.search(r"enum class Action \{(.*?)\};", Path(HEADER).read_text("utf-8"), re.DOTALL)
    assert body is not None
    assert tuple(re.findall(r"^\s*(\w+),", body[1], re.MULTILINE)) == ACTIONS
