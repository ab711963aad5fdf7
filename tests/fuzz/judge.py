"""A worker process and the clock: the verdict on an input, whatever the input does."""

from __future__ import annotations

import base64
import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from fuzz.verdict import Verdict

START_S = 300.0
"""A worker may take so long to compile and to read all seeds."""


MEMORY_FILES = Path("/dev/shm")
"""Where files cost no writes to a disk, on Linux."""


class Judge:
    """Gives inputs to a worker, and starts another where an input ends it.

    Args:
        megabytes: of memory for reading one input.
        limit_s: for reading one input.
        preload: a module whose function ``plant`` the worker calls first; tests plant faults by it.
    """

    def __init__(self, megabytes: int, limit_s: float, preload: str = "") -> None:
        self._megabytes, self._limit_s, self._preload = megabytes, limit_s, preload
        self._process: subprocess.Popen[str] | None = None
        place = MEMORY_FILES if MEMORY_FILES.is_dir() else None
        self._folder = TemporaryDirectory(prefix="groute-fuzz-", dir=place)

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self, _kind: object, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._end()
        self._folder.cleanup()

    def verdict(self, format_name: str, content: bytes) -> Verdict:
        """How reading this content as this format ends."""
        worker = self._process or self._start()
        packed = base64.b64encode(content).decode("ascii")
        print(json.dumps({"format": format_name, "content": packed}), file=worker.stdin, flush=True)
        answer = self._line(worker, self._limit_s)
        if answer is None:
            self._end()
            return Verdict("fault", f"reading takes more than {self._limit_s:g} s")
        if answer:
            return Verdict(*json.loads(answer))
        code = worker.wait()
        said = (Path(self._folder.name) / "stderr").read_text("utf-8", "replace")[-2000:]
        self._end()
        return Verdict("fault", f"the process ended with code {code}", said)

    def _start(self) -> subprocess.Popen[str]:
        folder = Path(self._folder.name)
        (folder / "own").mkdir(exist_ok=True)
        home = {"HOME": str(folder / "home"), "GROUTE_PY_CACHE": str(folder / "cache")}
        plant = f"import {self._preload}; {self._preload}.plant(); " if self._preload else ""
        main = f"{plant}from fuzz.worker import main; main()"
        limits = str(folder / "own"), str(self._megabytes)
        with open(folder / "stderr", "w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-c", main, *limits],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path)), **home},
            )
        ready = self._line(self._process, START_S)
        said = (folder / "stderr").read_text("utf-8", "replace")[-2000:]
        assert ready == "ready\n", f"the worker does not start: {said}"
        return self._process

    @staticmethod
    def _line(worker: subprocess.Popen[str], limit_s: float) -> str | None:
        """A line of the worker; nothing at its end, None where none comes in time."""
        assert worker.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(worker.stdout, selectors.EVENT_READ)
            return worker.stdout.readline() if selector.select(limit_s) else None

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
