"""Processes that tests start: Python programs, the command line, and scripts under mpirun."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping

from groute_py.launch.mpirun import command, plan

Done = subprocess.CompletedProcess[str]
Job = Callable[..., Done]

LONG_RUN = ["sssp", "road:150x150", "--source", "9000", "--device", "cpu", "--trials", "1000000"]
"""Arguments of a run that goes on until it is ended."""


def run(*words: object, timeout: float = 120, environ: Mapping[str, str] | None = None) -> Done:
    """Run a program to its end, with these variables besides; nothing comes in."""
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(environ or {})},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def run_python(code: str, *words: object, **environ: str) -> Done:
    """Run some lines of Python in a process of their own."""
    return run(sys.executable, "-c", code, *words, environ=environ)


def run_tests_of_others(plugin: str, module: str, *, timeout: float = 240, **environ: str) -> Done:
    """Run the installed tests of another project, with a plugin of ours and no settings of ours."""
    words = ["-m", "pytest", "-q", "-p", plugin, "-p", "no:cacheprovider", "-c", os.devnull]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return run(sys.executable, *words, "--pyargs", module, timeout=timeout, environ=paths | environ)


def run_groute(*words: object, ranks: int = 1, timeout: float = 120, **environ: str) -> Done:
    """Run ``groute-py WORDS`` on some ranks."""
    launch = ["groute_py"] if ranks == 1 else ["groute_py.launch", "-n", ranks, "--"]
    return run(sys.executable, "-m", *launch, *words, timeout=timeout, environ=environ)


def run_under_mpirun(
    ranks: int,
    *words: object,
    timeout: float = 120,
    environ: Mapping[str, str] | None = None,
) -> Done:
    """Run ``python WORDS`` on some ranks."""
    launch = command(plan(ranks, []))
    launch = launch[: launch.index("-m")]
    return run(*launch, *words, timeout=timeout, environ=environ)
