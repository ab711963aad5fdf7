"""Where a signal's error is raised, and where it is put off."""

from __future__ import annotations

import subprocess
import sys

import pytest

DROPPED = """
import ctypes, os, signal, sys, time
from groute_py.cli import main

@main.commands.command()
def busy():
    for _ in range(2):  # the second one while the first is raised again
        ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.{name}))()
    time.sleep(60)

sys.argv = ["groute-py", "busy"]
main.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 130), ("SIGUSR1", 1)])
def test_a_signal_within_a_callback_is_heard(name: str, code: int) -> None:
    """Native code that calls Python, as Numba's compiler does, drops what is raised there."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED.format(name=name)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1
    assert name in done.stderr


AT_AN_EDGE = """
import os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from groute_py.cli import main

{patch}

@main.commands.command()
def busy():
    with ThreadPoolExecutor(2) as pool:
        for _ in range(600):
            list(pool.map(time.sleep, [0.01] * 10))

sys.argv = ["groute-py", "busy"]
main.main()
"""

EDGES = {
    "a lock is taken": """
def __enter__(self):
    held = self._lock.__enter__()
    if sys._getframe(1).f_code.co_name == "result":
        os.kill(os.getpid(), signal.SIGTERM)
    return held
threading.Condition.__enter__ = __enter__
""",
    "a lock is freed": """
def __exit__(self, *error):
    if sys._getframe(1).f_code.co_name == "acquire" and threading.active_count() > 2:
        os.kill(os.getpid(), signal.SIGTERM)
    return self._lock.__exit__(*error)
threading.Condition.__exit__ = __exit__
""",
    "a lock is waited for": """
def acquire():
    os.kill(os.getpid(), signal.SIGTERM)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
ThreadPoolExecutor.__enter__ = lambda self: acquire()
""",
}


@pytest.mark.parametrize("edge", EDGES)
def test_a_signal_while_a_lock_changes_hands(edge: str) -> None:
    """What a handler raises there would leave it locked, and a pool waiting for its threads."""
    code = AT_AN_EDGE.format(patch=EDGES[edge])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr == "groute-py: interrupted by SIGTERM; nothing was written\n"
