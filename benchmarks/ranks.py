"""Cases on several ranks: a command on one rank starts itself under mpirun."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, SkippedError
from benchmarks.plan import Plan
from groute_py.errors import RunError, SetupError
from groute_py.launch.mpirun import command, plan

ROOT = Path(__file__).parents[1]


def measure_on_ranks(ranks: int, cases: list[Case], how: Plan) -> list[dict[str, Any]]:
    """Measure cases in a job of `ranks` ranks; the records of that job, failures included.

    Raises:
        SkippedError: there is no mpirun.
        RunError: the job ended before all cases were measured.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            words = command(plan(ranks, _arguments(cases, how, folder)))
        except SetupError as problem:
            raise SkippedError(str(problem)) from problem
        words[words.index("-m") + 1] = "benchmarks"
        # this process prints the table; the log appears as it comes
        none = subprocess.DEVNULL
        done = subprocess.run(words, cwd=ROOT, stdin=none, stdout=none, check=False)
        written = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    records: list[dict[str, Any]] = [record for file in written for record in file["records"]]
    if len(records) < len(cases) or (done.returncode and not _failures(records)):
        raise RunError(f"the job on {ranks} ranks ended with code {done.returncode}")
    return records


def _failures(records: list[dict[str, Any]]) -> bool:
    return any("failed" in record for record in records)


def _arguments(cases: list[Case], how: Plan, folder: str) -> list[str]:
    words = ["--device", how.device, "--repeat", str(how.repeat), "--output", folder]
    words += ["--mode", how.mode, "--order", how.order, "--scipy-up-to", str(how.scipy_up_to)]
    for case in cases:
        words += ["--case", case.name]
    if how.delta is not None:
        words += ["--delta", repr(how.delta)]
    words += ["--prepare"] * how.prepare
    if len(how.trees) > 1:
        return [*words, "--both"]
    return words if how.trees[0] else [*words, "--no-predecessors"]
