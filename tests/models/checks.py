"""Verify the Promela models with Spin; `python tests/models/checks.py` prints a table.

Each model is verified for 2 and 3 ranks. For each guard of a model there is a check that takes the
guard out and names the property that Spin must then find violated.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from groute_py.kernels.source import TUNING

MODELS = Path(__file__).parent
CYCLE, STUCK = "acceptance cycle", "invalid end state"
DEPTH, MEMORY_MIB, LIMIT_S = 1_000_000, 2_000, 200
"""Of one search: steps of the deepest run, memory for states, and seconds."""


@dataclass(frozen=True)
class Check:
    """One search by Spin.

    Attributes:
        model: name of a file in tests/models.
        options: macros beside RANKS; the guards taken out begin with ``NO_``.
        violates: label of the assertion that must fail, `CYCLE` or `STUCK`; empty if none may.
        states: the fewest that a complete search visits.
        ends: check the formula ``ends`` under weak fairness, not assertions and end states.
        slow: takes long; only `make models` makes it.
    """

    model: str
    ranks: int
    options: tuple[str, ...] = ()
    violates: str = ""
    states: int = 0
    ends: bool = False
    slow: bool = False

    def __str__(self) -> str:
        return " ".join([self.model, str(self.ranks), *self.options, *["ends"] * self.ends])


@dataclass(frozen=True)
class Verdict:
    """What Spin found.

    Attributes:
        violated: as `Check.violates`.
        complete: whether Spin visited every state it could, none cut off by depth or memory.
        states, depth: visited, and of the longest run.
        seconds: of the search.
    """

    violated: str
    complete: bool
    states: int
    depth: int
    seconds: float


def verify(check: Check) -> Verdict:
    """Generate, compile and run the verifier of one check, in a temporary folder."""
    macros = [f"-D{option}" for option in (f"RANKS={check.ranks}", *check.options)]
    kind = [f"-DNFAIR={check.ranks + 2}"] if check.ends else ["-DSAFETY"]
    flags = ["-a", "-f"] if check.ends else []
    model = MODELS / f"{check.model}.pml"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(folder, "spin", *macros, "-a", str(model))
        _run(folder, "cc", "-w", "-O1", f"-DMEMLIM={MEMORY_MIB}", *kind, "-o", "pan", "pan.c")
        output = _run(folder, "./pan", *flags, f"-m{DEPTH}")
        violated = _violated(output, folder, macros, model)
    return Verdict(
        violated,
        "errors: 0" in output and not re.search("too small|out of memory|memory limit", output),
        int(_number(r"(\d+) states, stored", output)),
        int(_number(r"depth reached (\d+)", output)),
        _number(r"elapsed time ([\d.e+-]+)", output),
    )


def _violated(output: str, folder: Path, macros: list[str], model: Path) -> str:
    """The kind of the error, of a failed assertion the label that the model gives it."""
    if "errors: 0" in output:
        return ""
    for kind in (CYCLE, STUCK):
        if f"pan:1: {kind}" in output:
            return kind
    (trail,) = folder.glob("*.trail")
    replay = _run(folder, "spin", *macros, "-t", "-k", str(trail), str(model), any_code=True)
    line = int(_number(r":(\d+), Error: assertion violated", replay))
    labels = re.findall(r"/\* (.+?) \*/", model.read_text().splitlines()[line - 1])
    return labels[-1] if labels else f"line {line}"


def _run(folder: Path, *words: str, any_code: bool = False) -> str:
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    output = done.stdout + done.stderr
    if done.returncode and not any_code:
        raise RuntimeError(f"{' '.join(words)} failed: {output}")
    return output


def _number(pattern: str, text: str) -> float:
    result = re.search(pattern, text)
    if result is None:
        raise RuntimeError(f"Spin did not print {pattern!r}: {text}")
    return float(result[1])


def _removed(model: str, guards: dict[str, str], *options: str, ends: bool = False) -> list[Check]:
    """For 2 and 3 ranks, a check without each guard, which violates what it is mapped to."""
    return [
        Check(model, ranks, (*options, guard), violates, ends=ends)
        for guard, violates in guards.items()
        for ranks in (2, 3)
    ]


_CREDIT_SHARE = f"CREDIT_SHARE={TUNING['CREDIT_SHARE']}"
_PROMPT = ("PROMPT_DATA", "PROMPT_VOTES")

CHECKS = [
    Check("termination", 2, states=10_000),
    Check("termination", 2, ("SENDS=5",), states=500_000, slow=True),
    Check("termination", 2, ("GOAL",), states=10_000),
    Check("termination", 2, ("STOPS",), states=100_000),
    Check("termination", 2, states=10_000, ends=True),
    Check("termination", 2, ("ENDLESS",), states=100, ends=True),
    Check("termination", 3, ("SENDS=2",), states=10_000),
    Check("termination", 3, states=500_000, slow=True),
    Check("termination", 3, ("GOAL", "SENDS=2"), states=50_000),
    Check("termination", 3, ("STOPS", "SENDS=2"), states=100_000),
    Check("termination", 3, ("SENDS=2",), states=10_000, ends=True),
    Check("termination", 3, ("ENDLESS",), states=100, ends=True),
    Check("termination", 3, ("STOPS",), states=5_000_000, slow=True),
    *_removed("termination", {"NO_SECOND_WAVE": "early", "NO_COUNTS": "early"}),
    Check("termination", 2, ("SENDS=5", "NO_UNCHANGED"), "early"),
    *_removed("termination", {"NO_ABANDON": "left behind"}, "GOAL"),
    *_removed("termination", {"NO_STOP": CYCLE}, "ENDLESS", ends=True),
    Check("ring", 2, (_CREDIT_SHARE,), states=10_000),
    Check("ring", 2, ("CREDIT_SHARE=1",), states=10_000),
    Check("ring", 3, (_CREDIT_SHARE, "ENTRIES=3"), states=500_000),
    *_removed(
        "ring",
        {
            "NO_CREDIT": "content",
            "NO_FENCE": "content",
            "NO_TAKE_FIRST": "content",
            "NO_SHOW": "lost",
            "NO_SHOW_FENCE": "lost",
            "NO_SEEN_FIRST": "lost",
        },
        _CREDIT_SHARE,
    ),
    Check("fused_steps", 2, ("IMPROVEMENTS=2",), states=50_000),
    Check("fused_steps", 2, (*_PROMPT, "IMPROVEMENTS=2"), states=2_000, ends=True),
    Check("fused_steps", 2, ("IMPROVEMENTS=1", "LL_RING"), states=50_000),
    Check("fused_steps", 3, ("IMPROVEMENTS=1", "PROMPT_DATA"), states=30_000),
    Check("fused_steps", 2, ("IMPROVEMENTS=2", "LL_RING"), states=1_000_000, slow=True),
    Check("fused_steps", 3, ("IMPROVEMENTS=1",), states=400_000, slow=True),
    *(
        Check("fused_steps", 2, ("IMPROVEMENTS=2", "LL_RING", guard), "quiet")
        for guard in (
            "NO_SECOND_WAVE",
            "NO_COUNTS",
            "NO_PARITY",
            "NO_OWN_VERDICT",
            "NO_SHOW",
            "NO_SHOW_COUNT",
            "NO_FENCE",
        )
    ),
    Check("fused_steps", 2, (*_PROMPT, "IMPROVEMENTS=2", "NO_LIMIT"), CYCLE, ends=True),
    Check("ll_ring", 2, states=1000),
    Check("ll_ring", 3, ("ENTRIES=4",), states=1000),
    Check("ll_ring", 2, ("NO_CREDIT",), STUCK),
    Check("ll_ring", 2, ("NO_SPARE_BIT",), STUCK),
    Check("ll_ring", 2, ("NO_FIRST_MARK",), "content"),
    Check("ll_ring", 2, ("NO_ONE_LOOK",), "content"),
    Check("stop", 2, ("HEAVY=2",), states=1000),
    Check("stop", 3, states=1000),
    *(
        Check("stop", ranks, (case,), states=100)
        for case in ("ENDLESS", "FAILURE")
        for ranks in (2, 3)
    ),
    *_removed("stop", {"NO_FORWARD": STUCK, "NO_STOP_IN_WAIT": STUCK}, "ENDLESS"),
    Check("stop", 2, ("NO_PACE_FIRST",), STUCK),
    Check("stop", 2, ("NO_FAREWELL",), "together"),
    Check("stop", 2, ("FAILURE", "NO_PATIENCE"), STUCK),
]
"""All that is verified: each model as it is, and without each of its guards."""


def main() -> None:
    """Print a line for each check; code 1 if one is not as expected."""
    wrong = 0
    print(f"{'model':46} {'ranks':>5} {'states':>9} {'depth':>6} {'s':>6}  verdict")
    for check in CHECKS:
        verdict = verify(check)
        as_expected = verdict.violated == check.violates and (
            bool(check.violates) or (verdict.complete and verdict.states >= check.states)
        )
        wrong += not as_expected
        name = " ".join([check.model, *check.options, *["ends"] * check.ends])
        said = f"violates {verdict.violated}" if verdict.violated else "holds"
        if not as_expected:
            said += f", expected: {check.violates or 'a complete search without errors'}"
        counts = f"{check.ranks:>5} {verdict.states:>9} {verdict.depth:>6} {verdict.seconds:>6.1f}"
        print(f"{name:46} {counts}  {said}", flush=True)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
