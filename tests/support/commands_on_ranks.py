"""Many command lines on the ranks of one mpirun, which starts only once: a script, and its start.

`run_on_ranks` starts this file under mpirun. Its processes run one command line after another, as
``groute-py`` would; they import and start MPI once. What a launcher does with exit codes and
streams is tested elsewhere.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

CASE_S = 30
"""The longest that a command line may take."""


class Ended(NamedTuple):
    """How a command line ended.

    Attributes:
        code: the exit code, the same of all ranks.
        out, err: what the ranks have printed, one after another.
        seconds: how long it took.
    """

    code: int
    out: str
    err: str
    seconds: float


def run_on_ranks(lines: list[list[str]], ranks: int, folder: Path) -> list[Ended]:
    """Run command lines one after another; both files of this lie in a folder."""
    from support.places import ROOT, TESTS
    from support.processes import run_under_mpirun

    (folder / "lines.json").write_text(json.dumps(lines))
    environ = {"PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}"}
    limit_s = 60 + CASE_S * len(lines) / 10
    done = run_under_mpirun(ranks, __file__, folder, timeout=limit_s, environ=environ)
    texts = (folder / "ended.jsonl").read_text().splitlines()
    ended = [Ended(*json.loads(text)) for text in texts]
    assert done.returncode == 0, f"after {lines[len(ended) - 1 :][:2]}: {done.stderr[-3000:]}"
    return ended


def _main(folder: Path) -> None:
    from mpi4py import MPI

    from groute_py.cli.main import main

    ranks = MPI.COMM_WORLD
    with open(folder / "ended.jsonl" if ranks.rank == 0 else os.devnull, "w") as report:
        for words in json.loads((folder / "lines.json").read_text()):
            ranks.Barrier()
            start = time.monotonic()
            code, *texts = _captured(main, words)
            codes, outs, errs = zip(*ranks.allgather((code, *texts)), strict=True)
            assert len(set(codes)) == 1, (words, codes, errs)
            ended = Ended(code, "".join(outs), "".join(errs), time.monotonic() - start)
            print(json.dumps(ended), file=report, flush=True)


def _captured(main: Callable[[], object], words: list[str]) -> tuple[int, str, str]:
    """The exit code of a command line, and what it wrote to its streams."""
    sys.argv = ["groute-py", *words]
    with _diverted(1) as out, _diverted(2) as err:
        streams = sys.stdout, sys.stderr
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        else:
            raise AssertionError(f"{words} did not end")
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            sys.stdout, sys.stderr = streams
    return code, out[0], err[0]


@contextmanager
def _diverted(number: int) -> Iterator[list[str]]:
    """Writes to a file descriptor go to a file; what they were is in the list at the end."""
    text: list[str] = []
    with tempfile.TemporaryFile() as file:
        kept = os.dup(number)
        os.dup2(file.fileno(), number)
        try:
            yield text
        finally:
            os.dup2(kept, number)
            os.close(kept)
            file.seek(0)
            text.append(file.read().decode())


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
