"""What a step does, for every combination of the conditions that decide about it.

`choose_action` is compiled as plain C++, with conditions that are bits of a number. The expected
action comes from the table in the head of its file, and from statements about single actions.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from support.emulation.cpp import compiled
from support.skips import needs_compiler

import groute_py.kernels

pytestmark = needs_compiler

HEADER = Path(groute_py.kernels.__file__).parent / "sssp" / "choose_action.cuh"

CONDITIONS = (
    *("is_over", "is_behind", "has_listed", "has_arrivals", "has_served", "has_spilled"),
    *("is_pull_due", "has_far", "is_bound_beyond", "is_far_beyond", "is_short", "has_peers"),
)
"""The functions of `Conditions`, by the bit that holds their value."""

COLUMNS = ("over", "behind", "listed", "arrivals", "served", "spilled", "pull due", "far", "beyond")

Values = dict[str, bool]


class Row(NamedTuple):
    """A row of the table: the conditions that it names, and the action."""

    wanted: dict[str, bool]
    action: str


def table() -> list[Row]:
    """The rows in the head of the file."""
    lines = re.findall(r"^// \|(.*)\|$", HEADER.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    assert tuple(cells[0][:-1]) == COLUMNS
    return [
        Row({c: v == "yes" for c, v in zip(COLUMNS, row, strict=False) if v != "-"}, row[-1])
        for row in cells[2:]
    ]


def actions() -> list[str]:
    """The names of the enum, in its order."""
    (body,) = re.findall(r"enum class Action : unsigned \{(.*?)\};", HEADER.read_text(), re.DOTALL)
    return re.findall(r"^ *(\w+),", body, re.MULTILINE)


@pytest.fixture(scope="module")
def chosen() -> np.ndarray:
    """For each combination the action, and the bits of the conditions that were asked."""
    asks = "\n".join(
        f"bool {name}() const {{ asked |= 1u << {bit}; return bits >> {bit} & 1; }}"
        for bit, name in enumerate(CONDITIONS)
    )
    text = f"""
#define __device__
#define __forceinline__ inline
#include "{HEADER}"
struct Conditions {{
    unsigned bits;
    mutable unsigned asked = 0;
    {asks}
}};
extern "C" void choose_all(unsigned count, unsigned* chosen) {{
    for (unsigned bits = 0; bits < count; bits++) {{
        const Conditions now{{bits}};
        chosen[2 * bits] = (unsigned)choose_action(now);
        chosen[2 * bits + 1] = now.asked;
    }}
}}"""
    result = np.zeros((1 << len(CONDITIONS), 2), np.uint32)
    library = compiled(text, ["-std=c++17"])
    library.choose_all(len(result), result.ctypes.data_as(ctypes.c_void_p))
    return result


def values_of(bits: int) -> Values:
    return {name: bool(bits >> bit & 1) for bit, name in enumerate(CONDITIONS)}


def columns_of(values: Values) -> Values:
    """The columns of the table; `beyond` is asked where the next bucket would begin."""
    beyond = values["is_bound_beyond" if values["is_pull_due"] else "is_far_beyond"]
    return {
        "over": values["is_over"],
        "behind": values["is_behind"],
        "listed": values["has_listed"],
        "arrivals": values["has_arrivals"],
        "served": values["has_served"],
        "spilled": values["has_spilled"],
        "pull due": values["is_pull_due"],
        "far": values["has_far"],
        "beyond": beyond,
    }


def named(action: str, values: Values) -> str:
    """The action that a word of the table stands for."""
    if action == "relax":
        return "local_step" if values["is_short"] else "grid_step"
    return "end" if action == "idle" and not values["has_peers"] else action


def test_the_first_row_that_fits_has_the_action(chosen: np.ndarray) -> None:
    """And no row is always preceded by another that fits."""
    rows, names, used = table(), actions(), set()
    for bits, (action, _) in enumerate(chosen):
        values = values_of(bits)
        columns = columns_of(values)
        fits = [row.wanted.items() <= columns.items() for row in rows]
        first = fits.index(True)
        assert names[action] == named(rows[first].action, values), columns
        used.add(first)
    assert used == set(range(len(rows)))


def test_all_actions_occur(chosen: np.ndarray) -> None:
    assert {actions()[action] for action in chosen[:, 0]} == set(actions())


def test_work_in_the_bucket_comes_first(chosen: np.ndarray) -> None:
    """The bucket moves only when nothing is left in it, or when that of the peers has moved."""
    names = actions()
    for bits, (action, _) in enumerate(chosen):
        values, name = values_of(bits), names[action]
        if name in ("pull_deferred", "open_bucket"):
            assert not any(values[c] for c in ("is_behind", "has_listed", "has_spilled"))
            assert values["has_served"] or not values["has_arrivals"]
        if name == "end":
            assert values["is_over"] or not values["has_peers"]
        if values["has_listed"] and not values["is_over"]:
            assert name in ("local_step", "grid_step", "join_bucket")


def test_only_what_decides_is_asked(chosen: np.ndarray) -> None:
    """A condition that was not asked has no influence; so none is evaluated in vain."""
    for bits, (action, asked) in enumerate(chosen):
        for bit in range(len(CONDITIONS)):
            if not asked >> bit & 1:
                assert chosen[bits ^ (1 << bit), 0] == action


def test_a_step_with_listed_entries_asks_little(chosen: np.ndarray) -> None:
    """Most steps are of this kind, and each condition costs time in all threads."""
    usual = 1 << CONDITIONS.index("has_listed")
    asked = {name for bit, name in enumerate(CONDITIONS) if chosen[usual, 1] >> bit & 1}
    assert asked == {"is_over", "is_behind", "has_listed", "is_short"}
