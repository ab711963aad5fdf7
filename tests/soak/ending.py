"""Runs cases in whichever process, and says how they ended."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from soak.case import Case, drawn
from soak.checks import outcome
from soak.shrinking import shown, shrunk
from soak.weights import KINDS


class Ended(NamedTuple):
    """How a case ended.

    Attributes:
        number: of the case.
        solves: how many sources, 1 where all are solved for together.
        groups: the method, ranks, type, kind and outcome, each with its title.
        failure: the traceback, and a small case that fails; nothing where all is right.
    """

    number: int
    solves: int
    groups: dict[str, str]
    failure: str = ""


def ended(number: int, device: str, kinds: Sequence[str] = tuple(KINDS)) -> Ended:
    """Run one case."""
    case = drawn(number, device, kinds)
    solves = 1 if case.entry == "apsp" else len(case.sources)
    groups = {
        "method": f"{case.entry} {case.method}",
        "ranks": str(case.ranks),
        "type": case.dtype,
        "weights": case.kind,
        "graph": case.shape,
    }
    try:
        return Ended(number, solves, {**groups, "outcome": outcome(case)})
    except Exception as error:  # noqa: BLE001 - whatever it is, the report says so
        kind = type(error)
        small = shrunk(case, lambda smaller: _fails(smaller, kind))
        said = f"{case}\n{traceback.format_exc()}\nThe same error:\n{shown(small)}"
        return Ended(number, solves, {**groups, "outcome": "FAILED"}, said)


def _fails(case: Case, kind: type[Exception]) -> bool:
    try:
        outcome(case)
    except Exception as error:  # noqa: BLE001 - any other error is another fault
        return type(error) is kind
    return False


def turn(numbers: range, device: str, kinds: Sequence[str], end: float) -> list[Ended]:
    """Run some cases in a process, as long as `time.monotonic` is before ``end``."""
    in_time = takewhile(lambda _: time.monotonic() < end, numbers)
    return [ended(number, device, kinds) for number in in_time]
