"""Reads one input after another in a process with limited memory.

``python -m fuzz.worker FOLDER MEGABYTES`` takes a request a line on its input, JSON with the
``format`` and the ``content`` in base64, and answers each with one line, JSON of a `Verdict`. The
first answer comes unasked, once all seeds have been read and the limit is set. Output of the code
that is tested goes to the standard error.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import shutil
import sys
from pathlib import Path
from typing import IO

from fuzz.readers import READERS
from fuzz.seeds import Format, formats
from fuzz.verdict import Verdict, of_error
from fuzz.watch import Watch


class Reading:
    """Reads inputs in ``folder / "case"``, and sees that nothing else is touched."""

    def __init__(self, folder: Path) -> None:
        self._case = folder / "case"
        self._watch = Watch(folder)
        self._outside = folder

    def verdict(self, form: Format, content: bytes) -> Verdict:
        """How reading this content ends."""
        path = self._lay_out(form, content)
        before = self._listing()
        try:
            with self._watch.open() as strange:
                ended = _read(form, path)
        finally:
            os.chdir(self._outside)
        if strange:
            return Verdict(
                "fault", f"touches what is not its own: {strange[0]}", "\n".join(strange)
            )
        if self._listing() != before:
            return Verdict("fault", "leaves or removes files beside its folder", ended.detail)
        left = {p.name for p in self._case.iterdir()} - {path.name, *form.beside, "copies"}
        if left or (ended.end != "fault" and path.read_bytes() != content):
            return Verdict("fault", "leaves files, or changes its input", f"{sorted(left)}")
        return ended

    def _lay_out(self, form: Format, content: bytes) -> Path:
        shutil.rmtree(self._case, ignore_errors=True)
        self._case.mkdir()
        for name, other in form.beside.items():
            (self._case / name).write_bytes(other)
        path = self._case / form.file
        path.write_bytes(content)
        os.chdir(self._case)
        return path

    def _listing(self) -> set[str]:
        others = (p for p in self._outside.rglob("*") if not p.is_relative_to(self._case))
        return {str(path) for path in others}


def _read(form: Format, path: Path) -> Verdict:
    try:
        READERS[form.reader](path)
    except Exception as error:  # noqa: BLE001 - whatever it is, the verdict says so
        return of_error(error, path.parent)
    return Verdict("read")


def limit_memory(megabytes: int) -> None:
    """Let this process have so much more than it has now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])
    most = pages * resource.getpagesize() + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def serve(folder: Path, megabytes: int, requests: IO[str], answers: IO[str]) -> None:
    """Answer requests until there are no more."""
    reading = Reading(folder)
    for form in formats().values():
        for seed in form.seeds:
            reading.verdict(form, seed)
    limit_memory(megabytes)
    print("ready", file=answers, flush=True)
    for line in requests:
        request = json.loads(line)
        form = formats()[request["format"]]
        ended = reading.verdict(form, base64.b64decode(request["content"]))
        print(json.dumps(ended), file=answers, flush=True)


def main() -> None:
    """Keep the standard output for answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    serve(Path(sys.argv[1]), int(sys.argv[2]), sys.stdin, answers)


if __name__ == "__main__":
    main()
