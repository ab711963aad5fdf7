"""``groute-py query`` in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def running(graph: Path) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, with the graph loaded."""
    words = [sys.executable, "-m", "groute_py", "query", str(graph), "--device", "cpu"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        assert "is ready" in process.stderr.readline()
        yield process
        process.kill()


def answer_of(process: subprocess.Popen[str], question: dict[str, Any]) -> Any:
    """The answer to a question, before the input ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{json.dumps(question)}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())
