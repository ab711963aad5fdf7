"""Models of the protocols hold for 2 and 3 ranks; each fails as named without one of its guards."""

from __future__ import annotations

import re
import shutil

import pytest
from models.checks import CHECKS, MODELS, Check, verify

pytestmark = pytest.mark.skipif(
    not (shutil.which("spin") and shutil.which("cc")), reason="needs Spin and a C compiler"
)


def parameters(fails: bool) -> list[object]:
    return [
        pytest.param(check, id=str(check), marks=[pytest.mark.slow] if check.ranks > 2 else [])
        for check in CHECKS
        if bool(check.violates) == fails and not check.slow
    ]


@pytest.mark.parametrize("check", parameters(fails=False))
def test_a_model_holds(check: Check) -> None:
    verdict = verify(check)
    assert verdict.violated == ""
    assert verdict.complete
    assert verdict.states >= check.states


@pytest.mark.parametrize("check", parameters(fails=True))
def test_a_model_fails_without_its_guard(check: Check) -> None:
    assert verify(check).violated == check.violates


@pytest.mark.parametrize("model", sorted(MODELS.glob("*.pml")), ids=lambda path: path.stem)
def test_every_guard_is_taken_out_once(model) -> None:
    guards = set(re.findall(r"def(?:ined\()? ?(NO_\w+)", model.read_text()))
    taken_out = {o for c in CHECKS if c.model == model.stem for o in c.options if "NO_" in o}
    assert guards == taken_out
    assert {c.ranks for c in CHECKS if c.model == model.stem and not c.violates} == {2, 3}
