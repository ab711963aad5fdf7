"""The blocks of code in the documents, and how they are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from support.command import run_command
from support.places import ROOT

Step = tuple[str, list[str]]
"""A command, and the lines that a document shows under it."""

VARIES = re.compile(r"  (time|ranks|mode|method|relaxations|bytes sent) ")
"""Lines of an answer that depend on the machine and the moment."""

RANKS = re.compile(r"^(?:\w+=\S+ )?(mpirun|python -m groute_py\.launch) -n (\d+) (-- |groute-py )")
"""How a document starts several ranks."""

OF_RANKS = ("  order ", "  cut ")
"""Lines of an answer that only several ranks have."""

SHELL = re.compile(r"[;|<>&$*]")


def pages() -> list[str]:
    """All pages, by their paths in the repository."""
    return ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]


PAGES = [
    name for name in pages() if re.match(r"docs/(index|tutorials/|how-to/|explanation/)", name)
]
"""Those whose blocks are run in their order, consoles and Python in one folder."""


def code(document: str, *languages: str) -> list[tuple[str, str]]:
    """(language, text) of the blocks in these languages, in their order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    pattern = rf"^```({'|'.join(languages)})\n(.*?)^```$"
    return re.findall(pattern, text, re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> list[str]:
    return [text for _, text in code(document, language)]


def steps(console: str) -> list[Step]:
    result: list[Step] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            result.append((line[2:], []))
        else:
            result[-1][1].append(line)
    return result


def answers(script: str) -> list[str]:
    """What a Python block says that it prints, where that is a number or a list."""
    return re.findall(r"^print\(.*\)\s+# ([\[\d].*)$", script, re.MULTILINE)


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


def on_one_rank(step: Step) -> Step:
    """The step without a launcher, and without what only several ranks show."""
    line, shown = step
    if not RANKS.match(line):
        return step
    return RANKS.sub("groute-py ", line), [s for s in shown if not s.startswith(OF_RANKS)]


def follow(folder: Path, command: str, shown: list[str]) -> None:
    """Run a command of a document by a shell, and look for the lines that it shows."""
    done = run("bash", "-c", command, cwd=folder)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    _compare(command, shown, done.stdout + done.stderr)


def follow_here(folder: Path, command: str, shown: list[str]) -> None:
    """The same in this process, unless the command takes a shell."""
    if SHELL.search(command) or not command.startswith("groute-py "):
        follow(folder, command, shown)
        return
    done = run_command(*shlex.split(command)[1:])
    assert done.exit_code == 0, f"{command}\n{done.output}"
    _compare(command, shown, done.output)


def make_desk(folder: Path) -> Path:
    """Put `groute-py` and `python` into the folder's bin/."""
    (folder / "bin").mkdir()
    for name, more in (("groute-py", " -m groute_py"), ("python", "")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{more} "$@"\n')
        script.chmod(0o755)
    return folder


def _compare(command: str, shown: list[str], output: str) -> None:
    said = output.splitlines()
    missing = [line for line in shown if line not in said and not VARIES.match(line)]
    assert not missing, f"{command}\nmissing: {missing}\n{output}"
